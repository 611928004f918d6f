/* One trial is asked over and over (trial_stand). What lasts lies in `ground`: per row who would leave, per attempt
 * which rows refuse it, what spreads leave open. A question lies in `scratch`, what is told of it in `told`; specs of
 * claims are remembered until they are too many. */
#include "planner/disruption/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "planner/columns.h"
#include "planner/disruption/leavers.h"
#include "planner/explain/tell.h"
#include "planner/plan/admission.h"
#include "planner/plan/solution.h"
#include "planner/search/greedy.h"

enum {
    PODS_NAMED = 5,
    /* Of different mixes of pods on claims there is no end; a mix takes about a kilobyte. */
    MOST_SPECS = 16 << 20,
    /* Steps of a cheaper plan, of which a decision looks at some dozens; a plan of its own has 400,000. */
    CHEAPER_EFFORT = 20000,
};

struct simulator {
    const struct world *w;
    const struct plan_options *o;
    struct plan_options search; /* greedy's */
    struct arena ground, specs, scratch;
    struct trial trial;
    struct trial_ground stand;
    struct greedy *greedy;
    struct leavers leavers;
    uint32_t *waiting; /* numbers of the world's that a place is looked for, in greedy's order */
    uint32_t waiting_count;
    uint32_t waiting_unplaced; /* of leaving nodes, for whom none is looked */

    struct simulation_question question; /* the last one */
    uint32_t *queue; /* its pods; NULL: nobody was asked */
    uint8_t *outcome;
    uint32_t queued;
    uint32_t unplaced;  /* of those that leave, whom no place is looked for */
    uint32_t *claim_at; /* by number of a claim in the answer; NULL: they are the trial's */
    uint32_t claim_count;
    struct plan told;   /* its claims, and no more */
    bool has_told;
};

/* --- the ground --- */

static bool fails(const struct simulator *s, const struct waiting_pod *x)
{
    struct plan_unschedulable why;
    return admission_fails(s->w, &s->search, x, &why);
}

/* Those that wait in the world are part of every question. */
static void take_waiting(struct simulator *s)
{
    const struct world *w = s->w;
    s->waiting = ARENA_ARRAY(&s->ground, uint32_t, w->waiting_count);
    for (uint32_t i = 0; i < w->waiting_count; i++) {
        const struct waiting_pod *x = &w->waiting[i];
        if (!admission_takes(&s->search, x, false))
            continue;
        if (x->bound)
            trial_lift(&s->trial, x, (uint32_t)world_find_node(w, sym_text(w->syms, x->pod->node)));
        if (!fails(s, x))
            s->waiting[s->waiting_count++] = i;
        else
            s->waiting_unplaced += x->bound;
    }
    greedy_order(&s->trial, &s->scratch, s->waiting, s->waiting_count);
}

struct simulator *simulator_new(const struct world *w, const struct plan_options *o)
{
    struct simulator *s = mem_new(sizeof(*s));
    *s = (struct simulator){.w = w, .o = o, .search = *o};
    s->search.search = SEARCH_GREEDY;
    s->search.places = NULL;
    s->search.seating = NULL;
    s->search.arrival_count = 0;
    arena_init(&s->ground, 64 << 10);
    arena_init(&s->specs, 64 << 10);
    arena_init(&s->scratch, 64 << 10);
    arena_init(&s->told.arena, 0);
    struct trial *t = &s->trial;
    trial_init(t, &s->ground, w);
    specs_init(&t->specs, &s->specs, w);
    t->best_effort = o->best_effort_min_values;
    t->barred = o->barred;
    t->barred_count = o->barred_count;
    t->stop = o->stop;
    t->user = o->user;
    take_waiting(s);
    s->leavers = leavers_init(&s->ground, t, &s->search);
    s->greedy = greedy_new(t, &s->search, admission_closed(&s->ground, w, o->now));
    trial_stand(t, &s->scratch, &s->stand);
    return s;
}

void simulator_free(struct simulator *s)
{
    if (s == NULL)
        return;
    arena_release(&s->ground);
    arena_release(&s->specs);
    arena_release(&s->scratch);
    arena_release(&s->told.arena);
    free(s);
}

