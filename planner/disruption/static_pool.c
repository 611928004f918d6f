/* Pools with spec.replicas: a node of theirs is replaced by one more from the template, where limits.nodes has room for
 * it, whatever runs on it (spec disruption 8.2, 8.11). */
#include "planner/columns.h"
#include "planner/disruption/methods.h"
#include "planner/supply/pool_template.h"

#include <math.h>

#define FULL "static NodePool's capacity reservations are full and cannot stage a replacement"
#define AT_LIMIT "static NodePool is at its node limit and cannot stage a replacement"

static int64_t nodes_limit(const struct node_pool *p)
{
    for (uint32_t i = 0; i < p->limits.count; i++)
        if (p->limits.items[i].name == SYM_NODES)
            return p->limits.items[i].value;
    return INT64_MAX;
}

static int64_t reserved_nodes(const struct disruption_options *o, struct span pool)
{
    for (uint32_t i = 0; i < o->reserved_count; i++)
        if (span_eq(o->reserved[i].pool, pool))
            return o->reserved[i].nodes;
    return 0;
}

static void count_claims(const struct disrupting *d, int32_t pool, struct static_pool *out)
{
    for (uint32_t row = 0; row < d->w->node_count; row++) {
        const struct world_node *n = &d->w->nodes[row];
        if (n->pool != pool || n->claim == NULL)
            continue;
        if (n->leaving)
            out->leaving++;
        else if (d->o->queued != NULL && bits_has(d->o->queued, row))
            out->pending++;
        else
            out->active++;
    }
}

/* --- what it can buy --- */

static void add_offered(struct disrupting *d, struct static_pool *p, const struct offering *o)
{
    sym key = d->w->types.reservation_key;
    const struct requirement *id = key != SYM_NONE ? requirements_get(&o->requirements, key) : NULL;
    sym *list = (sym *)p->offered;
    uint32_t capacity = p->offered_count; /* grows one by one: an offering is of one reservation, a pool has few */
    if (!o->available || id == NULL || id->complement || id->count != 1)
        return;
    for (uint32_t i = 0; i < p->offered_count; i++)
        if (list[i] == id->values[0])
            return;
    ARENA_PUSH(&d->out->arena, list, p->offered_count, capacity, id->values[0]);
    p->offered = list;
}

static bool is_reserved(const struct offering *o, const struct symtab *syms)
{
    const struct requirement *c = requirements_get(&o->requirements, SYM_CAPACITY_TYPE);
    return c != NULL && requirement_has(c, SYM_RESERVED, syms);
}

/* Full until some offering says otherwise: one that is of no reservation, to be had or not, or of one with an
 * instance left. */
static void look_at_reservations(struct disrupting *d, struct static_pool *p)
{
    const struct symtab *syms = d->out->syms;
    const struct catalogue *all = d->w->types.catalogue;
    struct requirements r = pool_requirements(&d->out->arena, d->out->syms, p->pool);
    p->full = true;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct instance_type *t = &all->items[i];
        if (!instance_type_offered(t, p->pool->meta.name) ||
            !requirements_intersect(&t->requirements, &r, syms, NULL))
            continue;
        for (uint32_t k = 0; k < t->offering_count; k++) {
            const struct offering *o = &t->offerings[k];
            if (!requirements_compatible(&r, &o->requirements, all->well_known, syms, NULL, NULL))
                continue;
            p->full &= is_reserved(o, syms) && !offering_launchable(o, syms);
            add_offered(d, p, o);
        }
    }
}

struct static_pool static_pool_of(struct disrupting *d, int32_t pool, bool reservations)
{
    const struct node_pool *of = d->w->pools[pool];
    struct static_pool p = {.pool = of, .room = INT64_MAX,
                            .usable = pool_is_usable(of, d->w->settings.ready_when_unstated)};
    int64_t limit = nodes_limit(of);
    count_claims(d, pool, &p);
    if (limit != INT64_MAX)
        p.room = limit - (p.active + p.leaving + p.pending) - reserved_nodes(d->o, of->meta.name);
    if (reservations)
        look_at_reservations(d, &p);
    return p;
}

/* --- one by one --- */

static bool holds_offered(const struct disrupting *d, const struct static_pool *p, const struct candidate *c)
{
    sym id = candidate_reservation(d, c);
    for (uint32_t i = 0; id != SYM_NONE && i < p->offered_count; i++)
        if (p->offered[i] == id)
            return true;
    return false;
}

static void replace_by_template(struct disrupting *d, const struct moving_how *how, struct static_pool *p,
                                const struct candidate *c)
{
    struct arena *a = &d->out->arena;
    struct requirements r = pool_requirements(a, d->out->syms, p->pool);
    struct plan_claim *claim = ARENA_NEW(a, struct plan_claim);
    struct disruption_command x = command_of(d, how->method, c, 1);
    *claim = (struct plan_claim){.pool = p->pool, .requirements = r, .price = NAN};
    do
        claim->name = arena_printf(a, "%.*s-%u", SPAN_ARG(p->pool->meta.name), ++p->named);
    while (world_find_node(d->w, claim->name) >= 0 || world_find_claim(d->w, claim->name) >= 0);
    claim->labels = pool_node_labels(a, d->out->syms, d->w->types.catalogue->well_known,
                                     pool_labels(a, d->out->syms, p->pool), &r);
    x.decision = DECIDE_REPLACE;
    x.replacements = claim;
    x.replacement_count = 1;
    x.savings = NAN;
    command_add(d, x);
}

/* Or a note, where that may not be. */
static uint32_t terminate(struct disrupting *d, const struct moving_how *how, bool may, enum terminate_first why,
                          const struct candidate *c)
{
    if (!may) {
        note_candidate(d, how->method, NOTE_BLOCKED, c,
                       why == TERMINATE_STATIC_AT_LIMIT ? SPAN(AT_LIMIT) : SPAN(FULL));
        return 0;
    }
    struct disruption_command x = command_of(d, how->method, c, 1);
    x.decision = DECIDE_TERMINATE_FIRST;
    x.terminate_first = why;
    command_add(d, x);
    return 1;
}

/* Those first that free what the next one needs. */
static uint32_t stage_full(struct disrupting *d, const struct moving_how *how, const struct static_pool *p,
                           const struct candidate *c, uint32_t count, uint32_t want)
{
    uint32_t commands = 0, taken = 0;
    for (int holders = 1; holders >= 0; holders--)
        for (uint32_t i = 0; i < count && taken < want; i++)
            if (holds_offered(d, p, &c[i]) == (holders != 0)) {
                commands += terminate(d, how, holders != 0 && p->usable, TERMINATE_NO_RESERVED_CAPACITY, &c[i]);
                taken++;
            }
    return commands;
}

uint32_t static_stage(struct disrupting *d, const struct moving_how *how, struct static_pool *p,
                      const struct candidate *c, uint32_t count, uint32_t want)
{
    uint32_t commands = 0;
    if (want > count)
        want = count;
    if (how->terminate_first && p->full)
        return stage_full(d, how, p, c, count, want);
    if (p->room <= 0) {
        for (uint32_t i = 0; i < want; i++)
            commands += terminate(d, how, how->terminate_first && p->usable, TERMINATE_STATIC_AT_LIMIT, &c[i]);
        return commands;
    }
    for (; commands < want && p->room > 0; commands++) {
        replace_by_template(d, how, p, &c[commands]);
        if (p->room != INT64_MAX)
            p->room--;
    }
    return commands;
}
