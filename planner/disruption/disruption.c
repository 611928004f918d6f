#include "planner/disruption/disruption.h"

#include <math.h>
#include <stdlib.h>

#include "planner/columns.h"
#include "planner/disruption/methods.h"
#include "planner/disruption/price.h"

static const struct {
    const char *name;
    enum disruption_reason reason;
    bool (*decide)(struct disrupting *d);
} methods[METHOD_COUNT] = {
    [METHOD_REPAIR] = {"Repair", REASON_UNHEALTHY, repair_decide},
    [METHOD_EMPTINESS] = {"Emptiness", REASON_EMPTY, emptiness_decide},
    [METHOD_STATIC_DRIFT] = {"StaticDrift", REASON_DRIFTED, static_drift_decide},
    [METHOD_DRIFT] = {"Drift", REASON_DRIFTED, drift_decide},
    [METHOD_MULTI] = {"MultiNodeConsolidation", REASON_UNDERUTILIZED, multi_decide},
    [METHOD_SINGLE] = {"SingleNodeConsolidation", REASON_UNDERUTILIZED, single_decide},
};

const char *disruption_method_name(enum disruption_method m)
{
    return methods[m].name;
}

enum disruption_reason disruption_method_reason(enum disruption_method m)
{
    return methods[m].reason;
}

const char *disruption_decision_name(enum disruption_decision d)
{
    static const char *const names[] = {[DECIDE_DELETE] = "delete",
                                        [DECIDE_REPLACE] = "replace",
                                        [DECIDE_TERMINATE_FIRST] = "terminate-first",
                                        [DECIDE_REBOOT] = "reboot"};
    return names[d];
}

const char *disruption_terminate_first_name(enum terminate_first t)
{
    static const char *const names[] = {[TERMINATE_NO_RESERVED_CAPACITY] = "no-reserved-capacity",
                                        [TERMINATE_STATIC_AT_LIMIT] = "static-at-limit"};
    return names[t];
}

/* --- what methods share --- */

static void tell_blocked(struct disrupting *d, enum disruption_method m, uint32_t row,
                         const struct blocked_answer *x)
{
    const struct world_node *n = &d->w->nodes[row];
    struct disruption_note note = {
        .kind = NOTE_BLOCKED, .method = m, .row = (int32_t)row, .shared = true,
        .pool = n->pool >= 0 ? d->w->pools[n->pool] : NULL, .text = blocked_event(&d->out->arena, x)};
    if (note.text.len != 0 && d->told[row] != (uint8_t)x->what)
        note_add(d, note);
    d->told[row] = (uint8_t)x->what;
}

static struct candidates find_candidates(struct disrupting *d, enum disruption_class k, enum disruption_method m)
{
    struct candidates found = {.items = NULL};
    uint32_t capacity = 0;
    for (uint32_t row = 0; row < d->w->node_count; row++) {
        struct candidate c;
        struct blocked_answer x = candidate_make(d->w, row, k, &d->facts, &c);
        if (x.what == BLOCKED_NOT)
            ARENA_PUSH(&d->out->arena, found.items, found.count, capacity, c);
        else
            tell_blocked(d, m, row, &x);
    }
    return found;
}

bool candidate_is_asked_about(const struct disrupting *d, const struct candidate *c, enum disruption_method m)
{
    return disruption_mode_of(c->pool, methods[m].reason) == d->o->mode;
}

struct candidates candidates_of(struct disrupting *d, enum disruption_class k, enum disruption_method m)
{
    struct candidates *all = &d->of_class[k];
    if (!d->asked[k])
        *all = find_candidates(d, k, m);
    d->asked[k] = true;
    struct candidates copy = {ARENA_ARRAY(&d->out->arena, struct candidate, all->count), 0};
    for (uint32_t i = 0; i < all->count; i++)
        if (candidate_is_asked_about(d, &all->items[i], m))
            copy.items[copy.count++] = all->items[i];
    return copy;
}

void candidates_sort(struct disrupting *d, struct candidates c)
{
    if (c.count != 0)
        qsort_r(c.items, c.count, sizeof(*c.items), candidate_order, (void *)d->w);
}

