/* Consolidatable: nothing has happened on the node for the pool's consolidateAfter (spec disruption
 * 13.4). */
#include "reconciler/lifecycle/lifecycle.h"

wall_ms lifecycle_consolidatable_at(const struct node_claim *c, const struct node_pool *pool)
{
    const struct condition *initialized = conditions_find(c->conditions, SPAN("Initialized"));
    if (pool == NULL || pool->has_replicas || !pool->has_consolidate_after || initialized == NULL ||
        initialized->status != CONDITION_TRUE)
        return 0;
    wall_ms from = c->last_pod_event != 0 ? c->last_pod_event : initialized->transition;
    return from + pool->consolidate_after;
}

void lifecycle_consolidatable(const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    static const struct span consolidatable = SPAN_INIT("Consolidatable");
    wall_ms at = lifecycle_consolidatable_at(f->claim, f->pool);
    if (at == 0 || f->now < at || f->pod_event != 0) {
        condition_set_clear(&s->conditions, consolidatable);
        if (at > f->now && (s->due == 0 || at < s->due))
            s->due = at;
    } else {
        condition_set_true(&s->conditions, consolidatable);
    }
}
