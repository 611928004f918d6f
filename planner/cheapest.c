#include "planner/cheapest.h"

#include <math.h>
#include <stdlib.h>

#include "planner/packing/fill.h"

enum { LOOKS = 64 };
static const uint64_t DEFAULT_EFFORT = 400000;
static const double BULK = 0.2; /* see fill_init */
static const double SAME = 1e-9; /* prices that differ by less are equal, relative */

/* --- which plan is better --- */

struct worth {
    double price;   /* of claims whose price is known */
    uint32_t unpriced;
};

/* A claim that would not be made takes its pods with it. */
static void drop_claim(const struct trial *t, uint32_t claim, uint8_t *outcome)
{
    for (uint32_t i = 0; i < t->step_count; i++)
        if (t->steps[i].target == claim &&
            (t->steps[i].kind == TRIAL_ON_CLAIM || t->steps[i].kind == TRIAL_OPENED))
            outcome[t->steps[i].pod] = OUTCOME_MIN_VALUES;
}

static struct worth judge(struct cheapest *c, struct trial *t, uint8_t *outcome)
{
    struct worth w = {0};
    struct solution_lists lists;
    solution_lists_init(&lists, c->plan, t);
    for (uint32_t i = 0; i < t->claim_count; i++) {
        double price;
        if (!solution_price(c->plan, t, &lists, c->options, i, &price))
            drop_claim(t, i, outcome);
        else if (isnan(price))
            w.unpriced++;
        else
            w.price += price;
    }
    return w;
}

struct ranked {
    int32_t priority;
    uint32_t pod, place;
};

static int ranked_order(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* The queue with the highest priority first. */
static uint32_t *by_priority(const struct cheapest *c, const struct trial *t)
{
    struct arena *a = &c->plan->arena;
    struct ranked *list = ARENA_ARRAY(a, struct ranked, c->count);
    uint32_t *out = ARENA_ARRAY(a, uint32_t, c->count);
    for (uint32_t i = 0; i < c->count; i++)
        list[i] = (struct ranked){trial_pod(t, c->queue[i])->pod->priority, c->queue[i], i};
    if (c->count != 0)
        qsort(list, c->count, sizeof(*list), ranked_order);
    for (uint32_t i = 0; i < c->count; i++)
        out[i] = list[i].pod;
    return out;
}

/* Above 0 when `a` places more pods of the highest priority at which the two differ. */
static int64_t more_placed(const struct cheapest *c, const struct trial *t,
                           const uint32_t *ranking, const uint8_t *a, const uint8_t *b)
{
    int64_t more = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        more += (a[ranking[i]] == OUTCOME_PLACED) - (b[ranking[i]] == OUTCOME_PLACED);
        if (more != 0 && (i + 1 == c->count || trial_pod(t, ranking[i])->pod->priority !=
                                                   trial_pod(t, ranking[i + 1])->pod->priority))
            return more;
    }
    return 0;
}

/* --- one plan by packing --- */

struct bought {
    uint32_t product;
    uint32_t claim;
};

struct packer {
    struct cheapest *c;
    struct trial *t;
    uint8_t *outcome;
    uint64_t limit; /* of steps */
    struct stock stock;
    struct fill fill;
    double *promise; /* by product: value for the price, when last looked at; below 0: cannot be had */
    bool *fresh;     /* by product: looked at since the last purchase */
    struct bought *bought;
    uint32_t bought_count, bought_capacity;
};

static uint64_t steps_of(const struct packer *k)
{
    return k->t->asked + k->fill.looks / LOOKS;
}

/* Whether the claim can be had for the product's price. */
static bool still_sold(const struct packer *k, const struct product *p, uint32_t claim)
{
    const struct trial_claim *x = &k->t->claims[claim];
    return bits_has(x->types, p->type) &&
           specs_prices(&k->t->specs, x->spec)[p->type] <= p->price * (1 + SAME);
}

enum { NO_CLAIM = UINT32_MAX };

