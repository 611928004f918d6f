#include "planner/disruption/consolidate.h"

#include <math.h>

#include "planner/columns.h"
#include "planner/disruption/price.h"
#include "planner/disruption/replacement.h"

/* --- who may be consolidated --- */

/* Why not; absent: nobody needs to be told. */
static struct span refusal(struct disrupting *d, const struct candidate *c)
{
    struct arena *a = &d->out->arena;
    struct span pool = c->pool->meta.name;
    sym type = sym_pairs_get(world_row_labels(&d->w->nodes[c->row]), SYM_INSTANCE_TYPE);
    if (c->type == NULL)
        return arena_printf(a, "Instance Type \"%.*s\" not found", SPAN_ARG(sym_text(d->w->syms, type)));
    if (c->capacity_type == SYM_NONE)
        return SPAN("Node does not have label \"karpenter.sh/capacity-type\"");
    if (c->zone == SYM_NONE)
        return SPAN("Node does not have label \"topology.kubernetes.io/zone\"");
    if (!c->pool->has_consolidate_after)
        return pool_disabled_event(a, pool);
    if (!candidate_is_empty(c) && c->pool->policy == CONSOLIDATE_EMPTY)
        return arena_printf(a, "NodePool \"%.*s\" has consolidation policy WhenEmpty, but node is not empty",
                            SPAN_ARG(pool));
    if (d->o->cooling != NULL && bits_has(d->o->cooling, c->row))
        return SPAN("It is let alone for a while: a consolidation has moved pods here, or consolidations went in a circle");
    return (struct span){0};
}

static bool is_consolidatable(const struct disrupting *d, const struct candidate *c)
{
    return !candidate_is_empty(c) && conditions_true(d->w->nodes[c->row].claim->conditions, SPAN("Consolidatable"));
}

struct candidates consolidate_whom(struct disrupting *d, struct candidates all, enum disruption_method m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct candidate *c = &all.items[i];
        if (c->pool->has_replicas)
            continue;
        struct span why = refusal(d, c);
        if (why.len != 0)
            note_candidate(d, m, NOTE_UNCONSOLIDATABLE, c, why);
        if (why.len == 0 && is_consolidatable(d, c))
            all.items[n++] = *c;
    }
    all.count = n;
    candidates_sort(d, all);
    return all;
}

/* --- whether they can go --- */

static struct span told(struct disrupting *d, struct arena *a, const struct replacement *r)
{
    switch (r->verdict) {
    case REPLACING_MIN_VALUES:
        return arena_printf(a, "Filtering by price: minValues requirement is not met for label(s) (label(s)=%.*s)",
                            SPAN_ARG(sym_text(d->w->syms, r->key)));
    case REPLACING_SPOT_GATE:
        return SPAN("SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node");
    case REPLACING_SPOT_FEW:
        return arena_printf(a, "SpotToSpotConsolidation requires %d cheaper instance type options than the current "
                               "candidate to consolidate, got %u",
                            SPOT_OPTIONS, r->options);
    case REPLACING_NOT_CHEAPER:
    case REPLACING_YES:
        break;
    }
    return SPAN("Can't replace with a cheaper node");
}

/* A claim that is to stand in for candidates, and which capacity types what is asked of it leaves open. */
struct offer {
    const struct plan_claim *claim;
    bool spot, on_demand;
};

static struct replacement cut(struct disrupting *d, struct arena *a, const struct candidate *c, uint32_t count,
                              const struct offer *o, double below)
{
    struct replacement_question q = {.candidates = c, .count = count, .claim = o->claim, .below = below,
                                     .spot = o->spot, .on_demand = o->on_demand, .spot_to_spot = d->o->spot_to_spot};
    return replacement_find(a, d->w, &q);
}

/* What the claims may be bought as. Of several each has its share of what is saved, beside the least that it costs at
 * worst: together they stay below what the candidates cost. */
static enum replacing cut_all(struct disrupting *d, struct arena *a, const struct candidate *c, uint32_t count,
                              const struct offer *offers, uint32_t n, struct replacement *out)
{
    double total = replacement_total(c, count), worst = 0;
    enum replacing v = REPLACING_YES;
    for (uint32_t i = 0; i < n && v == REPLACING_YES; i++) {
        out[i] = cut(d, a, c, count, &offers[i], 0);
        v = out[i].verdict;
        worst += out[i].worst;
    }
    if (v != REPLACING_YES || n == 1)
        return v;
    for (uint32_t i = 0; i < n && v == REPLACING_YES; i++) {
        double share = (total - worst) / n;
        out[i] = cut(d, a, c, count, &offers[i], out[i].worst + share);
        v = share > 0 ? out[i].verdict : REPLACING_NOT_CHEAPER;
    }
    return v;
}

