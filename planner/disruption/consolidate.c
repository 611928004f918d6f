#include "planner/disruption/consolidate.h"

#include "planner/columns.h"
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

/* The claim that the answer buys, which is one. What is no cheaper at its best needs no list to say so. */
static void replace(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count,
                    struct consolidation *x)
{
    x->spot = simulation_admits(d->simulator, 0, SYM_SPOT);
    x->on_demand = simulation_admits(d->simulator, 0, SYM_ON_DEMAND);
    struct replacement_question q = {.candidates = c, .count = count, .spot = x->spot, .on_demand = x->on_demand,
                                     .spot_to_spot = d->o->spot_to_spot};
    struct replacement r = {.verdict = REPLACING_NOT_CHEAPER};
    if (replacement_is_spot_to_spot(&q) && !q.spot_to_spot) {
        r.verdict = REPLACING_SPOT_GATE;
    } else if (simulation_least_price(d->simulator, 0) < replacement_total(c, count)) {
        q.claim = simulation_claim(d->simulator, 0);
        r = replacement_find(scratch, d->w, &q);
    }
    if (r.verdict == REPLACING_YES) {
        x->outcome = CONSOLIDATE_REPLACE;
        x->savings = replacement_total(c, count) - r.claim.price;
    } else if (count == 1) {
        x->why = told(d, scratch, &r);
    }
}

struct consolidation consolidate(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count)
{
    arena_clear(scratch);
    uint32_t *rows = ARENA_ARRAY(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = c[i].row;
    struct simulation_question q = {.rows = rows, .count = count, .why = REMOVAL_CONSOLIDATION};
    struct consolidation x = {.outcome = CONSOLIDATE_NOT, .simulated = simulate(d->simulator, &q)};
    if (x.simulated.outcome == SIMULATED_UNPLACED && count == 1)
        x.why = simulation_unplaced(d->simulator, scratch);
    if (x.simulated.outcome != SIMULATED_PLACED)
        return x;
    if (x.simulated.claims == 0) {
        x.outcome = CONSOLIDATE_DELETE;
        x.savings = replacement_total(c, count);
    } else if (x.simulated.claims == 1) {
        replace(d, scratch, c, count, &x);
    } else if (count == 1) {
        x.why = arena_printf(scratch, "Can't remove without creating %u candidates", x.simulated.claims);
    }
    return x;
}

void consolidate_take(struct disrupting *d, enum disruption_method m, const struct candidate *c, uint32_t count,
                      const struct consolidation *x)
{
    struct disruption_command command = command_of(d, m, c, count);
    struct simulation_question q = {.rows = command.rows, .count = count, .why = REMOVAL_CONSOLIDATION};
    command_replace(d, &command, &q);
    if (x->outcome == CONSOLIDATE_REPLACE) {
        struct replacement_question asked = {.candidates = c, .count = count, .claim = command.replacements,
                                             .spot = x->spot, .on_demand = x->on_demand,
                                             .spot_to_spot = d->o->spot_to_spot};
        struct plan_claim *claim = ARENA_NEW(&d->out->arena, struct plan_claim);
        *claim = replacement_find(&d->out->arena, d->w, &asked).claim;
        command.replacements = claim;
    }
    command.savings = x->savings;
    command_add(d, command);
}