/* Whether the pod is to wait for a reservation of an option that is asked before this one. */
static bool waits_elsewhere(struct packer *k, uint32_t option, uint32_t pod, uint32_t class_id,
                            const struct attempt *try)
{
    struct trial *t = k->t;
    enum opening answer = OPEN_TYPES;
    uint32_t mark = trial_mark(t);
    if (t->fallback || t->world->types.reservation_count == 0)
        return false;
    for (uint32_t i = 0; i < option && answer != OPEN_YES && answer != OPEN_RESERVED; i++)
        answer = trial_open(t, i, pod, class_id, try);
    trial_undo(t, mark);
    return answer == OPEN_RESERVED;
}

/* Opens a claim with the pod. */
static enum opening open_claim(struct packer *k, uint32_t option, uint32_t pod, uint32_t class_id,
                               const struct attempt *try)
{
    if (waits_elsewhere(k, option, pod, class_id, try))
        return OPEN_RESERVED;
    return trial_open(k->t, option, pod, class_id, try);
}

/* Pods of the lot are to wait for a reservation: they are left to greedy. */
static void leave_waiting(struct packer *k, struct lot *l)
{
    for (uint32_t i = l->next; i < l->count; i++)
        k->outcome[l->pods[i]] = OUTCOME_RESERVED;
    l->value = 0;
}

/* Puts the lot's next pod on the claim, or opens it. */
static bool put(struct packer *k, const struct product *p, struct lot *l, uint32_t *claim)
{
    struct trial *t = k->t;
    uint32_t count, pod = l->pods[l->next];
    const struct attempt *try = stock_attempts(&k->stock, l->class_id, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mark = trial_mark(t);
        if (try[i].soft && !t->world->soft_taints)
            break;
        if (*claim == NO_CLAIM) {
            enum opening answer = open_claim(k, p->option, pod, l->class_id, &try[i]);
            if (answer == OPEN_RESERVED) {
                leave_waiting(k, l);
                return false;
            }
            if (answer != OPEN_YES)
                continue;
            *claim = t->claim_count - 1;
            if (still_sold(k, p, *claim))
                return true;
            *claim = NO_CLAIM;
        } else {
            uint32_t before = t->claims[*claim].spec;
            if (trial_place_on_claim(t, *claim, pod, l->class_id, &try[i]) != ANSWER_YES)
                continue;
            if (t->claims[*claim].spec == before || still_sold(k, p, *claim))
                return true;
        }
        trial_undo(t, mark);
    }
    return false;
}

/* Puts on the claim, or on a new one, what the fill proposes. */
static uint32_t load(struct packer *k, const struct product *p, uint32_t claim)
{
    uint32_t lot, count;
    while (fill_next(&k->fill, &lot, &count)) {
        struct lot *l = &k->stock.lots[lot];
        uint32_t went = 0;
        while (went < count && put(k, p, l, &claim)) {
            k->outcome[l->pods[l->next++]] = OUTCOME_PLACED;
            went++;
        }
        fill_commit(&k->fill, lot, count, went);
    }
    return claim;
}

/* The product that promises most now, or -1. What was promised before only gets less. */
static int32_t best_product(struct packer *k)
{
    const struct stock *s = &k->stock;
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < s->product_count; i++)
            if (best == UINT32_MAX || k->promise[i] > k->promise[best])
                best = i;
        if (best == UINT32_MAX || k->promise[best] <= 0)
            return -1;
        if (k->fresh[best])
            return (int32_t)best;
        k->fresh[best] = true;
        double value = fill_value(&k->fill, &s->products[best]);
        k->promise[best] = value / fmax(s->products[best].price, 1e-9);
    }
}

static bool out_of_steps(const struct packer *k)
{
    const struct plan_options *o = k->c->options;
    return steps_of(k) > k->limit || (o->stop != NULL && o->stop(o->user));
}