/* Claims of the last question. */
static struct offer *offers_simulated(struct disrupting *d, struct arena *a, const struct plan_claim *claims, uint32_t n)
{
    struct offer *offers = ARENA_ARRAY(a, struct offer, n);
    for (uint32_t i = 0; i < n; i++)
        offers[i] = (struct offer){claims != NULL ? &claims[i] : simulation_claim(d->simulator, i),
                                   simulation_admits(d->simulator, i, SYM_SPOT),
                                   simulation_admits(d->simulator, i, SYM_ON_DEMAND)};
    return offers;
}

static bool leaves_open(const struct plan *p, const struct plan_claim *c, sym capacity_type)
{
    const struct requirement *r = requirements_get(&c->requirements, SYM_CAPACITY_TYPE);
    return r == NULL || requirement_has(r, capacity_type, p->syms);
}

static struct offer *offers_planned(struct arena *a, const struct plan *p)
{
    struct offer *offers = ARENA_ARRAY(a, struct offer, p->claim_count);
    for (uint32_t i = 0; i < p->claim_count; i++)
        offers[i] = (struct offer){&p->claims[i], leaves_open(p, &p->claims[i], SYM_SPOT),
                                   leaves_open(p, &p->claims[i], SYM_ON_DEMAND)};
    return offers;
}

/* What does not save that much at its best needs no list to say so. */
static bool may_save(struct disrupting *d, double total, double above, uint32_t claims)
{
    double least = 0;
    for (uint32_t i = 0; i < claims; i++)
        least += simulation_least_price(d->simulator, i);
    return least < total - above;
}

static void replaced(const struct disrupting *d, struct consolidation *x, double total, const struct replacement *r,
                     uint32_t n)
{
    x->outcome = CONSOLIDATE_REPLACE;
    x->savings = total;
    x->price = (struct move_price){.evictions = x->price.evictions};
    for (uint32_t i = 0; i < n; i++) {
        x->savings -= r[i].claim.price;
        move_price_add(&x->price, d->o, &r[i].claim);
    }
}

static void replace(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count,
                    double above, struct consolidation *x)
{
    uint32_t n = x->simulated.claims;
    double total = replacement_total(c, count);
    struct replacement *r = ARENA_ARRAY(scratch, struct replacement, n);
    enum replacing v = REPLACING_NOT_CHEAPER;
    struct replacement_question q = {.candidates = c, .count = count,
                                     .spot = simulation_admits(d->simulator, 0, SYM_SPOT)};
    if (replacement_is_spot_to_spot(&q) && !d->o->spot_to_spot)
        v = r[0].verdict = REPLACING_SPOT_GATE;
    else if (may_save(d, total, above, n))
        v = cut_all(d, scratch, c, count, offers_simulated(d, scratch, NULL, n), n, r);
    if (v == REPLACING_YES)
        replaced(d, x, total, r, n);
    else if (count == 1)
        x->why = told(d, scratch, &r[0]);
}

/* Karpenter never makes several of one, nor of several. */
static uint32_t most_replacements(const struct disrupting *d)
{
    return d->o->plan->search == SEARCH_GREEDY ? 1 : MOST_REPLACEMENTS;
}

/* --- whether that is enough --- */

/* Of what the pool's own candidates cost. */
static double price_in(const struct candidate *c, uint32_t count, const struct node_pool *pool)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += c[i].pool == pool ? c[i].price : 0;
    return sum;
}

/* What it saves less than some pool asks for is not done; each pool's own nodes are what its share is of. */
static void ask_for_enough(struct arena *a, const struct candidate *c, uint32_t count, struct consolidation *x)
{
    for (uint32_t i = 0; i < count && x->outcome != CONSOLIDATE_NOT; i++) {
        struct min_savings least;
        if ((i != 0 && c[i].pool == c[i - 1].pool) || !node_pool_min_savings(c[i].pool, &least))
            continue;
        bool enough = x->savings + PRICE_DIFFERENCE >= least.per_hour &&
                      x->savings + PRICE_DIFFERENCE >= least.share * price_in(c, count, c[i].pool) &&
                      (least.payback == INT64_MAX ||
                       x->price.warm_up * 60 * MS_MINUTE <= (double)least.payback * x->savings + PRICE_DIFFERENCE);
        if (enough)
            continue;
        x->outcome = CONSOLIDATE_NOT;
        if (count == 1)
            x->why = arena_printf(a, "It saves $%.4f/h, less than its NodePool asks for (stowage.dev/min-savings: %.*s)",
                                  x->savings,
                                  SPAN_ARG(annotations_get(c[i].pool->meta.annotations, SYM_MIN_SAVINGS)));
    }
}

