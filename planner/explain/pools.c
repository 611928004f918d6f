#include "planner/explain/pools.h"

#include "planner/columns.h"

enum { POOLS_LISTED = 3 }; /* with their reasons; then "and N more" */

struct span pool_not_ready(const struct node_pool *pool)
{
    for (uint32_t i = 0; i < pool->conditions.count; i++) {
        const struct condition *c = &pool->conditions.items[i];
        bool own = span_eq(c->type, SPAN("ValidationSucceeded")) ||
                   span_eq(c->type, SPAN("NodeClassReady"));
        if (own && c->status != CONDITION_TRUE && c->message.len != 0)
            return c->message;
    }
    const struct condition *ready = conditions_find(pool->conditions, SPAN("Ready"));
    if (ready != NULL && ready->status != CONDITION_TRUE)
        return ready->message;
    return (struct span){NULL, 0};
}

struct span pool_obstacle(struct arena *a, const struct node_pool *pool)
{
    if (pool->meta.deleted != 0)
        return SPAN("is being deleted");
    if (pool->has_replicas)
        return SPAN("is static: spec.replicas says how many nodes it has");
    struct span why = pool_not_ready(pool);
    if (why.len != 0)
        return arena_printf(a, "is not ready: %.*s", SPAN_ARG(why));
    return SPAN("is not ready: its conditions are not those of its present state");
}

struct why pools_closed(struct arena *a, const struct world *w)
{
    if (w->pool_count == 0)
        return (struct why){SPAN("has no NodePool to go to: there is none"), SPAN("add a NodePool")};
    struct buf b = {0};
    for (uint32_t i = 0; i < w->pool_count && i < POOLS_LISTED; i++)
        buf_addf(&b, "%s%.*s %.*s", i != 0 ? "; " : "", SPAN_ARG(w->pools[i]->meta.name),
                 SPAN_ARG(pool_obstacle(a, w->pools[i])));
    if (w->pool_count > POOLS_LISTED)
        buf_addf(&b, "; and %u more", w->pool_count - POOLS_LISTED);
    struct span text = arena_printf(a, "has no NodePool to go to: %.*s", SPAN_ARG(buf_span(&b)));
    buf_release(&b);
    return (struct why){text, SPAN("see to that, or add another NodePool")};
}