/* Buys until nobody who is left can be put anywhere. False: cut short. */
static bool buy_all(struct packer *k)
{
    const struct stock *s = &k->stock;
    int32_t best;
    while ((best = best_product(k)) >= 0) {
        if (out_of_steps(k))
            return false;
        const struct product *p = &s->products[best];
        fill_begin(&k->fill, p, NULL);
        uint32_t claim = load(k, p, NO_CLAIM);
        if (claim == NO_CLAIM) {
            k->promise[best] = -1;
            continue;
        }
        ARENA_PUSH(k->t->arena, k->bought, k->bought_count, k->bought_capacity,
                   ((struct bought){(uint32_t)best, claim}));
        memset(k->fresh, 0, s->product_count * sizeof(*k->fresh));
    }
    return true;
}

/* What was refused at first may be welcome now: spreading allows what it did not. */
static void top_up(struct packer *k)
{
    for (uint32_t i = 0; i < k->bought_count; i++) {
        const struct product *p = &k->stock.products[k->bought[i].product];
        fill_begin(&k->fill, p, k->t->claims[k->bought[i].claim].requests);
        load(k, p, k->bought[i].claim);
    }
}

/* Who stands on a node in greedy's plan goes there first. */
static void keep_on_nodes(struct packer *k, const struct trial *greedy)
{
    const struct world *w = k->t->world;
    for (uint32_t i = 0; i < greedy->step_count; i++) {
        const struct trial_step *step = &greedy->steps[i];
        if (step->kind != TRIAL_ON_NODE || k->outcome[step->pod] == OUTCOME_PLACED)
            continue;
        const struct pod_class *x = &w->classes.items[step->class_id];
        bool strict = k->c->options->ignore_preferences;
        uint32_t first = strict ? x->first_strict : x->first_attempt;
        uint32_t count = strict ? x->strict_count : x->attempt_count;
        for (uint32_t n = 0; n < count && k->outcome[step->pod] != OUTCOME_PLACED; n++) {
            const struct attempt *try = &w->classes.attempts[first + n];
            if (trial_ask_row(k->t, step->target, step->class_id, try) != ANSWER_YES ||
                world_suits(w, try, w->profile_of[step->target], NULL) != FIT_YES)
                continue;
            trial_place_on_node(k->t, step->target, step->pod, step->class_id, try);
            k->outcome[step->pod] = OUTCOME_PLACED;
        }
    }
}

/* Who has no place yet; `all`: those who wait for a reservation too. */
static uint32_t left_over(const struct packer *k, const uint32_t *pods, bool all, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->c->count; i++)
        if (k->outcome[pods[i]] != OUTCOME_PLACED &&
            (all || k->outcome[pods[i]] != OUTCOME_RESERVED))
            out[count++] = pods[i];
    return count;
}

/* Buys from options of one weight. */
static bool pack_from(struct packer *k, struct stock_source *from)
{
    const struct cheapest *c = k->c;
    uint64_t looks = k->fill.looks;
    uint32_t *left = ARENA_ARRAY(k->t->arena, uint32_t, c->count);
    from->ignore_preferences = c->options->ignore_preferences;
    from->pods = left;
    from->count = left_over(k, c->queue, false, left);
    if (!stock_build(&k->stock, k->t, from))
        return true;
    fill_init(&k->fill, &k->stock, BULK);
    k->fill.looks = looks;
    k->bought_count = 0;
    k->promise = ARENA_ARRAY(k->t->arena, double, k->stock.product_count);
    k->fresh = ARENA_ARRAY(k->t->arena, bool, k->stock.product_count);
    for (uint32_t i = 0; i < k->stock.product_count; i++)
        k->promise[i] = k->stock.products[i].bargain;
    if (!buy_all(k))
        return false;
    top_up(k);
    return true;
}

/* A pool of a higher weight is asked before others whatever it costs: that is what weights are for.
 * Options come with the highest weight first. */
