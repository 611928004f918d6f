/* Each question is a plan of its own, from the beginning. */
#include "planner/disruption/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "planner/columns.h"
#include "planner/explain/tell.h"
#include "planner/trial/trial.h"

enum { PODS_NAMED = 5 };

struct simulator {
    const struct world *w;
    const struct plan_options *o;
    struct plan *last;
    bool told;
};

struct simulator *simulator_new(const struct world *w, const struct plan_options *o)
{
    struct simulator *s = mem_new(sizeof(*s));
    *s = (struct simulator){.w = w, .o = o};
    return s;
}

void simulator_free(struct simulator *s)
{
    if (s == NULL)
        return;
    plan_free(s->last);
    free(s);
}

static struct plan *solve(const struct simulator *s, const struct simulation_question *q)
{
    struct plan_options o = *s->o;
    struct reservation_credit credit = {.id = q->credit, .count = 1};
    o.removed = q->rows;
    o.removed_count = q->count;
    o.removed_for = q->why;
    o.reserved_mode = q->credit.len != 0 ? RESERVED_STRICT : RESERVED_FALLBACK;
    o.credits = &credit;
    o.credit_count = q->credit.len != 0;
    o.no_bound = true;
    return plan_solve(s->w, &o);
}

/* Of a node that is leaving anyway: such pods may go to one that is still coming up. */
static bool was_leaving(const struct world *w, const struct pod *p)
{
    int32_t row = world_find_node(w, sym_text(w->syms, p->node));
    return row >= 0 && w->nodes[row].leaving;
}

static bool is_coming_up(const struct world_node *n)
{
    return n->stage == NODE_LAUNCHING || n->stage == NODE_REGISTERED;
}

/* Pods that are not pending and would have no place, or one on a node that is not initialised. */
static uint32_t count_unplaced(const struct plan *p)
{
    const struct world *w = p->world;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        count += p->unschedulable[i].pod->node != SYM_NONE;
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; is_coming_up(&w->nodes[p->nodes[i].row]) && k < p->nodes[i].pod_count; k++) {
            const struct pod *pod = p->nodes[i].pods[k];
            count += pod->node != SYM_NONE && !was_leaving(w, pod);
        }
    return count;
}

static bool names_leaving(const struct world *w, const struct simulation_question *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (w->nodes[q->rows[i]].leaving)
            return true;
    return false;
}

struct simulation simulate(struct simulator *s, const struct simulation_question *q)
{
    plan_free(s->last);
    s->last = NULL;
    s->told = false;
    if (names_leaving(s->w, q))
        return (struct simulation){.outcome = SIMULATED_LEAVING};
    if (s->w->option_count == 0)
        return (struct simulation){.outcome = SIMULATED_NO_POOLS};
    s->last = solve(s, q);
    struct simulation x = {.outcome = SIMULATED_PLACED, .claims = s->last->claim_count,
                           .unplaced = count_unplaced(s->last), .steps = s->last->steps};
    if (s->last->trial->stopped)
        x.outcome = SIMULATED_STOPPED;
    else if (x.unplaced != 0)
        x.outcome = SIMULATED_UNPLACED;
    return x;
}

double simulation_least_price(struct simulator *s, uint32_t claim)
{
    double price = s->last->claims[claim].price;
    return isnan(price) ? INFINITY : price;
}

const struct plan_claim *simulation_claim(struct simulator *s, uint32_t claim)
{
    return &s->last->claims[claim];
}

const struct symtab *simulation_syms(struct simulator *s)
{
    return s->last->syms;
}

const struct simulation_place *simulation_places(struct simulator *s, uint32_t *count_out)
{
    struct plan *p = s->last;
    struct simulation_place *list = NULL;
    uint32_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++) {
            struct simulation_place x = {p->nodes[i].pods[k], p->nodes[i].row};
            ARENA_PUSH(&p->arena, list, count, capacity, x);
        }
    *count_out = count;
    return list;
}

/* Of the trial's claims the one that is this in the plan, which leaves out who breaks its minValues: pods tell. */
static const struct trial_claim *claim_tried(const struct simulator *s, uint32_t claim)
{
    const struct trial *t = s->last->trial;
    for (uint32_t i = 0; i < t->step_count; i++) {
        const struct trial_step *step = &t->steps[i];
        if ((step->kind == TRIAL_OPENED || step->kind == TRIAL_ON_CLAIM) &&
            trial_pod(t, step->pod)->pod == s->last->claims[claim].pods[0])
            return &t->claims[step->target];
    }
    return NULL; /* no claim is without a pod */
}

bool simulation_admits(struct simulator *s, uint32_t claim, sym capacity_type)
{
    const struct trial *t = s->last->trial;
    const struct trial_claim *c = claim_tried(s, claim);
    const struct requirement *asked = requirements_get(&t->specs.items[c->spec].requirements, SYM_CAPACITY_TYPE);
    if (c->held != NULL)
        return capacity_type == SYM_RESERVED;
    return asked == NULL || requirement_has(asked, capacity_type, s->w->syms);
}

static void add_pod(struct buf *out, uint32_t at, const struct pod *p, struct span why)
{
    if (at < PODS_NAMED)
        buf_addf(out, "%s%.*s/%.*s => %.*s", at == 0 ? "" : "; ", SPAN_ARG(p->meta.ns),
                   SPAN_ARG(p->meta.name), SPAN_ARG(why));
}

struct span simulation_unplaced(struct simulator *s, struct arena *a)
{
    const struct world *w = s->w;
    struct plan *p = s->last;
    struct buf out = {0};
    uint32_t count = 0;
    if (!s->told)
        plan_tell(p);
    s->told = true;
    buf_addf(&out, "not all pods would schedule, ");
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].pod->node != SYM_NONE)
            add_pod(&out, count++, p->unschedulable[i].pod, p->unschedulable[i].why.sentence);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct world_node *n = &w->nodes[p->nodes[i].row];
        for (uint32_t k = 0; is_coming_up(n) && k < p->nodes[i].pod_count; k++) {
            const struct pod *pod = p->nodes[i].pods[k];
            if (pod->node == SYM_NONE || was_leaving(w, pod))
                continue;
            struct span why = arena_printf(a, "would schedule against uninitialized nodeclaim/%.*s, node/%.*s",
                                           SPAN_ARG(n->claim->meta.name), SPAN_ARG(n->name));
            add_pod(&out, count++, pod, why);
        }
    }
    if (count > PODS_NAMED)
        buf_addf(&out, " and %u other(s)", count - PODS_NAMED);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
}

struct plan *simulation_plan(const struct simulator *s, const struct simulation_question *q)
{
    return solve(s, q);
}

size_t simulator_memory(const struct simulator *s)
{
    const struct plan *p = s->last;
    return p == NULL ? 0 : p->arena.total + (p->trial_arena != NULL ? p->trial_arena->total : 0);
}
