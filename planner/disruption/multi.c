/* Several nodes at once (spec disruption 8.4): the longest prefix of those worth most that can go, by halving. */
#include "planner/disruption/balanced.h"
#include "planner/disruption/consolidate.h"
#include "planner/disruption/sweep.h"

/* Upstream looks at no more than 100 and so, counting from nought, takes up to 101. */
enum { LAST_PREFIX = 100 };

/* What upstream's minute comes to, at two microseconds a step. */
static const uint64_t STEPS = 30000000;

/* Those for whom their pools' budgets have room, in their order. */
static struct candidates within_budgets(struct disrupting *d, struct candidates c)
{
    struct allowances allowed = allowances_of(d, METHOD_MULTI);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.count; i++)
        if (allowances_take(&allowed, candidate_pool(d, &c.items[i])))
            c.items[n++] = c.items[i];
        else
            constrained_add(d, METHOD_MULTI);
    c.count = n;
    return c;
}

struct prefix {
    uint32_t count; /* 0: none was found */
    struct consolidation how;
};

/* False: the pass ends. */
static bool search(struct disrupting *d, struct candidates c, const struct balance *b, struct arena *scratch,
                   struct prefix *best)
{
    uint64_t end = d->out->steps + (d->o->multi_steps != 0 ? d->o->multi_steps : STEPS);
    uint32_t low = 1, high = c.count <= LAST_PREFIX ? c.count - 1 : LAST_PREFIX;
    while (low <= high) {
        if (d->out->steps >= end) {
            d->out->complete = false;
            return true;
        }
        uint32_t mid = (low + high) / 2;
        struct consolidation x = consolidate(d, scratch, c.items, mid + 1, 0);
        if (!simulated_whole(d, &x.simulated))
            return x.simulated.outcome == SIMULATED_STOPPED;
        if (x.outcome != CONSOLIDATE_NOT && balance_approves(b, c.items, mid + 1, x.savings)) {
            *best = (struct prefix){mid + 1, x};
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return true;
}

bool multi_decide(struct disrupting *d)
{
    if (d->o->plan->search != SEARCH_GREEDY)
        return sweep_decide(d, METHOD_MULTI);
    struct candidates all = candidates_of(d, DISRUPT_GRACEFUL, METHOD_MULTI);
    struct balance b = balance_make(&d->out->arena, d->w, all, d->facts.deletion_cost_ignored);
    struct candidates c = consolidate_whom(d, all, METHOD_MULTI);
    struct prefix best = {0};
    struct arena scratch;
    if (c.count != 0) /* nobody asks for budgets that nobody needs: they have notes */
        c = within_budgets(d, c);
    if (c.count < 2)
        return true;
    arena_init(&scratch, 0);
    bool goes_on = search(d, c, &b, &scratch, &best);
    arena_release(&scratch);
    if (goes_on && best.count != 0)
        consolidate_take(d, METHOD_MULTI, c.items, best.count, &best.how);
    return goes_on;
}
