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

static enum disruption_validity ask_again(struct disrupting *d, const struct disruption_pledge *p, struct candidates c)
{
    uint32_t *rows = ARENA_ARRAY(&d->out->arena, uint32_t, c.count);
    for (uint32_t i = 0; i < c.count; i++)
        rows[i] = c.items[i].row;
    struct simulation_question q = {.rows = rows, .count = c.count, .why = REMOVAL_CONSOLIDATION};
    struct simulation x = simulate(d->simulator, &q);
    if (x.outcome == SIMULATED_STOPPED || x.outcome == SIMULATED_NO_POOLS)
        return VALIDITY_UNKNOWN;
    if (x.outcome != SIMULATED_PLACED || x.claims != p->replaces)
        return VALIDITY_SCHEDULING;
    for (uint32_t i = 0; p->replaces && i < p->type_count; i++)
        if (!lists(simulation_claim(d->simulator, 0), p->types[i]))
            return VALIDITY_SCHEDULING;
    return VALIDITY_STANDS;
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