struct allowances allowances_of(struct disrupting *d, enum disruption_method m)
{
    enum disruption_reason reason = methods[m].reason;
    struct arena *a = &d->out->arena;
    struct allowances x = allowances_make(a, d->w, reason, d->o->queued, d->facts.now);
    bool told = (d->told_reasons >> reason) & 1;
    d->told_reasons |= UINT32_C(1) << reason;
    for (uint32_t i = 0; i < x.count && !told; i++)
        if (x.items[i].nodes != 0 && x.items[i].allowed == 0)
            note_add(d, (struct disruption_note){
                            .kind = NOTE_BLOCKED, .method = m, .row = -1, .pool = d->w->pools[i],
                            .text = arena_printf(a, "No allowed disruptions for disruption reason %.*s due to "
                                                    "blocking budget",
                                                 SPAN_ARG(disruption_reason_name(reason)))});
    return x;
}

struct allowances wave_allowances_of(struct disrupting *d, enum disruption_method m)
{
    struct allowances x = allowances_of(d, m);
    for (uint32_t i = 0; i < x.count; i++)
        for (uint32_t k = 0; k < d->o->wave_count; k++)
            if (span_eq(d->o->waves[k].pool, d->w->pools[i]->meta.name) &&
                x.items[i].left > (int64_t)d->o->waves[k].nodes)
                x.items[i].left = (int32_t)d->o->waves[k].nodes;
    return x;
}

void constrained_add(struct disrupting *d, enum disruption_method m)
{
    d->out->constrained |= UINT32_C(1) << m;
}

/* What the node costs in an hour: its offering, and what its pool says beside. */
static double hourly(const struct candidate *c)
{
    double beside;
    node_pool_cost(c->pool, &beside);
    return c->price + beside;
}

struct disruption_command command_of(struct disrupting *d, enum disruption_method m, const struct candidate *c,
                                     uint32_t count)
{
    uint32_t *rows = ARENA_ARRAY(&d->out->arena, uint32_t, count);
    struct disruption_command x = {.method = m, .decision = DECIDE_DELETE, .rows = rows, .count = count,
                                   .syms = d->out->syms};
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = c[i].row;
        x.savings += hourly(&c[i]);
        x.cost += c[i].disruption_cost;
        x.evictions += c[i].reschedulable;
    }
    return x;
}

span_ms disruption_payback(const struct disruption_command *c)
{
    double twice = 0;
    if (c->priced && c->savings > 0)
        return (span_ms)fmin(move_price_once(&c->price) / c->savings * 60 * MS_MINUTE, (double)DURATION_TOO_LONG);
    if (c->decision != DECIDE_REPLACE)
        return c->savings > 0 ? 0 : -1;
    for (uint32_t i = 0; i < c->replacement_count; i++)
        twice += c->replacements[i].price;
    double ms = DISRUPTION_OVERLAP_MS * twice / c->savings;
    return c->savings > 0 && ms < (double)DURATION_TOO_LONG ? (span_ms)ms : -1; /* NAN is neither */
}

static void keep_plan(struct disrupting *d, struct plan *p)
{
    struct disruption *out = d->out;
    if (out->plan_count == d->plan_capacity) {
        d->plan_capacity = d->plan_capacity == 0 ? 4 : d->plan_capacity * 2;
        out->plans = mem_grow(out->plans, d->plan_capacity, sizeof(struct plan *));
    }
    out->plans[out->plan_count++] = p;
}

void command_replace(struct disrupting *d, struct disruption_command *c, const struct simulation_question *q)
{
    struct plan *p = simulation_plan(d->simulator, q);
    keep_plan(d, p);
    c->plan = p;
    c->syms = p->syms;
    c->replacements = p->claims;
    c->replacement_count = p->claim_count;
    c->decision = p->claim_count != 0 ? DECIDE_REPLACE : DECIDE_DELETE;
    for (uint32_t i = 0; i < p->claim_count; i++)
        c->savings -= p->claims[i].price; /* NAN where it is not known */
}

struct disruption_command *command_add(struct disrupting *d, struct disruption_command c)
{
    struct disruption *out = d->out;
    struct disruption_command *list = (struct disruption_command *)out->commands;
    ARENA_PUSH(&out->arena, list, out->command_count, d->command_capacity, c);
    out->commands = list;
    return &list[out->command_count - 1];
}

