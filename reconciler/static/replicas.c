#include "reconciler/static/replicas.h"

#include <stdlib.h>

#include "planner/disruption/candidate.h"

/* ---- how many ---- */

bool tally_is_enough(const struct tally *t, const struct node_pool *pool)
{
    return t->active + t->sent + t->replaced >= pool->replicas;
}

int64_t pool_nodes_limit(const struct node_pool *pool)
{
    for (uint32_t i = 0; i < pool->limits.count; i++)
        if (pool->limits.items[i].name == SYM_NODES)
            return pool->limits.items[i].value;
    return INT64_MAX;
}

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

int64_t tally_grant(const struct tally *t, const struct node_pool *pool, int64_t at_once)
{
    int64_t all = t->active + t->sent + t->replaced + t->leaving;
    int64_t n = least(pool->replicas - t->active - t->sent, pool_nodes_limit(pool) - all);
    n = least(n, at_once - t->sent);
    return tally_is_enough(t, pool) || n < 0 ? 0 : n;
}

/* ---- who leaves ---- */

const char *leaver_rank_text(enum leaver_rank r)
{
    static const char *const texts[] = {
        [LEAVER_NO_MACHINE] = "no machine yet",
        [LEAVER_NO_NODE] = "no Node yet",
        [LEAVER_EMPTY] = "empty",
        [LEAVER_BUSY] = "none empty, its pods are the cheapest to move",
        [LEAVER_DO_NOT_DISRUPT] = "all that are left have pods with do-not-disrupt",
    };
    return texts[r];
}

static enum leaver_rank rank_of(const struct leaver *l, wall_ms now)
{
    bool empty = true, kept = false;
    if (l->claim->provider_id.len == 0)
        return LEAVER_NO_MACHINE;
    if (!l->has_node)
        return LEAVER_NO_NODE;
    for (uint32_t i = 0; i < l->pod_count; i++) {
        empty = empty && pod_is_daemon(l->pods[i]);
        kept = kept || pod_do_not_disrupt(l->pods[i], now);
    }
    if (kept)
        return LEAVER_DO_NOT_DISRUPT;
    return empty ? LEAVER_EMPTY : LEAVER_BUSY;
}

static int by_rank(const void *x, const void *y)
{
    const struct leaver *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return span_cmp(a->claim->meta.name, b->claim->meta.name);
}

void replicas_order(struct leaver *list, uint32_t count, wall_ms now)
{
    for (uint32_t i = 0; i < count; i++) {
        double cost = 0;
        list[i].rank = rank_of(&list[i], now);
        for (uint32_t k = 0; k < list[i].pod_count; k++)
            cost += pod_eviction_cost(list[i].pods[k], false);
        list[i].cost = list[i].rank < LEAVER_BUSY ? 0 : cost * claim_life_left(list[i].claim, now);
    }
    qsort(list, count, sizeof(*list), by_rank);
}
