#include "planner/disruption/price.h"

#include <math.h>

#include "planner/disruption/candidate.h"

static struct launch_fact fact_of(const struct disruption_options *o, struct span pool)
{
    for (uint32_t i = 0; i < o->launch_count; i++)
        if (span_eq(o->launches[i].pool, pool))
            return o->launches[i];
    return (struct launch_fact){.warm_up = DISRUPTION_OVERLAP_MS};
}

void move_price_add(struct move_price *p, const struct disruption_options *o, const struct plan_claim *claim)
{
    struct launch_fact f = fact_of(o, claim->pool->meta.name);
    p->warm_up += isnan(claim->price) ? 0 : claim->price * (double)f.warm_up / (60.0 * MS_MINUTE);
    p->image_pulls += claim->pod_count * IMAGE_PULL_COST;
    p->launch_fails = 1 - (1 - p->launch_fails) * (1 - f.fails);
}

double move_price_evictions(const struct candidate *c, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (c[i].reschedule_cost - 1) * EVICTION_COST;
    return sum;
}

double move_price_hourly(const struct move_price *p)
{
    return p->evictions + p->image_pulls + p->warm_up / WARM_UP_HOURS;
}

double move_price_once(const struct move_price *p)
{
    return p->evictions + p->warm_up + p->image_pulls;
}

double move_price_hope(const struct move_price *p, double savings)
{
    return savings * (1 - p->launch_fails);
}
