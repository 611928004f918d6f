#include "planner/bound/bound.h"

#include <math.h>

#include "planner/bound/market.h"

double bound_lowest(struct arena *a, const struct bound_question *q)
{
    struct market k;
    double least;
    if (!market_build(&k, a, q, &least))
        return least;
    struct division d = game_divide(&k);
    double *rates = ARENA_ARRAY(a, double, (size_t)k.machines * k.columns);
    return greater(market_value(&k, &d, rates), least);
}

bool bound_values(struct arena *a, const struct bound_question *q, double *value_out)
{
    struct market k;
    double least;
    if (!market_build(&k, a, q, &least))
        return false;
    struct division d = game_divide(&k);
    double *rates = ARENA_ARRAY(a, double, (size_t)k.machines * k.columns);
    market_rates(&k, &d, rates);
    for (uint32_t i = 0; i < q->item_count; i++)
        value_out[i] = market_least(&k, rates, &q->items[i]);
    return true;
}
