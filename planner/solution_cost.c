/* Price of the fleet, and a bound below which no fleet for these pods can be (plan-contract 6).
 *
 * The bound: whatever is bought, somebody sells each unit of a resource at no less than the cheapest
 * price a unit that any type or standing node has. So for every resource, what is asked of it times
 * that price; the greatest of these. Constraints and the mix of resources are left out, so it is
 * true, and not always near. */
#include "planner/solution.h"

#include <math.h>

struct demand {
    const struct world *w;
    double *asked; /* by column */
    double *cheapest; /* price a unit */
    double fixed;  /* nodes that stay whatever happens */
};

static void ask(struct demand *d, const amount *vector, double sign)
{
    for (uint32_t c = 0; c < d->w->column_count; c++)
        d->asked[c] += sign * (double)vector[c];
}

static void sell(struct demand *d, const amount *room, double price)
{
    for (uint32_t c = 0; c < d->w->column_count; c++)
        if (room[c] > 0 && price / (double)room[c] < d->cheapest[c])
            d->cheapest[c] = price / (double)room[c];
}

static void demand_rows(struct demand *d, const struct trial *t)
{
    const struct world *w = d->w;
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (n->leaving)
            continue;
        if (isnan(n->price) || n->stage == NODE_UNMANAGED) {
            /* it stays: its room before the plan was free to be used */
            for (uint32_t c = 0; c < w->column_count; c++)
                if (world_vector(w, w->left, row)[c] > 0)
                    d->asked[c] -= (double)world_vector(w, w->left, row)[c];
            d->fixed += isnan(n->price) ? 0 : n->price;
            continue;
        }
        sell(d, world_vector(w, w->allocatable, row), n->price);
        for (uint32_t i = 0; i < n->pod_count; i++)
            if (!w->classes.items[w->bound_class[n->first_pod + i]].daemon)
                ask(d, classes_requests(&w->classes, w->bound_class[n->first_pod + i]), 1);
    }
    for (uint32_t i = 0; i < t->step_count; i++)
        ask(d, classes_requests(&w->classes, t->steps[i].class_id), 1);
}

static void demand_options(struct demand *d)
{
    const struct world *w = d->w;
    for (uint32_t i = 0; i < w->option_count; i++) {
        const struct option *o = &w->options[i];
        for (BITS_EACH(type, o->types, w->types.words)) {
            double price = types_price(&w->types, type, o->kinds);
            if (price == (double)INFINITY)
                continue;
            for (uint32_t g = w->types.first_group[type]; g < w->types.first_group[type + 1]; g++)
                sell(d, world_vector(w, o->room, g), price);
        }
    }
}

static double lower_bound(struct plan *p, const struct trial *t)
{
    const struct world *w = t->world;
    struct demand d = {.w = w, .asked = ARENA_ARRAY(&p->arena, double, w->column_count),
                       .cheapest = ARENA_ARRAY(&p->arena, double, w->column_count)};
    for (uint32_t c = 0; c < w->column_count; c++)
        d.cheapest[c] = (double)INFINITY;
    demand_rows(&d, t);
    demand_options(&d);
    double best = 0;
    for (uint32_t c = 0; c < w->column_count; c++)
        if (d.asked[c] > 0 && d.cheapest[c] < (double)INFINITY &&
            d.asked[c] * d.cheapest[c] > best)
            best = d.asked[c] * d.cheapest[c];
    return d.fixed + best;
}

static void warn_unpriced(struct plan *p, const struct world *w)
{
    enum { NAMED = 5 };
    struct buf b = {0};
    uint32_t count = 0;
    for (uint32_t row = 0; row < w->node_count; row++) {
        const struct world_node *n = &w->nodes[row];
        if (!isnan(n->price) || n->leaving)
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

void solution_cost(struct plan *p, struct trial *t)
{
    const struct world *w = t->world;
    p->cost_before = 0;
    for (uint32_t row = 0; row < w->node_count; row++)
        if (!w->nodes[row].leaving && !isnan(w->nodes[row].price))
            p->cost_before += w->nodes[row].price;
    p->cost_after = p->cost_before;
    for (uint32_t i = 0; i < p->claim_count; i++)
        p->cost_after += p->claims[i].price; /* NAN: then the whole is not known */
    p->lower_bound = isnan(p->cost_after) ? NAN : lower_bound(p, t);
    if (p->lower_bound > p->cost_after) /* sums in another order */
        p->lower_bound = p->cost_after;
    warn_unpriced(p, w);
}