size_t simulator_memory(const struct simulator *s)
{
    return s->ground.total + s->specs.total + s->scratch.total + s->told.arena.total;
}

const struct row_leavers *simulation_leavers(struct simulator *s, uint32_t row)
{
    return leavers_of(&s->leavers, row);
}

/* As before the first question. */
static void go_back(struct simulator *s)
{
    trial_return(&s->trial, &s->stand);
    if (s->question.credit.len != 0)
        trial_credit(&s->trial, s->question.credit, -1);
    arena_clear(&s->scratch);
    if (s->has_told)
        arena_clear(&s->told.arena);
    if (s->specs.total > MOST_SPECS) {
        arena_release(&s->specs);
        specs_init(&s->trial.specs, &s->specs, s->w);
    }
    s->queue = NULL;
    s->claim_at = NULL;
    s->has_told = false;
    s->queued = s->unplaced = s->claim_count = 0;
}

/* --- who goes where --- */

static void remove_row(struct simulator *s, uint32_t row, bool forced)
{
    struct trial *t = &s->trial;
    const struct row_leavers *r = leavers_of(&s->leavers, row);
    uint32_t first = trial_pod_count(t);
    trial_remove_known(t, row, r->pods, r->count);
    for (uint32_t i = 0; i < r->order_count; i++) {
        uint32_t number = first + r->order[i];
        if (r->forced[i] && !forced)
            continue;
        const struct waiting_pod *x = trial_pod(t, number);
        trial_lift(t, x, row);
        if (fails(s, x))
            s->unplaced++;
        else
            s->queue[s->queued++] = number;
    }
}

/* The first of those that wait that comes after the pod. */
static uint32_t place_among(const struct simulator *s, uint32_t from, uint32_t pod)
{
    const struct trial *t = &s->trial;
    uint32_t low = from, high = s->waiting_count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (greedy_compare(t, trial_pod(t, s->waiting[mid]), trial_pod(t, pod)) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Those who leave, in order, come between those who wait. */
static void merge_waiting(struct simulator *s)
{
    if (s->waiting_count == 0)
        return;
    uint32_t *all = ARENA_ARRAY(&s->scratch, uint32_t, (size_t)s->queued + s->waiting_count), count = 0, at = 0;
    for (uint32_t i = 0; i <= s->queued; i++) {
        uint32_t to = i < s->queued ? place_among(s, at, s->queue[i]) : s->waiting_count;
        memcpy(&all[count], &s->waiting[at], (to - at) * sizeof(*all));
        count += to - at;
        at = to;
        if (i < s->queued)
            all[count++] = s->queue[i];
    }
    s->queue = all;
    s->queued = count;
}

static void remove_all(struct simulator *s, const struct simulation_question *q)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < q->count; i++)
        most += leavers_of(&s->leavers, q->rows[i])->order_count;
    s->queue = ARENA_ARRAY(&s->scratch, uint32_t, most);
    for (uint32_t i = 0; i < q->count; i++)
        remove_row(s, q->rows[i], q->why == REMOVAL_REPAIR);
    if (q->count > 1)
        greedy_order(&s->trial, &s->scratch, s->queue, s->queued);
    merge_waiting(s);
}

/* --- the answer --- */

/* A claim whose list of types, cut to what may be listed, breaks minValues is not made (provisioning 5.1). */
static bool may_be_dropped(const struct simulator *s)
{
    const struct trial *t = &s->trial;
    for (uint32_t i = 0; i < t->claim_count; i++)
        if (s->w->options[t->specs.items[t->claims[i].spec].option].least_count != 0)
            return !t->best_effort;
    return false;
}

static struct listings start_listings(struct simulator *s)
{
    struct listings lists;
    listings_init(&lists, &s->scratch, s->w->syms, &s->search, &s->trial);
    return lists;
}

