/* successors: pods that wait for the room of others that are about to end. Who restarts a pod has its successor at once, and
 * its room some seconds later: a machine for nobody else would come when they stand already, be empty, or draw a
 * consolidation after it. With --search greedy there are none, as in Karpenter.
 *
 * A pod is about to end that is being deleted, on a node that stays, with no more than a minute of its grace left: a machine
 * takes about as long. A pod of its class fits where it was. Who is there after his grace frees nothing for certain, and is
 * not waited for. */
#ifndef RECONCILER_PROVISION_SUCCESSORS_H
#define RECONCILER_PROVISION_SUCCESSORS_H

#include "planner/plan/plan.h"
#include "reconciler/state.h"

struct ending { /* equal pods that are about to end, and are nobody's yet */
    uint32_t class_id, count;
};

struct successors { /* of one plan */
    struct ending *items; /* by class */
    uint32_t count;
};

/* In the pass's arena. */
struct successors successors_of(const struct pass *p);
/* Whether all of the claim's pods are; then nobody else waits for that room. */
bool successors_take(struct successors *s, const struct world *w, const struct plan_claim *c);

#endif
