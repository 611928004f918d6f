/* refusals: why nodes do not take a pod, counted and told in kube-scheduler's words. */
#ifndef SIM_REFUSALS_H
#define SIM_REFUSALS_H

#include "base/arena.h"
#include "base/span.h"

enum { REFUSALS_MAX = 24 }; /* kinds told of one pod; further ones are left out */

struct refusals {
    struct {
        struct span text;
        uint32_t count;
    } items[REFUSALS_MAX];
    uint32_t count;
};

void refusals_add(struct refusals *r, struct span text /* outlives it */);
/* "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint(s)." */
struct span refusals_message(struct arena *a, const struct refusals *r, uint32_t nodes);

#endif
