/* How long conditions of NodeClaims and NodePools were what they were, by what the watch tells, as Karpenter v1.15.0's
 * condition engine measures it: whoever wrote them, once for each change that was seen. */
#include "reconciler/stages.h"

static void count_transition(struct reconciler *r, enum measure_id id, struct span kind, const struct condition *was,
                             const struct condition *is)
{
    double seconds = (double)(is->transition - was->transition) / MS_SECOND;
    struct span left = span_of(condition_status_name(was->status)), entered = span_of(condition_status_name(is->status));
    count(r, id, seconds, is->type, left, entered);
    count_all(r, &(struct measure){.id = MEASURE_TRANSITIONS, .value = seconds,
                                   .labels = {SPAN("karpenter.sh"), kind, is->type, left, entered}});
}

static void compare(struct reconciler *r, enum measure_id id, struct span kind, struct conditions before,
                    struct conditions now)
{
    for (uint32_t i = 0; i < now.count; i++) {
        const struct condition *is = &now.items[i], *was = conditions_find(before, is->type);
        if (was != NULL && was->status != is->status && is->transition >= was->transition)
            count_transition(r, id, kind, was, is);
    }
}

void transitions_run(struct pass *p)
{
    const struct snapshot *previous = p->r->previous;
    if (previous == NULL || previous == p->snapshot)
        return;
    struct snapshot_iter claims = snapshot_each(p->snapshot, KIND_NODE_CLAIM);
    struct snapshot_iter pools = snapshot_each(p->snapshot, KIND_NODE_POOL);
    for (const struct node_claim *now; (now = snapshot_next_changed(&claims, previous)) != NULL;) {
        const struct node_claim *before = snapshot_find(previous, KIND_NODE_CLAIM, now->meta.ns, now->meta.name);
        if (before != NULL && span_eq(before->meta.uid, now->meta.uid))
            compare(p->r, MEASURE_CLAIM_TRANSITIONS, SPAN("NodeClaim"), before->conditions, now->conditions);
    }
    for (const struct node_pool *now; (now = snapshot_next_changed(&pools, previous)) != NULL;) {
        const struct node_pool *before = snapshot_find(previous, KIND_NODE_POOL, now->meta.ns, now->meta.name);
        if (before != NULL && span_eq(before->meta.uid, now->meta.uid))
            compare(p->r, MEASURE_POOL_TRANSITIONS, SPAN("NodePool"), before->conditions, now->conditions);
    }
}
