/* health: how the last four launches of a NodePool went, and what its condition NodeRegistrationHealthy says of them (spec
 * disruption 12.6). For people to see; and of what is hoped for from the next ones (pool_launches). Pure. */
#ifndef RECONCILER_STATUS_HEALTH_H
#define RECONCILER_STATUS_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/meta.h"

enum { HEALTH_ENTRIES = 4, HEALTH_FAILURES = 2 /* of four: unhealthy */ };

struct health {
    bool failed[HEALTH_ENTRIES];
    uint8_t count, at;
    enum condition_status said; /* Unknown until an outcome says more */
};

/* After a restart, from what the condition says. */
struct health health_of(enum condition_status status);
void health_add(struct health *h, bool ok);
int health_failures(const struct health *h); /* of those that it knows of */
/* A success makes it True while fewer than two of those have failed, a failure False with two; others leave it as it is. */
enum condition_status health_status(const struct health *h);

#endif