struct consolidation consolidate(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count,
                                 double above)
{
    arena_clear(scratch);
    uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = c[i].row;
    struct simulation_question q = {.rows = rows, .count = count, .why = REMOVAL_CONSOLIDATION};
    struct consolidation x = {.outcome = CONSOLIDATE_NOT, .simulated = simulate(d->simulator, &q),
                              .price.evictions = move_price_evictions(c, count)};
    if (x.simulated.outcome == SIMULATED_UNPLACED && count == 1)
        x.why = simulation_unplaced(d->simulator, scratch);
    if (x.simulated.outcome != SIMULATED_PLACED)
        return x;
    if (x.simulated.claims == 0) {
        x.outcome = CONSOLIDATE_DELETE;
        x.savings = replacement_total(c, count);
    } else if (x.simulated.claims <= most_replacements(d)) {
        replace(d, scratch, c, count, above, &x);
    } else if (count == 1) {
        x.why = arena_printf(scratch, "Can't remove without creating %u candidates", x.simulated.claims);
    }
    ask_for_enough(scratch, c, count, &x);
    return x;
}

/* --- other claims than greedy's --- */

static bool is_candidate(const struct disrupting *d, const struct candidate *c, uint32_t count, const struct pod *p)
{
    for (uint32_t i = 0; i < count; i++)
        if (span_eq(sym_text(d->w->syms, p->node), world_node_at(d->w, c[i].row)->name))
            return true;
    return false;
}

/* As simulate has it: everybody but such as were pending has a place, and who moves none on a node that comes up. */
static bool is_whole(const struct disrupting *d, const struct candidate *c, uint32_t count, const struct plan *p)
{
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].pod->node != SYM_NONE)
            return false;
    for (uint32_t i = 0; i < p->node_count; i++) {
        enum node_stage stage = d->w->nodes[p->nodes[i].row].stage;
        for (uint32_t k = 0; k < p->nodes[i].pod_count && (stage == NODE_LAUNCHING || stage == NODE_REGISTERED); k++)
            if (is_candidate(d, c, count, p->nodes[i].pods[k]))
                return false;
    }
    return p->complete || d->o->plan->stop == NULL;
}

struct consolidation consolidate_cheaper(struct disrupting *d, struct arena *scratch, const struct candidate *c,
                                         uint32_t count, double above)
{
    struct consolidation x = consolidate(d, scratch, c, count, above);
    double total = replacement_total(c, count);
    if (x.simulated.outcome != SIMULATED_PLACED || x.simulated.claims == 0 || total <= above)
        return x;
    uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = c[i].row;
    struct simulation_question q = {.rows = rows, .count = count, .why = REMOVAL_CONSOLIDATION, .cheaper = true};
    struct plan *p = simulation_plan(d->simulator, &q);
    struct replacement *r = ARENA_ARRAY(scratch, struct replacement, p->claim_count);
    double price = 0;
    for (uint32_t i = 0; i < p->claim_count; i++)
        price += p->claims[i].price;
    double least = fmax(above, x.outcome == CONSOLIDATE_NOT ? 0 : x.savings);
    d->out->steps += p->steps;
    if (p->claim_count != 0 && p->claim_count <= MOST_REPLACEMENTS && total - price > least + PRICE_DIFFERENCE &&
        is_whole(d, c, count, p) &&
        cut_all(d, scratch, c, count, offers_planned(scratch, p), p->claim_count, r) == REPLACING_YES) {
        replaced(d, &x, total, r, p->claim_count);
        x.cheaper = true;
        x.why = (struct span){0};
        ask_for_enough(scratch, c, count, &x);
    }
    plan_free(p);
    return x;
}

/* --- the command --- */

void consolidate_take(struct disrupting *d, enum disruption_method m, const struct candidate *c, uint32_t count,
                      const struct consolidation *x)
{
    struct arena *a = &d->out->arena;
    struct disruption_command command = command_of(d, m, c, count);
    struct simulation_question q = {.rows = command.rows, .count = count, .why = REMOVAL_CONSOLIDATION,
                                    .cheaper = x->cheaper};
    command_replace(d, &command, &q);
    uint32_t n = command.replacement_count;
    struct offer *offers = NULL;
    struct plan_claim *left = ARENA_ARRAY(a, struct plan_claim, n);
    struct replacement *r = ARENA_ARRAY(a, struct replacement, n);
    if (x->cheaper) {
        offers = offers_planned(a, command.plan);
    } else if (n != 0) {
        d->out->steps += simulate(d->simulator, &q).steps; /* what claims admit is told of the last question */
        offers = offers_simulated(d, a, command.replacements, n);
    }
    if (n != 0)
        cut_all(d, a, c, count, offers, n, r);
    for (uint32_t i = 0; i < n; i++)
        left[i] = r[i].claim;
    command.replacements = left;
    command.savings = x->savings;
    command.priced = d->o->plan->search != SEARCH_GREEDY;
    command.price = x->price;
    command_add(d, command);
}
