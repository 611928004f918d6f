/* Price of the fleet (plan-contract 6), and what a person should know about it. */
#include "planner/plan/solution.h"

#include "kube/pool_warnings.h"

#include <math.h>

static void warn(struct plan *p, struct span text)
{
    ARENA_PUSH(&p->arena, p->warnings, p->warning_count, p->warning_capacity, text);
}

static void warn_overlays(struct plan *p, const struct world *w)
{
    for (uint32_t i = 0; i < w->overlaid.fault_count; i++)
        warn(p, arena_printf(&p->arena, "NodeOverlay %.*s has no effect: %.*s",
                                      SPAN_ARG(w->overlaid.faults[i].overlay->meta.name),
                                      SPAN_ARG(w->overlaid.faults[i].why)));
}

static void warn_buffers(struct plan *p, const struct world *w)
{
    for (uint32_t i = 0; i < w->buffers.answer_count; i++) {
        const struct buffer_answer *x = &w->buffers.answers[i];
        if (x->state != BUFFER_RESOLVED)
            warn(p, arena_printf(&p->arena, "CapacityBuffer %.*s/%.*s has no pods: %.*s",
                                 SPAN_ARG(x->buffer->meta.ns), SPAN_ARG(x->buffer->meta.name),
                                 SPAN_ARG(x->why)));
    }
}

static void warn_pools(struct plan *p, const struct world *w)
{
    struct symtab *syms = symtab_new_local(w->syms, &p->arena);
    for (uint32_t i = 0; i < w->pool_count; i++) {
        struct findings all = {0};
        pool_warnings(&p->arena, w->pools[i], syms, &all);
        for (uint32_t k = 0; k < all.count; k++)
            warn(p, arena_printf(&p->arena, "NodePool %.*s: %.*s: %.*s", SPAN_ARG(w->pools[i]->meta.name),
                                 SPAN_ARG(all.items[k].path), SPAN_ARG(all.items[k].text)));
    }
}

static void warn_splits(struct plan *p, const struct world *w)
{
    const struct span *warnings;
    uint32_t count = world_split_warnings(w, &warnings);
    for (uint32_t i = 0; i < count; i++)
        warn(p, warnings[i]);
}

/* Whether its labels say which offering it is. */
static bool names_offering(const struct world_node *n)
{
    static const sym keys[] = {SYM_INSTANCE_TYPE, SYM_ZONE, SYM_CAPACITY_TYPE};
    struct sym_pairs labels = world_row_labels(n);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (sym_pairs_get(labels, keys[i]) == SYM_NONE)
            return false;
    return true;
}

/* Nodes that are in no cost: those that name an offering which is not there, or those that name none. */
static void warn_unpriced(struct plan *p, const struct trial *t, bool named)
{
    enum { NAMED = 5 };
    const struct world *w = t->world;
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (!isnan(n->price) || trial_is_gone(t, row) || names_offering(n) != named)
            continue;
        if (count++ < NAMED)
            buf_addf(&b, "%s%.*s", count > 1 ? ", " : "", SPAN_ARG(n->name));
    }
    if (count > NAMED)
        buf_addf(&b, " and %u more", count - NAMED);
    const char *why = named ? "no offering has that instance type, zone and capacity type; add it to "
                              "the instance types"
                            : "without labels for instance type, zone and capacity type the price is "
                              "not known";
    if (count != 0)
        warn(p, arena_printf(&p->arena, "%s %.*s %s no price and %s not in the cost: %s",
                             count == 1 ? "node" : "nodes", SPAN_ARG(buf_span(&b)),
                             count == 1 ? "has" : "have", count == 1 ? "is" : "are", why));
    buf_release(&b);
}

/* Bound and cost are sums of the same prices in another order, which may differ in their last digits. */
static double bound_below(double cost, double bound)
{
    const double rounding = 1e-9;
    return bound > cost && bound <= cost * (1 + rounding) ? cost : bound;
}

/* Of the cost after. */
static double node_costs(const struct plan *p, const struct trial *t)
{
    const struct world *w = t->world;
    double sum = 0, cost;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!trial_is_gone(t, row) && !isnan(w->nodes[row].price) && w->nodes[row].pool >= 0 &&
            node_pool_cost(w->pools[w->nodes[row].pool], &cost))
            sum += cost;
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (node_pool_cost(p->claims[i].pool, &cost))
            sum += cost;
    return sum;
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
    p->node_costs = node_costs(p, t);
    p->lower_bound = no_bound || isnan(p->cost_after) ? NAN
                                                        : bound_below(p->cost_after, solution_bound(t));
    warn_overlays(p, w);
    warn_buffers(p, w);
    warn_splits(p, w);
    warn_pools(p, w);
    warn_unpriced(p, t, true);
    warn_unpriced(p, t, false);
}
