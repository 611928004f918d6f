/* allowance_told: how many nodes of a NodePool may be disrupted at a time, what decides that, when it changes next, and
 * whether it is done (kube/disruption_mode.h). */
#ifndef PLANNER_DISRUPTION_ALLOWANCE_TOLD_H
#define PLANNER_DISRUPTION_ALLOWANCE_TOLD_H

#include "planner/disruption/allowance.h"

struct allowance_told {
    struct span reasons; /* "Empty, Drifted", or "any reason": of which this is said */
    struct span text;    /* "2 of 20 nodes, by …; from 2026-11-24T01:00:00Z on 0, …" */
};
/* Reasons of which the same is to be said are one; none of a pool that is not in the world. The nodes are the world's. */
uint32_t allowance_tell(struct arena *a, const struct world *w, const struct node_pool *pool, wall_ms at,
                        struct allowance_told out[REASON_COUNT]);

#endif
