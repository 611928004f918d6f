#include "planner/disruption/allowance.h"

#include "kube/budget.h"
#include "planner/columns.h"

/* A machine that is going for good is no node of the pool any more, and one that has not come up none yet; but for
 * those that reboot, which have been one. */
static bool counts(const struct allowance_facts *f)
{
    return !f->terminating && (f->initialized || f->rebooting);
}

void allowance_count(struct allowance *x, const struct allowance_facts *f)
{
    if (!counts(f))
        return;
    bool going = f->leaving || f->rebooting || f->queued;
    x->nodes++;
    x->going += going;
    x->unready += !going && !f->ready;
}

void allowance_close(struct allowance *x, const struct node_pool *pool, enum disruption_reason reason, wall_ms now)
{
    x->busy = x->going + (reason != REASON_UNHEALTHY ? x->unready : 0);
    x->allowed = budgets_allowed(pool, (int32_t)x->nodes, disruption_reason_name(reason), now);
    x->left = x->allowed > (int32_t)x->busy ? x->allowed - (int32_t)x->busy : 0;
}

static struct allowance_facts facts_of(const struct world_node *n)
{
    return (struct allowance_facts){
        .initialized = n->node != NULL && node_is_initialized(n->node),
        .ready = n->node != NULL && node_is_ready(n->node),
        .rebooting = conditions_true(n->claim->conditions, SPAN("Rebooting")),
        .terminating = conditions_true(n->claim->conditions, SPAN("InstanceTerminating")),
        .leaving = n->leaving,
    };
}

struct allowances allowances_make(struct arena *a, const struct world *w, enum disruption_reason reason,
                                  const uint64_t *queued, wall_ms now)
{
    struct allowances x = {.items = ARENA_ARRAY(a, struct allowance, w->pool_count), .count = w->pool_count};
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->pool < 0 || n->claim == NULL)
            continue;
        struct allowance_facts f = facts_of(n);
        f.queued = queued != NULL && bits_has(queued, row);
        allowance_count(&x.items[n->pool], &f);
    }
    for (uint32_t i = 0; i < x.count; i++)
        allowance_close(&x.items[i], w->pools[i], reason, now);
    return x;
}

bool allowances_take(struct allowances *x, int32_t pool)
{
    if (x->items[pool].left == 0)
        return false;
    x->items[pool].left--;
    return true;
}
