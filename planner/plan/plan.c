#include "planner/plan/plan.h"

#include "planner/arrivals.h"
#include "planner/plan/admission.h"
#include "planner/plan/seating.h"
#include "planner/plan/solution.h"
#include "planner/search/cheapest.h"
#include "planner/search/greedy.h"

#include <stdlib.h>

const char *unschedulable_name(enum unschedulable_reason r)
{
    static const char *const names[UNSCHEDULABLE_COUNT] = {
        [UNSCHEDULABLE] = "Unschedulable",
        [UNSCHEDULABLE_RESERVED] = "ReservedOfferingUnavailable",
        [UNSCHEDULABLE_DRA] = "DynamicResourcesNotSupported",
        [UNSCHEDULABLE_NO_POOLS] = "NoNodePools",
        [UNSCHEDULABLE_IGNORED] = "Ignored",
        [UNSCHEDULABLE_NOT_REACHED] = "NotReached",
    };
    return names[r];
}

struct solving {
    struct plan *p;
    const struct world *w;
    const struct plan_options *o;
    struct trial trial;
    uint32_t *moving; /* bound pods that are to stand elsewhere */
    uint32_t moving_count;
    uint32_t *queue;
    uint32_t queued;
    const uint32_t *admitted; /* the queue before any of it was seated */
    uint32_t admitted_count;
    bool keeps_all; /* room for an arrival on each of its rows, else on one */
    uint64_t *arriving; /* numbers of arrivals that wait; NULL: no arrivals */
    uint8_t *outcome; /* by waiting pod */
    struct seated seated; /* by o->seating */
    uint32_t *claim_at; /* by claim of the trial: its place in the plan, + 1; 0: dropped */
    struct plan_unschedulable *failed;
    uint32_t failed_count, failed_capacity;
};

static void fail(struct solving *s, struct plan_unschedulable how, const struct waiting_pod *x)
{
    how.pod = x->pod;
    how.class_id = x->class_id;
    ARENA_PUSH(&s->p->arena, s->failed, s->failed_count, s->failed_capacity, how);
}

/* --- who is in the pass --- */

static uint32_t row_of(const struct world *w, const struct pod *bound)
{
    return (uint32_t)world_find_node(w, sym_text(w->syms, bound->node));
}

static uint32_t number_of(const struct world *w, const struct pod *waiting)
{
    return (uint32_t)(world_unbound(w, waiting->meta.uid) - w->waiting);
}

static bool is_arriving(const struct solving *s, uint32_t index)
{
    return s->arriving != NULL && bits_has(s->arriving, index);
}

static void admit(struct solving *s, uint32_t index)
{
    const struct waiting_pod *x = trial_pod(&s->trial, index);
    bool forced = trial_is_moved(&s->trial, index) && s->o->removed_for == REMOVAL_REPAIR;
    struct plan_unschedulable how;
    if (!admission_takes(s->o, x, forced) || is_arriving(s, index))
        return;
    s->p->waiting++;
    if (x->bound)
        s->moving[s->moving_count++] = index;
    if (admission_fails(s->w, s->o, x, &how))
        fail(s, how, x);
    else
        s->queue[s->queued++] = index;
}

/* NULL: none are closed. */
static const uint64_t *closed_rows(struct solving *s)
{
    if (s->o->removed_count == 0 || s->o->removed_for != REMOVAL_CONSOLIDATION)
        return NULL;
    return admission_closed(&s->p->arena, s->w, s->o->now);
}

/* --- what came of it --- */

static enum unschedulable_reason reason_of(enum search_outcome o)
{
    return o == OUTCOME_NOT_REACHED || o == OUTCOME_LONG ? UNSCHEDULABLE_NOT_REACHED
           : o == OUTCOME_RESERVED                       ? UNSCHEDULABLE_RESERVED
                                                         : UNSCHEDULABLE;
}

static int failed_order(const void *a, const void *b)
{
    const struct plan_unschedulable *x = a, *y = b;
    int order = span_cmp(x->pod->meta.ns, y->pod->meta.ns);
    return order != 0 ? order : span_cmp(x->pod->meta.name, y->pod->meta.name);
}

