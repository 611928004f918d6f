#include "planner/bound/bound.h"

#include <math.h>

#include "planner/bound/market.h"

/* The same, and knowing that items are whole. */
static double whole_lowest(const struct market *k, const double *rates, const struct bound_question *q)
{
    struct market w;
    double least;
    if (!whole_suits(k) || !market_build(&w, k->arena, q, true, &least) || !whole_suits(&w))
        return 0;
    double *worth = ARENA_ARRAY(k->arena, double, k->items);
    for (uint32_t i = 0; i < k->items; i++) {
        worth[i] = INFINITY;
        for (uint32_t m = 0; m < k->machines; m++)
            if (market_holds(k, m, i))
                worth[i] = lesser(worth[i], market_charge(k, rates, m, i));
        worth[i] = worth[i] < (double)INFINITY ? worth[i] : 0;
    }
    return whole_value(&w, worth);
}

double bound_lowest(struct arena *a, const struct bound_question *q)
{
    struct market k;
    double least;
    if (!market_build(&k, a, q, false, &least))
        return least;
    struct division d = game_divide(&k);
    double *rates = ARENA_ARRAY(a, double, (size_t)k.machines * k.columns);
    double value = greater(market_value(&k, &d, rates), least);
    return greater(value, whole_lowest(&k, rates, q));
}

bool bound_values(struct arena *a, const struct bound_question *q, double *value_out)
{
    struct market k;
    double least;
    if (!market_build(&k, a, q, false, &least))
        return false;
    struct division d = game_divide(&k);
    double *rates = ARENA_ARRAY(a, double, (size_t)k.machines * k.columns);
    market_rates(&k, &d, rates);
    for (uint32_t i = 0; i < q->item_count; i++)
        value_out[i] = market_least(&k, rates, &q->items[i]);
    return true;
}
