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

bool evictions_allow(const struct evictions *e, const struct pod *p)
{
    uint32_t count = pod_budgets_all(&e->budgets, p, e->found);
    for (uint32_t i = 0; i < count; i++)
        if (e->left[e->found[i]] < 1)
            return false;
    return true;
}

bool evictions_allow_all(const struct evictions *e, const struct pod *const *pods, uint32_t count)
{
    bool enough = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = pod_budgets_all(&e->budgets, pods[i], e->found);
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
        uint32_t found = pod_budgets_all(&e->budgets, pods[i], e->found);
        for (uint32_t k = 0; k < found; k++)
            e->left[e->found[k]]--;
    }
}