static void note_failures(struct solving *s)
{
    for (uint32_t i = 0; i < s->queued; i++) {
        enum search_outcome outcome = s->outcome[s->queue[i]];
        if (outcome != OUTCOME_PLACED)
            fail(s, (struct plan_unschedulable){.failure = FAILED_SEARCH, .outcome = outcome,
                                                .reason = reason_of(outcome)},
                 trial_pod(&s->trial, s->queue[i]));
    }
    if (s->failed_count != 0)
        qsort(s->failed, s->failed_count, sizeof(*s->failed), failed_order);
    s->p->unschedulable = s->failed;
    s->p->unschedulable_count = s->failed_count;
}

/* The log has every placement in the order of the search, which is one in which the scheduler can
 * bind them: nothing that comes later is needed by what came before. */
static void build_placements(struct solving *s)
{
    struct plan *p = s->p;
    const struct trial *t = &s->trial;
    struct plan_claim *claims = (struct plan_claim *)p->claims;
    uint32_t *node_of_row = ARENA_ARRAY(&p->arena, uint32_t, s->w->node_count); /* pods */
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < t->step_count; i++)
        if (t->steps[i].kind == TRIAL_ON_NODE && !is_arriving(s, t->steps[i].pod))
            nodes += node_of_row[t->steps[i].target]++ == 0;
    struct plan_node *list = ARENA_ARRAY(&p->arena, struct plan_node, nodes);
    uint32_t *rows = ARENA_ARRAY(&p->arena, uint32_t, s->w->waiting_count);
    p->nodes = list;
    p->rows = rows;
    p->row_count = s->w->waiting_count;
    if (s->o->seating != NULL)
        seating_tell(&s->seated, p, rows);
    for (uint32_t row = 0; row < s->w->node_count; row++) {
        if (node_of_row[row] == 0)
            continue;
        list[p->node_count] = (struct plan_node){
            .row = row, .pods = ARENA_ARRAY(&p->arena, const struct pod *, node_of_row[row])};
        node_of_row[row] = p->node_count++;
    }
    for (uint32_t i = 0; i < t->step_count; i++) {
        const struct trial_step *step = &t->steps[i];
        if (step->kind > TRIAL_OPENED || is_arriving(s, step->pod))
            continue;
        const struct pod *pod = trial_pod(t, step->pod)->pod;
        if (step->kind == TRIAL_ON_NODE && !trial_is_moved(t, step->pod) && !pod->is_virtual)
            rows[step->pod] = step->target + 1;
        if (step->kind == TRIAL_ON_NODE) {
            struct plan_node *n = &list[node_of_row[step->target]];
            ((const struct pod **)n->pods)[n->pod_count++] = pod;
        } else if (s->claim_at[step->target] != 0) {
            struct plan_claim *c = &claims[s->claim_at[step->target] - 1];
            ((const struct pod **)c->pods)[c->pod_count++] = pod;
        } else {
            s->outcome[step->pod] = OUTCOME_MIN_VALUES;
        }
    }
}

/* --- the search --- */

/* On a host of its own: behind all rows and claims. */
static void seat_guest(const struct solving *s, struct arena *a, struct trial *t, uint32_t number)
{
    const struct guest *g = &s->o->guests[number];
    const struct topology *all = &s->w->topology;
    int32_t class_id = world_class_of(s->w, g->pod), *domain_of = ARENA_ARRAY(a, int32_t, all->key_count);
    struct requirements labels = requirements_of_labels(a, s->p->syms, g->node->meta.labels);
    for (uint32_t k = 1; k < all->key_count; k++) {
        const struct requirement *r = requirements_get(&labels, all->keys[k].key);
        domain_of[k] = r != NULL ? topology_domain(&all->keys[k], r->values[0]) : DOMAIN_NONE;
    }
    struct tally_claim c = {.target = UINT32_MAX - number, .requirements = &labels, .taints = g->node->taints,
                            .domain_of = domain_of};
    if (class_id >= 0)
        tally_move_claim(&t->tally, &s->w->classes.items[class_id], &c, 1);
}