static bool pack(struct packer *k, const struct trial *greedy, const uint32_t *ranking)
{
    const struct cheapest *c = k->c;
    const struct world *w = c->plan->world;
    uint32_t *left = ARENA_ARRAY(k->t->arena, uint32_t, c->count);
    keep_on_nodes(k, greedy);
    for (uint32_t first = 0, end = 0; first < w->option_count; first = end) {
        while (end < w->option_count &&
               w->options[end].pool->weight == w->options[first].pool->weight)
            end++;
        if (!pack_from(k, &(struct stock_source){.first_option = first, .end_option = end}))
            return false;
    }
    uint32_t count = left_over(k, ranking, true, left);
    return greedy_run(k->t, c->options, c->closed, left, count, k->outcome);
}

/* --- the search --- */

struct best {
    struct trial *trial;
    uint8_t *outcome;
    struct worth worth;
};

static void keep_better(struct cheapest *c, const uint32_t *ranking, struct best *best,
                        struct trial *t, uint8_t *outcome)
{
    struct worth w = judge(c, t, outcome);
    int64_t more = more_placed(c, t, ranking, outcome, best->outcome);
    bool cheaper = w.unpriced < best->worth.unpriced ||
                   (w.unpriced == best->worth.unpriced &&
                    w.price < best->worth.price - SAME * fabs(best->worth.price));
    if (more < 0 || (more == 0 && !cheaper))
        return;
    *best->trial = *t;
    memcpy(best->outcome, outcome, trial_pod_count(t));
    best->worth = w;
}

static bool all_placed(const struct cheapest *c, const uint8_t *outcome)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (outcome[c->queue[i]] != OUTCOME_PLACED)
            return false;
    return true;
}

static bool try_priority(struct cheapest *c, const uint32_t *ranking, struct best *best,
                         const uint8_t *seated)
{
    struct arena *a = &c->plan->arena;
    struct trial t;
    c->start(c->user, &t);
    uint8_t *outcome = ARENA_ARRAY(a, uint8_t, trial_pod_count(&t));
    memcpy(outcome, seated, trial_pod_count(&t));
    bool whole = greedy_run(&t, c->options, c->closed, ranking, c->count, outcome);
    c->steps += t.asked;
    if (whole)
        keep_better(c, ranking, best, &t, outcome);
    return whole;
}

static bool try_packing(struct cheapest *c, const uint32_t *ranking, struct best *best,
                        const struct trial *greedy, const uint8_t *seated, uint64_t limit)
{
    struct arena *a = &c->plan->arena;
    struct trial t;
    struct packer k = {.c = c, .t = &t, .limit = limit};
    c->start(c->user, &t);
    k.outcome = ARENA_ARRAY(a, uint8_t, trial_pod_count(&t));
    memcpy(k.outcome, seated, trial_pod_count(&t));
    bool whole = pack(&k, greedy, ranking);
    c->steps += steps_of(&k);
    if (whole)
        keep_better(c, ranking, best, &t, k.outcome);
    return whole;
}

bool cheapest_run(struct cheapest *c, struct trial *t, uint8_t *outcome_out)
{
    struct arena *a = &c->plan->arena;
    uint32_t pods = trial_pod_count(t);
    uint64_t effort = c->options->effort != 0 ? c->options->effort : DEFAULT_EFFORT;
    uint8_t *seated = ARENA_ARRAY(a, uint8_t, pods);
    memcpy(seated, outcome_out, pods);
    bool whole = greedy_run(t, c->options, c->closed, c->queue, c->count, outcome_out);
    c->steps = t->asked;
    if (!whole)
        return false;
    const uint32_t *ranking = by_priority(c, t);
    struct trial greedy = *t;
    struct best best = {t, outcome_out, judge(c, t, outcome_out)};
    uint64_t limit = effort;
    if (!all_placed(c, outcome_out))
        whole = limit > greedy.asked && try_priority(c, ranking, &best, seated);
    if (greedy.claim_count != 0)
        whole &= limit > c->steps - greedy.asked &&
                 try_packing(c, ranking, &best, &greedy, seated,
                             limit - (c->steps - greedy.asked));
    return whole;
}
