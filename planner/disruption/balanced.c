#include "planner/disruption/balanced.h"

#include <math.h>

#include "planner/columns.h"

/* The least share of the cost for each share of the disruption: 1 / k with k = 2, the smallest whole number by which a
 * pool of equal nodes may replace one at half its price (8.9). */
static const double THRESHOLD = 0.5;

static bool is_balanced(const struct candidate *c)
{
    return c->pool->policy == CONSOLIDATE_BALANCED;
}

static int32_t pool_of(const struct world *w, const struct candidate *c)
{
    return w->nodes[c->row].pool;
}

/* As a candidate's reschedule_cost, of a node that is none: every pod counts that no DaemonSet owns. */
static double node_disruption(const struct world_node *n, bool deletion_cost_ignored)
{
    double sum = 1.0;
    for (uint32_t i = 0; i < n->pod_count; i++)
        if (!meta_owned_by(&n->pods[i]->meta, SYM_API_APPS_V1, SYM_KIND_DAEMON_SET))
            sum += fmax(0, pod_eviction_cost(n->pods[i], deletion_cost_ignored));
    return sum;
}

struct balance balance_make(struct arena *a, const struct world *w, struct candidates all, bool deletion_cost_ignored)
{
    struct balance b = {.w = w};
    uint32_t at = 0;
    bool any = false;
    for (uint32_t i = 0; i < all.count; i++)
        any |= is_balanced(&all.items[i]);
    if (!any)
        return b;
    b.pools = ARENA_ARRAY(a, struct balance_total, w->pool_count);
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        bool is_candidate = at < all.count && all.items[at].row == row;
        const struct candidate *c = &all.items[at];
        at += is_candidate;
        if (n->pool < 0)
            continue;
        if (n->claim != NULL && !isnan(n->price))
            b.pools[n->pool].cost += n->price;
        b.pools[n->pool].disruption += is_candidate ? c->reschedule_cost : node_disruption(n, deletion_cost_ignored);
    }
    return b;
}

double balance_score(double savings, double disruption, struct balance_total total)
{
    if (total.cost <= 0 || total.disruption <= 0 || savings <= 0)
        return 0;
    return disruption > 0 ? (savings / total.cost) / (disruption / total.disruption) : INFINITY;
}

bool balance_approves(const struct balance *b, const struct candidate *c, uint32_t count, double savings)
{
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += c[i].price;
    for (uint32_t i = 0; i < count; i++) {
        double cost = 0, disruption = 0;
        bool is_first = true;
        for (uint32_t k = 0; is_balanced(&c[i]) && k < count; k++) {
            if (c[k].pool != c[i].pool)
                continue;
            is_first = is_first && k >= i;
            cost += c[k].price;
            disruption += c[k].reschedule_cost;
        }
        if (!is_balanced(&c[i]) || !is_first)
            continue;
        double share = total > 0 ? cost / total : 1;
        if (balance_score(savings * share, disruption, b->pools[pool_of(b->w, &c[i])]) < THRESHOLD)
            return false;
    }
    return true;
}

bool balance_can_approve(const struct balance *b, const struct candidate *c)
{
    if (!is_balanced(c))
        return true;
    struct balance_total total = b->pools[pool_of(b->w, c)];
    return total.cost <= 0 || balance_score(c->price, c->reschedule_cost, total) >= THRESHOLD;
}