static void start_trial(struct solving *s, struct arena *a, struct trial *t)
{
    trial_init(t, a, s->w);
    t->best_effort = s->o->best_effort_min_values;
    t->barred = s->o->barred;
    t->barred_count = s->o->barred_count;
    t->stop = s->o->stop;
    t->user = s->o->user;
    t->fallback = s->o->reserved_mode == RESERVED_FALLBACK;
    for (uint32_t i = 0; i < s->o->credit_count; i++)
        trial_credit(t, s->o->credits[i].id, s->o->credits[i].count);
    for (uint32_t i = 0; i < s->o->removed_count; i++)
        trial_remove_node(t, s->o->removed[i]);
    for (uint32_t i = 0; i < s->o->guest_count; i++)
        seat_guest(s, a, t, i);
}

/* Who moves is counted where it comes to stand. */
static void lift_moving(struct solving *s, struct trial *t)
{
    for (uint32_t i = 0; i < s->moving_count; i++) {
        const struct waiting_pod *x = trial_pod(t, s->moving[i]);
        trial_lift(t, x, row_of(s->w, x->pod));
    }
}

/* --- who is about to be bound --- */

static void find_arriving(struct solving *s)
{
    const struct world *w = s->w;
    if (s->o->arrival_count == 0)
        return;
    s->arriving = ARENA_ARRAY(&s->p->arena, uint64_t, bits_words(trial_pod_count(&s->trial)));
    for (uint32_t i = 0; i < s->o->arrival_count; i++)
        if (s->o->arrivals[i].waits != NULL)
            bits_add(s->arriving, number_of(w, s->o->arrivals[i].waits));
}

/* The index of the row where it stands in this plan, the first with room for it. */
static uint32_t receive(struct solving *s, struct trial *t, const struct arrival *x)
{
    const struct world *w = s->w;
    if (x->waits != NULL) {
        uint32_t number = number_of(w, x->waits), at = greedy_receive(t, number, x->rows, x->row_count);
        s->outcome[number] = at != x->row_count ? OUTCOME_PLACED : OUTCOME_NOT_REACHED;
        return at;
    }
    for (uint32_t i = 0; i < x->row_count; i++)
        if (!trial_is_gone(t, x->rows[i]) &&
            vector_fits(w, x->requests, trial_left(t, x->rows[i]))) {
            trial_keep(t, x->rows[i], x->requests);
            return i;
        }
    return x->row_count;
}

/* Those of whom it is certain where they go are as good as there; of the others those who have a place need not
 * give way, since they were told of room that was left beside the places. Where none of its rows has room, since
 * somebody has gone from there whom we still see, what is left of the likeliest is its own. */
static void receive_all(struct solving *s, struct trial *t, bool sure)
{
    for (uint32_t i = 0; i < s->o->arrival_count; i++) {
        const struct arrival *x = &s->o->arrivals[i];
        if (x->sure != sure)
            continue;
        uint32_t at = receive(s, t, x), kept = s->keeps_all ? x->row_count : at == x->row_count;
        for (uint32_t k = 0; k < kept; k++)
            if (k != at)
                trial_keep(t, x->rows[k], x->requests);
    }
}

/* Another trial as the first was before the search: equal pods are seated equally, but for the unseated. */
static void start_again(void *user, struct arena *a, const uint64_t *unseated, struct trial *t)
{
    struct solving *s = user;
    start_trial(s, a, t);
    lift_moving(s, t);
    receive_all(s, t, true);
    if (s->o->places != NULL) {
        uint32_t *queue = ARENA_ARRAY(a, uint32_t, s->admitted_count), count = 0;
        uint8_t *outcome = ARENA_ARRAY(a, uint8_t, trial_pod_count(t));
        for (uint32_t i = 0; i < s->admitted_count; i++)
            if (unseated == NULL || !bits_has(unseated, s->admitted[i]))
                queue[count++] = s->admitted[i];
        count = greedy_seat_sent(t, s->o->places, queue, count, outcome);
        seating_sit_again(&s->seated, t);
        greedy_seat(t, s->o->places, queue, count, outcome);
    }
    receive_all(s, t, false);
}

