#include "planner/disruption/validate.h"

#include "planner/columns.h"
#include "planner/disruption/consolidate.h"

const char *disruption_validity_name(enum disruption_validity v)
{
    static const char *const names[] = {[VALIDITY_UNKNOWN] = "unknown",
                                        [VALIDITY_STANDS] = "stands",
                                        [VALIDITY_CHURN] = "churn",
                                        [VALIDITY_BUDGET] = "budget",
                                        [VALIDITY_SCHEDULING] = "scheduling"};
    return names[v];
}

/* -1: there is none of the name. */
static int32_t find_row(const struct world *w, struct span name)
{
    int32_t row = world_find_node(w, name);
    return row >= 0 ? row : world_find_claim(w, name);
}

/* Whether all are still candidates; if so they are `c`. */
static enum disruption_validity find_candidates(struct disrupting *d, const struct disruption_pledge *p,
                                                struct candidates *c)
{
    *c = (struct candidates){ARENA_ARRAY(&d->out->arena, struct candidate, p->count), 0};
    for (uint32_t i = 0; i < p->count; i++) {
        int32_t row = find_row(d->w, p->nodes[i]);
        if (row < 0)
            return VALIDITY_CHURN;
        struct blocked_answer x = candidate_make(d->w, (uint32_t)row, DISRUPT_GRACEFUL, &d->facts, &c->items[i]);
        if (x.what != BLOCKED_NOT)
            return x.what == BLOCKED_NOMINATED ? VALIDITY_BUDGET : VALIDITY_CHURN;
        if (!candidate_is_asked_about(d, &c->items[i], METHOD_MULTI))
            return VALIDITY_CHURN;
        c->count++;
    }
    *c = consolidate_whom(d, *c, METHOD_MULTI);
    return c->count == p->count ? VALIDITY_STANDS : VALIDITY_CHURN;
}

static bool lists(const struct plan_claim *c, struct span type)
{
    for (uint32_t i = 0; i < c->type_count; i++)
        if (span_eq(c->types[i]->name, type))
            return true;
    return false;
}

static bool lists_all(const struct plan_claim *c, const struct pledged_claim *pledged)
{
    for (uint32_t i = 0; i < pledged->type_count; i++)
        if (!lists(c, pledged->types[i]))
            return false;
    return true;
}

/* Whether there is a claim for each that was pledged, and no more; both come in the order in which they were planned. */
static bool has_all(const struct plan_claim *const *claims, uint32_t count, const struct disruption_pledge *p)
{
    struct pledged_claim first = {p->types, p->type_count};
    if (count != (p->replaces ? 1 + p->other_count : 0))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!lists_all(claims[i], i == 0 ? &first : &p->others[i - 1]))
            return false;
    return true;
}

static const struct plan_claim **claims_simulated(struct disrupting *d, uint32_t count)
{
    const struct plan_claim **claims = ARENA_ARRAY(&d->out->arena, const struct plan_claim *, count);
    for (uint32_t i = 0; i < count; i++)
        claims[i] = simulation_claim(d->simulator, i);
    return claims;
}

/* What was pledged may have been the cheaper plan (consolidate_cheaper). */
static bool has_cheaper(struct disrupting *d, const struct simulation_question *q, const struct disruption_pledge *p)
{
    struct simulation_question cheaper = *q;
    cheaper.cheaper = true;
    struct plan *plan = simulation_plan(d->simulator, &cheaper);
    const struct plan_claim **claims = ARENA_ARRAY(&d->out->arena, const struct plan_claim *, plan->claim_count);
    for (uint32_t i = 0; i < plan->claim_count; i++)
        claims[i] = &plan->claims[i];
    bool has = has_all(claims, plan->claim_count, p);
    plan_free(plan);
    return has;
}

static enum disruption_validity ask_again(struct disrupting *d, const struct disruption_pledge *p, struct candidates c)
{
    uint32_t *rows = ARENA_ARRAY(&d->out->arena, uint32_t, c.count);
    for (uint32_t i = 0; i < c.count; i++)
        rows[i] = c.items[i].row;
    struct simulation_question q = {.rows = rows, .count = c.count, .why = REMOVAL_CONSOLIDATION};
    struct simulation x = simulate(d->simulator, &q);
    if (x.outcome == SIMULATED_STOPPED || x.outcome == SIMULATED_NO_POOLS)
        return VALIDITY_UNKNOWN;
    if (x.outcome != SIMULATED_PLACED)
        return VALIDITY_SCHEDULING;
    if (has_all(claims_simulated(d, x.claims), x.claims, p))
        return VALIDITY_STANDS;
    bool other = d->o->plan->search != SEARCH_GREEDY && x.claims != 0 && p->replaces;
    return other && has_cheaper(d, &q, p) ? VALIDITY_STANDS : VALIDITY_SCHEDULING;
}

static enum disruption_validity judge(struct disrupting *d, const struct disruption_pledge *p)
{
    struct candidates c;
    enum disruption_validity v = find_candidates(d, p, &c);
    if (v != VALIDITY_STANDS)
        return v;
    struct allowances allowed = allowances_of(d, METHOD_MULTI);
    for (uint32_t i = 0; i < c.count; i++)
        if (!allowances_take(&allowed, candidate_pool(d, &c.items[i])))
            return VALIDITY_BUDGET;
    return ask_again(d, p, c);
}

enum disruption_validity disruption_validate(const struct world *w, const struct disruption_options *o,
                                             const struct disruption_pledge *p)
{
    struct disrupting d;
    disrupting_start(&d, w, o);
    enum disruption_validity v = judge(&d, p);
    disruption_free(disrupting_end(&d));
    return v;
}
