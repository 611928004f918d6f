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

bool lifecycle_pod_event_is_new(const struct node_claim *c, wall_ms at)
{
    return at - c->last_pod_event >= POD_EVENT_MS || at < c->last_pod_event;
}

/* After a step forward it is due by the clock, and the budgets spread what comes of it. */
static wall_ms move_back(const struct lifecycle_facts *f, wall_ms at)
{
    wall_ms since = at - f->pool->consolidate_after;
    return f->jump != NULL && since > f->now ? at + clock_jump_shift(f->jump, since, f->now) : at;
}

void lifecycle_consolidatable(const struct lifecycle_facts *f, struct lifecycle_step *s)
{
    static const struct span consolidatable = SPAN_INIT("Consolidatable");
    wall_ms at = lifecycle_consolidatable_at(f->claim, f->pool);
    if (at != 0)
        at = move_back(f, at);
    if (at == 0 || f->now < at || f->pod_event != 0) {
        condition_set_clear(&s->conditions, consolidatable);
        if (at > f->now && (s->due == 0 || at < s->due))
            s->due = at;
    } else {
        condition_set_true(&s->conditions, consolidatable);
    }
}