static void find_claims(struct simulator *s)
{
    struct trial *t = &s->trial;
    s->claim_count = t->claim_count;
    if (!may_be_dropped(s))
        return;
    struct listings lists = start_listings(s);
    s->claim_at = ARENA_ARRAY(&s->scratch, uint32_t, t->claim_count);
    s->claim_count = 0;
    uint8_t *made = ARENA_ARRAY(&s->scratch, uint8_t, t->claim_count);
    for (uint32_t i = 0; i < t->claim_count; i++) {
        made[i] = listing_holds(t, i, listing_of(&lists, t, i));
        if (made[i])
            s->claim_at[s->claim_count++] = i;
    }
    for (uint32_t i = s->stand.step_count; i < t->step_count; i++)
        if ((t->steps[i].kind == TRIAL_ON_CLAIM || t->steps[i].kind == TRIAL_OPENED) && !made[t->steps[i].target])
            s->outcome[t->steps[i].pod] = OUTCOME_MIN_VALUES;
}

static bool is_coming_up(const struct world_node *n)
{
    return n->stage == NODE_LAUNCHING || n->stage == NODE_REGISTERED;
}

/* Of a node that the question removes. Those of leaving nodes may go to one that is still coming up. */
static bool is_leaver(const struct simulator *s, const struct pod *p)
{
    for (uint32_t i = 0; i < s->trial.moved_count; i++)
        if (s->trial.moved[i].pod == p)
            return true;
    return false;
}

/* Pods that are not pending and have no place, or, unless their node was leaving anyway, one on a node that is not
 * initialised. */
static uint32_t count_unplaced(const struct simulator *s)
{
    const struct trial *t = &s->trial;
    uint32_t count = s->unplaced + s->waiting_unplaced;
    for (uint32_t i = 0; i < s->queued; i++)
        count += s->outcome[s->queue[i]] != OUTCOME_PLACED && trial_pod(t, s->queue[i])->bound;
    for (uint32_t i = s->stand.step_count; i < t->step_count; i++)
        count += t->steps[i].kind == TRIAL_ON_NODE && trial_is_moved(t, t->steps[i].pod) &&
                 is_coming_up(&s->w->nodes[t->steps[i].target]);
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
    struct trial *t = &s->trial;
    go_back(s);
    s->question = *q;
    uint32_t *rows = ARENA_ARRAY(&s->scratch, uint32_t, q->count);
    if (q->count != 0)
        memcpy(rows, q->rows, q->count * sizeof(*rows));
    s->question.rows = rows;
    t->fallback = q->credit.len == 0;
    if (q->credit.len != 0)
        trial_credit(t, q->credit, 1);
    if (names_leaving(s->w, q))
        return (struct simulation){.outcome = SIMULATED_LEAVING};
    if (s->w->option_count == 0)
        return (struct simulation){.outcome = SIMULATED_NO_POOLS};
    remove_all(s, q);
    s->outcome = ARENA_ARRAY(&s->scratch, uint8_t, trial_pod_count(t));
    bool keeps_off = q->why == REMOVAL_CONSOLIDATION && q->count != 0;
    bool ended = greedy_again(s->greedy, keeps_off, s->queue, s->queued, s->outcome);
    find_claims(s);
    struct simulation x = {.claims = s->claim_count, .unplaced = count_unplaced(s), .steps = t->asked};
    x.outcome = !ended ? SIMULATED_STOPPED : x.unplaced != 0 ? SIMULATED_UNPLACED : SIMULATED_PLACED;
    return x;
}

/* --- what is told of it --- */

static uint32_t claim_of(const struct simulator *s, uint32_t claim)
{
    return s->claim_at != NULL ? s->claim_at[claim] : claim;
}

/* Reservations that it holds, and such as only a credit makes free, are in no price that is worked out once. */
double simulation_least_price(struct simulator *s, uint32_t claim)
{
    struct trial *t = &s->trial;
    uint32_t at = claim_of(s, claim);
    double price;
    if (t->claims[at].held == NULL && s->question.credit.len == 0)
        return trial_claim_price(t, at);
    struct listings lists = start_listings(s);
    listing_price(&lists, t, at, &price);
    return isnan(price) ? INFINITY : price;
}

bool simulation_admits(struct simulator *s, uint32_t claim, sym capacity_type)
{
    const struct trial *t = &s->trial;
    const struct trial_claim *c = &t->claims[claim_of(s, claim)];
    const struct requirement *asked = requirements_get(&t->specs.items[c->spec].requirements, SYM_CAPACITY_TYPE);
    if (c->held != NULL)
        return capacity_type == SYM_RESERVED;
    return asked == NULL || requirement_has(asked, capacity_type, s->w->syms);
}

