/* Nodes of static pools that have drifted: as many of each pool as its budget and its room for one more allow, a
 * command each (spec disruption 8.2). */
#include "planner/columns.h"
#include "planner/disruption/methods.h"

static struct candidates drifted_of(struct disrupting *d, struct candidates all, int32_t pool)
{
    struct candidates out = {ARENA_ARRAY(&d->out->arena, struct candidate, all.count), 0};
    for (uint32_t i = 0; i < all.count; i++)
        if (candidate_pool(d, &all.items[i]) == pool)
            out.items[out.count++] = all.items[i];
    return out;
}

static struct candidates drifted(struct disrupting *d)
{
    struct candidates list = candidates_of(d, DISRUPT_EVENTUAL, METHOD_STATIC_DRIFT), out = {list.items, 0};
    for (uint32_t i = 0; i < list.count; i++) {
        const struct candidate *c = &list.items[i];
        if (c->pool->has_replicas &&
            conditions_true(world_node_at(d->w, c->row)->claim->conditions, SPAN("Drifted")))
            out.items[out.count++] = *c;
    }
    return out;
}

bool static_drift_decide(struct disrupting *d)
{
    const struct moving_how how = {.method = METHOD_STATIC_DRIFT, .terminate_first = d->o->terminate_first_drift};
    struct candidates all = drifted(d);
    if (all.count == 0)
        return true;
    struct allowances left = wave_allowances_of(d, METHOD_STATIC_DRIFT);
    for (uint32_t i = 0; i < left.count; i++) {
        struct candidates list = drifted_of(d, all, (int32_t)i);
        if (list.count == 0)
            continue;
        if (left.items[i].left < (int64_t)list.count)
            constrained_add(d, METHOD_STATIC_DRIFT);
        if (left.items[i].left == 0)
            continue;
        struct static_pool p = static_pool_of(d, (int32_t)i, how.terminate_first);
        if (p.active + p.pending <= p.pool->replicas) /* else first it shrinks */
            static_stage(d, &how, &p, list.items, list.count, (uint32_t)left.items[i].left);
    }
    return true;
}
