#include "planner/groups/down/evictions.h"

void evictions_init(struct evictions *e, struct arena *a, const struct disruption_budget *const *items, uint32_t count)
{
    *e = (struct evictions){.budgets = pod_budgets_make(a, items, count),
                            .left = ARENA_ARRAY(a, int64_t, count),
                            .found = ARENA_ARRAY(a, uint32_t, count),
                            .wanted = ARENA_ARRAY(a, uint32_t, count)};
    for (uint32_t i = 0; i < count; i++)
        e->left[i] = items[i]->disruptions_allowed;
}

bool evictions_covers(const struct evictions *e, const struct pod *p)
{
    return pod_budgets_all(&e->budgets, p, e->found) != 0;
}

/* Positions of the budgets without whose leave the pod cannot go, in e->found. */
static uint32_t find_budgets(const struct evictions *e, const struct pod *p)
{
    uint32_t count = pod_budgets_all(&e->budgets, p, e->found), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool lets_go = e->lets_unhealthy_go && !p->ready && e->budgets.items[e->found[i]]->evict_unhealthy;
        e->found[kept] = e->found[i];
        kept += !lets_go;
    }
    return kept;
}

bool evictions_allow(const struct evictions *e, const struct pod *p)
{
    uint32_t count = find_budgets(e, p);
    for (uint32_t i = 0; i < count; i++)
        if (e->left[e->found[i]] < 1)
            return false;
    return true;
}

bool evictions_allow_all(const struct evictions *e, const struct pod *const *pods, uint32_t count)
{
    bool enough = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = find_budgets(e, pods[i]);
        for (uint32_t k = 0; k < found; k++)
            enough &= ++e->wanted[e->found[k]] <= e->left[e->found[k]];
    }
    if (e->budgets.count != 0)
        memset(e->wanted, 0, e->budgets.count * sizeof(*e->wanted));
    return enough;
}

void evictions_take(struct evictions *e, const struct pod *const *pods, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = find_budgets(e, pods[i]);
        for (uint32_t k = 0; k < found; k++)
            e->left[e->found[k]]--;
    }
}