/* Claims with their pods, as a plan has them. */
static const struct plan *tell_claims(struct simulator *s)
{
    struct trial *t = &s->trial;
    struct plan *p = &s->told;
    if (s->has_told)
        return p;
    s->has_told = true;
    *p = (struct plan){.arena = p->arena, .world = s->w};
    p->syms = symtab_new_local(s->w->syms, &p->arena);
    uint32_t *claim_at = solution_claims(p, t, &s->search);
    for (uint32_t i = s->stand.step_count; i < t->step_count; i++) {
        const struct trial_step *step = &t->steps[i];
        if ((step->kind != TRIAL_ON_CLAIM && step->kind != TRIAL_OPENED) || claim_at[step->target] == 0)
            continue;
        struct plan_claim *c = (struct plan_claim *)&p->claims[claim_at[step->target] - 1];
        ((const struct pod **)c->pods)[c->pod_count++] = trial_pod(t, step->pod)->pod;
    }
    return p;
}

const struct plan_claim *simulation_claim(struct simulator *s, uint32_t claim)
{
    return &tell_claims(s)->claims[claim];
}

const struct symtab *simulation_syms(struct simulator *s)
{
    return tell_claims(s)->syms;
}

struct seat {
    struct simulation_place place;
    uint32_t at; /* in the log */
};

static int seat_order(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->place.row != y->place.row)
        return x->place.row < y->place.row ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

const struct simulation_place *simulation_places(struct simulator *s, uint32_t *count_out)
{
    const struct trial *t = &s->trial;
    uint32_t most = t->step_count - s->stand.step_count, count = 0;
    struct seat *seats = ARENA_ARRAY(&s->scratch, struct seat, most);
    for (uint32_t i = s->stand.step_count; i < t->step_count; i++)
        if (t->steps[i].kind == TRIAL_ON_NODE)
            seats[count++] = (struct seat){{trial_pod(t, t->steps[i].pod)->pod, t->steps[i].target}, i};
    if (count != 0)
        qsort(seats, count, sizeof(*seats), seat_order);
    struct simulation_place *places = ARENA_ARRAY(&s->scratch, struct simulation_place, count);
    for (uint32_t i = 0; i < count; i++)
        places[i] = seats[i].place;
    *count_out = count;
    return places;
}

/* --- whole plans --- */

struct plan *simulation_plan(const struct simulator *s, const struct simulation_question *q)
{
    struct plan_options o = s->search;
    struct reservation_credit credit = {.id = q->credit, .count = 1};
    o.removed = q->rows;
    o.removed_count = q->count;
    o.removed_for = q->why;
    o.reserved_mode = q->credit.len != 0 ? RESERVED_STRICT : RESERVED_FALLBACK;
    o.credits = &credit;
    o.credit_count = q->credit.len != 0;
    o.no_bound = true;
    if (q->cheaper) {
        o.search = SEARCH_CHEAPEST;
        o.effort = CHEAPER_EFFORT;
    }
    return plan_solve(s->w, &o);
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
    struct plan *p = simulation_plan(s, &s->question);
    struct buf out = {0};
    uint32_t count = 0, places;
    plan_tell(p);
    buf_addf(&out, "not all pods would schedule, ");
    for (uint32_t i = 0; i < p->unschedulable_count; i++)
        if (p->unschedulable[i].pod->node != SYM_NONE)
            add_pod(&out, count++, p->unschedulable[i].pod, p->unschedulable[i].why.sentence);
    const struct simulation_place *place = simulation_places(s, &places);
    for (uint32_t i = 0; i < places; i++) {
        const struct world_node *n = &w->nodes[place[i].row];
        if (!is_coming_up(n) || !is_leaver(s, place[i].pod))
            continue;
        struct span why = arena_printf(a, "would schedule against uninitialized nodeclaim/%.*s, node/%.*s",
                                       SPAN_ARG(n->claim->meta.name), SPAN_ARG(n->name));
        add_pod(&out, count++, place[i].pod, why);
    }
    if (count > PODS_NAMED)
        buf_addf(&out, " and %u other(s)", count - PODS_NAMED);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    plan_free(p);
    return text;
}
