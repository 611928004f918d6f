/* Price of the fleet (plan-contract 6). */
#include "planner/solution.h"

#include <math.h>

static void warn_unpriced(struct plan *p, const struct trial *t)
{
    enum { NAMED = 5 };
    const struct world *w = t->world;
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (!isnan(n->price) || trial_is_gone(t, row))
            continue;
        if (count++ < NAMED)
            buf_addf(&b, "%s%.*s", count > 1 ? ", " : "", SPAN_ARG(n->name));
    }
    if (count > NAMED)
        buf_addf(&b, " and %u more", count - NAMED);
    if (count != 0) {
        struct span *warning = ARENA_NEW(&p->arena, struct span);
        *warning = arena_printf(&p->arena,
                                "no offering has the instance type, zone and capacity type of %s "
                                "%.*s: not in the cost; add it to the instance types",
                                count == 1 ? "node" : "nodes", SPAN_ARG(buf_span(&b)));
        p->warnings = warning;
        p->warning_count = 1;
    }
    buf_release(&b);
}

void solution_cost(struct plan *p, struct trial *t, bool no_bound)
{
    const struct world *w = t->world;
    p->cost_before = 0;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!w->nodes[row].leaving && !isnan(w->nodes[row].price))
            p->cost_before += w->nodes[row].price;
    p->cost_after = 0;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!trial_is_gone(t, row) && !isnan(w->nodes[row].price))
            p->cost_after += w->nodes[row].price;
    for (uint32_t i = 0; i < p->claim_count; i++)
        p->cost_after += p->claims[i].price; /* NAN: then the whole is not known */
    p->lower_bound = no_bound || isnan(p->cost_after) ? NAN : solution_bound(t);
    warn_unpriced(p, t);
}
