/* candidates: nodes that would take one pod, with their scores, and what an extender says of them, asked
 * with the bytes that kube-scheduler would send. An extender that fails is passed over: it is ignorable. */
#ifndef SIM_CANDIDATES_H
#define SIM_CANDIDATES_H

#include "planner/world.h"
#include "sim/sim.h"
#include "sim/standins/refusals.h"
#include "sim/tree.h"

enum { CANDIDATE_SCORE_MAX = 100 };

struct candidate {
    uint32_t row;
    int64_t score;
    bool out; /* refused by the extender */
};

struct candidates {
    struct arena *arena; /* for all that follows */
    const struct world *world;
    struct candidate *items; /* in the order of their rows */
    uint32_t count, capacity;
    struct span pod; /* its text, once an extender was asked */
};

void candidates_add(struct candidates *c, uint32_t row, int64_t score);
/* The highest score, ties by node name; NULL: none is left. */
const struct candidate *candidates_best(const struct candidates *c);

void candidates_filter(struct candidates *c, const struct sim_extender *e, const json_t *pod,
                       struct refusals *r);
void candidates_score(struct candidates *c, const struct sim_extender *e, const json_t *pod);

#endif
