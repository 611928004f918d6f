/* ranks: which pods of a ReplicaSet are to go first when it is scaled down (gate PodDeletionCostManagement, spec disruption
 * 13.9): those of nodes that leave, then those of nodes that would be disrupted next. Told by the annotation
 * controller.kubernetes.io/pod-deletion-cost, which the ReplicaSet's controller reads; what anybody else has written there
 * is overwritten, or taken away where there is no rank.
 *
 * A node that leaves gives its pods the least value there is. Those that may be disrupted, drifted ones first and each by
 * what they save, get -n to -1; all others none. Only as many of a pool are ranked as its budgets let go: of the others
 * it is not known when they would be next. Where a pool's mode (kube/disruption_mode.h) lets none go, none is. */
#ifndef PLANNER_DISRUPTION_RANKS_H
#define PLANNER_DISRUPTION_RANKS_H

#include "planner/disruption/candidate.h"

enum { RANKS_NODES_MAX = 50 }; /* on which annotations are changed at a time, beside those that leave */

struct rank_change { /* of a pod's annotation, which is not so yet */
    const struct pod *pod;
    bool ranked;   /* else it is taken away */
    int32_t value;
};

struct ranks {
    const struct rank_change *changes; /* nodes that leave, ranked ones from the least value up, the others */
    uint32_t count;
    const struct ranked_pool {
        const struct node_pool *pool;
        uint32_t nodes; /* on which something changes */
    } *pools;              /* all of the world */
    uint32_t pool_count;
};

/* In `a`. Costs go without the annotation, whatever f->deletion_cost_ignored says: ranks are not to feed on themselves. */
struct ranks ranks_find(struct arena *a, const struct world *w, const struct candidate_facts *f);

#endif
