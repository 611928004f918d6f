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