void note_add(struct disrupting *d, struct disruption_note n)
{
    struct disruption *out = d->out;
    struct disruption_note *list = (struct disruption_note *)out->notes;
    ARENA_PUSH(&out->arena, list, out->note_count, d->note_capacity, n);
    out->notes = list;
}

void note_candidate(struct disrupting *d, enum disruption_method m, enum disruption_note_kind kind,
                    const struct candidate *c, struct span text)
{
    if (kind == NOTE_UNCONSOLIDATABLE && span_eq(d->refused[c->row], text))
        return;
    if (kind == NOTE_UNCONSOLIDATABLE)
        d->refused[c->row] = text;
    note_add(d, (struct disruption_note){
                    .kind = kind, .method = m, .row = (int32_t)c->row, .pool = c->pool, .text = text});
}

bool pass_fails(struct disrupting *d, struct span error)
{
    if (d->out->error.len == 0)
        d->out->error = error;
    return false;
}

static bool pass_stops(struct disrupting *d)
{
    d->stopped = true;
    d->out->complete = false;
    return false;
}

bool simulated_whole(struct disrupting *d, const struct simulation *x)
{
    d->out->steps += x->steps;
    if (x->outcome == SIMULATED_STOPPED)
        return pass_stops(d);
    if (x->outcome == SIMULATED_NO_POOLS)
        return pass_fails(d, SPAN("no dynamic NodePool is ready, so nobody knows where the pods could go"));
    return true;
}

/* --- the pass --- */

static bool is_asked(const struct disruption_options *o, enum disruption_method m)
{
    return ((o->passed_over >> m) & 1) == 0 && (m != METHOD_REPAIR || o->repair != NULL);
}

static bool is_stopped(const struct plan_options *o)
{
    return o->stop != NULL && o->stop(o->user);
}

static bool has_acted_for(const struct disruption *out, enum disruption_reason reason)
{
    for (uint32_t i = 0; i < out->command_count; i++)
        if (methods[out->commands[i].method].reason == reason)
            return true;
    return false;
}

static void ask_methods(struct disrupting *d)
{
    const struct disruption_options *o = d->o;
    bool each = o->mode == MODE_RECOMMEND;
    for (uint32_t m = 0; m < METHOD_COUNT; m++) {
        if (!is_asked(o, (enum disruption_method)m) || (each && has_acted_for(d->out, methods[m].reason)))
            continue;
        if (is_stopped(o->plan))
            pass_stops(d);
        bool fine = !d->stopped && methods[m].decide(d);
        if (d->stopped || (!o->all && (!fine || (!each && d->out->command_count != 0))))
            return;
    }
}

void disrupting_start(struct disrupting *d, const struct world *w, const struct disruption_options *o)
{
    struct disruption *out = mem_new(sizeof(*out));
    out->complete = true;
    out->unreached = o->unreached;
    out->unreached_count = o->unreached_count;
    arena_init(&out->arena, 0);
    out->syms = symtab_new_local(w->syms, &out->arena);
    *d = (struct disrupting){.w = w, .o = o, .out = out,
                             .facts = {.budgets = &w->budgets, .queued = o->queued, .nominated = o->nominated,
                                       .deletion_cost_ignored = o->pod_deletion_cost, .now = o->plan->now},
                             .told = ARENA_ARRAY(&out->arena, uint8_t, w->node_count),
                             .refused = ARENA_ARRAY(&out->arena, struct span, w->node_count)};
    d->simulator = simulator_new(w, o->plan);
}

struct disruption *disrupting_end(struct disrupting *d)
{
    simulator_free(d->simulator);
    return d->out;
}

bool disruption_recommends(const struct world *w)
{
    bool any = false;
    for (uint32_t i = 0; i < w->pool_count && !any; i++)
        for (uint32_t r = 0; r < REASON_COUNT && !any; r++)
            any = disruption_mode_of(w->pools[i], (enum disruption_reason)r) == MODE_RECOMMEND;
    return any;
}

struct disruption *disruption_decide(const struct world *w, const struct disruption_options *o)
{
    struct disrupting d;
    disrupting_start(&d, w, o);
    ask_methods(&d);
    return disrupting_end(&d);
}

void disruption_free(struct disruption *d)
{
    if (d == NULL)
        return;
    for (uint32_t i = 0; i < d->plan_count; i++)
        plan_free(d->plans[i]);
    free(d->plans);
    arena_release(&d->arena);
    free(d);
}