/* Whom the scheduler has sent somewhere is as good as there; then those who keep their places, then the rest. */
static void seat(struct solving *s)
{
    struct trial *t = &s->trial;
    uint32_t *admitted = ARENA_ARRAY(&s->p->arena, uint32_t, s->admitted_count), count = s->queued;
    if (count != 0)
        memcpy(admitted, s->queue, count * sizeof(*admitted));
    s->queued = greedy_seat_sent(t, s->o->places, s->queue, s->queued, s->outcome);
    uint32_t asked = s->queued;
    s->queued = seating_sit(&s->seated, t, s->queue, s->queued, s->outcome);
    for (uint32_t i = asked; i < s->queued; i++)
        admitted[count++] = s->queue[i];
    if (asked != s->queued) {
        greedy_order(t, &s->p->arena, admitted, count);
        greedy_order(t, &s->p->arena, s->queue, s->queued);
    }
    s->admitted = admitted;
    s->admitted_count = count;
    s->queued = greedy_seat(t, s->o->places, s->queue, s->queued, s->outcome);
}

static void search(struct solving *s)
{
    struct plan *p = s->p;
    s->admitted = s->queue;
    s->admitted_count = s->queued;
    if (s->o->seating != NULL)
        s->queued = seating_take(&s->seated, &p->arena, &s->trial, s->o->seating, s->queue, s->queued);
    greedy_order(&s->trial, &p->arena, s->queue, s->queued);
    lift_moving(s, &s->trial);
    receive_all(s, &s->trial, true);
    if (s->o->places != NULL && s->admitted_count != 0)
        seat(s);
    receive_all(s, &s->trial, false);
    struct cheapest c = {.arena = &p->arena, .syms = p->syms, .options = s->o, .closed = closed_rows(s), .queue = s->queue,
                         .count = s->queued, .admitted = s->admitted,
                         .admitted_count = s->admitted_count, .start = start_again, .user = s};
    if (s->o->search == SEARCH_CHEAPEST) {
        p->complete = cheapest_run(&c, &s->trial, s->outcome);
        p->steps = c.steps;
        p->trial_arena = c.trial_arena;
    } else {
        p->complete = greedy_run(&s->trial, s->o, c.closed, s->queue, s->queued, s->outcome);
        p->steps = s->trial.asked;
    }
    p->complete = p->complete && !s->trial.cut_short;
}

static struct plan *solve(const struct world *w, const struct plan_options *o, bool keeps_all)
{
    struct plan *p = mem_new(sizeof(*p));
    arena_init(&p->arena, 64 << 10);
    p->world = w;
    p->syms = symtab_new_local(w->syms, &p->arena);
    struct solving s = {.p = p, .w = w, .o = o, .keeps_all = keeps_all};
    p->most_types = listing_most_types(o);
    start_trial(&s, &p->arena, &s.trial);
    uint32_t pods = trial_pod_count(&s.trial);
    s.moving = ARENA_ARRAY(&p->arena, uint32_t, pods);
    s.queue = ARENA_ARRAY(&p->arena, uint32_t, pods);
    s.outcome = ARENA_ARRAY(&p->arena, uint8_t, pods);
    find_arriving(&s);
    for (uint32_t i = 0; i < pods; i++)
        admit(&s, i);
    search(&s);

    s.claim_at = solution_claims(p, &s.trial, o);
    build_placements(&s);
    solution_cost(p, &s.trial, o->no_bound);
    note_failures(&s);
    solution_closed(p, &s.trial);
    p->trial = ARENA_NEW(&p->arena, struct trial);
    *p->trial = s.trial;
    return p;
}

static bool is_guessed(const struct plan_options *o)
{
    for (uint32_t i = 0; i < o->arrival_count; i++)
        if (o->arrivals[i].row_count > 1)
            return true;
    return false;
}

/* NAN is neither more nor less. */
static bool costs_more(const struct plan *a, const struct plan *b)
{
    if (a->unschedulable_count != b->unschedulable_count)
        return a->unschedulable_count > b->unschedulable_count;
    return a->cost_after > b->cost_after || a->claim_count > b->claim_count;
}

/* Room that is kept on several nodes for one pod is nothing to buy a node for. */
struct plan *plan_solve(const struct world *w, const struct plan_options *o)
{
    struct plan *p = solve(w, o, true);
    if ((p->claim_count == 0 && p->unschedulable_count == 0) || !is_guessed(o))
        return p;
    struct plan *other = solve(w, o, false);
    bool more = costs_more(p, other);
    plan_free(more ? p : other);
    return more ? other : p;
}

void plan_free(struct plan *p)
{
    if (p == NULL)
        return;
    if (p->trial_arena != NULL)
        arena_release(p->trial_arena);
    free(p->trial_arena);
    arena_release(&p->arena);
    free(p);
}
