#include "planner/disruption/allowance.h"

#include "kube/budget.h"
#include "planner/columns.h"

static const struct {
    struct span name, label;
} reasons[REASON_COUNT] = {
    [REASON_EMPTY] = {SPAN_INIT("Empty"), SPAN_INIT("empty")},
    [REASON_UNDERUTILIZED] = {SPAN_INIT("Underutilized"), SPAN_INIT("underutilized")},
    [REASON_DRIFTED] = {SPAN_INIT("Drifted"), SPAN_INIT("drifted")},
    [REASON_UNHEALTHY] = {SPAN_INIT("Unhealthy"), SPAN_INIT("unhealthy")},
};

struct span disruption_reason_name(enum disruption_reason r)
{
    return reasons[r].name;
}

struct span disruption_reason_label(enum disruption_reason r)
{
    return reasons[r].label;
}

static bool is_rebooting(const struct world_node *n)
{
    return conditions_true(n->claim->conditions, SPAN("Rebooting"));
}

/* A machine that is going for good is no node of the pool any more, and one that has not come up none yet; but for
 * those that reboot, which have been one. */
static bool counts(const struct world_node *n)
{
    if (n->pool < 0 || n->claim == NULL ||
        conditions_true(n->claim->conditions, SPAN("InstanceTerminating")))
        return false;
    return (n->node != NULL && node_is_initialized(n->node)) || is_rebooting(n);
}

static bool is_busy(const struct world_node *n, enum disruption_reason reason)
{
    if (n->leaving || is_rebooting(n))
        return true;
    return reason != REASON_UNHEALTHY && !(n->node != NULL && node_is_ready(n->node));
}

struct allowances allowances_make(struct arena *a, const struct world *w, enum disruption_reason reason,
                                  const uint64_t *queued, wall_ms now)
{
    struct allowances x = {.items = ARENA_ARRAY(a, struct allowance, w->pool_count), .count = w->pool_count};
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (!counts(n))
            continue;
        x.items[n->pool].nodes++;
        x.items[n->pool].busy += (queued != NULL && bits_has(queued, row)) || is_busy(n, reason);
    }
    for (uint32_t i = 0; i < x.count; i++) {
        struct allowance *p = &x.items[i];
        p->allowed = budgets_allowed(w->pools[i], (int32_t)p->nodes, reasons[reason].name, now);
        p->left = p->allowed > (int32_t)p->busy ? p->allowed - (int32_t)p->busy : 0;
    }
    return x;
}

bool allowances_take(struct allowances *x, int32_t pool)
{
    if (x->items[pool].left == 0)
        return false;
    x->items[pool].left--;
    return true;
}
