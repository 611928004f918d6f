#include "planner/plan/admission.h"

bool admission_takes(const struct plan_options *o, const struct waiting_pod *x, bool forced)
{
    return !x->bound || forced || !(x->blocked || pod_do_not_disrupt(x->pod, o->now));
}

static struct why put_off(const struct plan_options *o, const struct waiting_pod *x)
{
    return !x->bound && o->put_off != NULL ? o->put_off(o->user, x->pod) : (struct why){0};
}

bool admission_fails(const struct world *w, const struct plan_options *o, const struct waiting_pod *x,
                     struct plan_unschedulable *out)
{
    const struct pod_class *k = &w->classes.items[x->class_id];
    struct why later = put_off(o, x);
    if (later.sentence.len != 0)
        *out = (struct plan_unschedulable){.failure = FAILED_PUT_OFF, .why = later};
    else if (!x->bound && k->invalid.ptr != NULL)
        *out = (struct plan_unschedulable){.failure = FAILED_INVALID, .reason = UNSCHEDULABLE_IGNORED,
                                           .wanted = class_shuns_pools(k)};
    else if (w->option_count == 0)
        *out = (struct plan_unschedulable){.failure = FAILED_NO_POOLS, .reason = UNSCHEDULABLE_NO_POOLS};
    else if (k->error.ptr != NULL)
        *out = (struct plan_unschedulable){.failure = FAILED_ERROR};
    else if (k->devices)
        *out = (struct plan_unschedulable){.failure = FAILED_DEVICES, .reason = UNSCHEDULABLE_DRA};
    else
        return false;
    return true;
}

/* Pools that nothing can be bought from say nothing of their nodes here (7.1): NULL. */
static const struct node_pool **asked_pools(struct arena *a, const struct world *w)
{
    const struct node_pool **asked = ARENA_ARRAY(a, const struct node_pool *, w->pool_count);
    for (uint32_t i = 0; i < w->option_count; i++)
        for (uint32_t k = 0; k < w->pool_count; k++)
            if (w->pools[k] == w->options[i].pool)
                asked[k] = w->pools[k];
    return asked;
}

static bool is_settling(const struct world_node *n, const struct node_pool *pool, wall_ms now)
{
    if (pool == NULL || n->claim == NULL || !pool->has_consolidate_after)
        return false;
    const struct condition *c = conditions_find(n->claim->conditions, SPAN("Initialized"));
    if (c == NULL || c->status != CONDITION_TRUE)
        return false;
    wall_ms since = n->claim->last_pod_event != 0 ? n->claim->last_pod_event : c->transition;
    return now - since < pool->consolidate_after;
}

const uint64_t *admission_closed(struct arena *a, const struct world *w, wall_ms now)
{
    const struct node_pool **pools = asked_pools(a, w);
    uint64_t *closed = ARENA_ARRAY(a, uint64_t, bits_words(w->node_count));
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->pool >= 0 && is_settling(n, pools[n->pool], now))
            bits_add(closed, row);
    }
    return closed;
}
