#include "planner/search/cheapest.h"

#include <math.h>
#include <stdlib.h>

#include "planner/packing/packer.h"
#include "planner/search/greedy.h"
#include "planner/search/listing.h"
#include "planner/search/whole.h"

enum { RUNS = 24 }; /* of the packer */
enum { WHOLES = 16 }; /* groups that are tried whole */
static const uint64_t DEFAULT_EFFORT = 400000;
static const double SAME = 1e-9; /* prices that differ by less are equal, relative */
static const double ONE_PRICE = 1e-3; /* so much above the cheapest plan seen is of one price with it */

/* --- which plan is better --- */

struct worth {
    uint64_t excess; /* pods that spread by what stands, see deal_excess */
    double price;   /* of claims whose price is known */
    uint32_t unpriced;
    uint64_t given_up; /* preferences of those who are placed */
    uint32_t claims;
};

/* A claim that would not be made takes its pods with it. */
static void drop_claim(const struct trial *t, uint32_t claim, uint8_t *outcome)
{
    for (uint32_t i = 0; i < t->step_count; i++)
        if (t->steps[i].target == claim &&
            (t->steps[i].kind == TRIAL_ON_CLAIM || t->steps[i].kind == TRIAL_OPENED))
            outcome[t->steps[i].pod] = OUTCOME_MIN_VALUES;
}

/* The least price of the types that hold it, where nothing but that decides. */
static double plain_price(struct trial *t, uint32_t claim)
{
    double least = trial_claim_price(t, claim);
    return least < (double)INFINITY ? least : NAN;
}

static uint64_t given_up(const struct trial *t, const uint8_t *outcome)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->step_count; i++)
        if (t->steps[i].kind <= TRIAL_OPENED && outcome[t->steps[i].pod] == OUTCOME_PLACED)
            sum += t->steps[i].given_up;
    return sum;
}

static struct worth judge(struct cheapest *c, const struct deal *spreads, struct trial *t,
                          uint8_t *outcome)
{
    struct worth w = {.excess = deal_excess(spreads, t)};
    struct arena a;
    struct listings lists = {0};
    arena_init(&a, 64 << 10);
    for (uint32_t i = 0; i < t->claim_count; i++) {
        const struct option *o = &t->world->options[t->specs.items[t->claims[i].spec].option];
        double price;
        bool plain = o->least_count == 0 && t->world->types.reservation_count == 0;
        if (!plain && lists.prices == NULL)
            listings_init(&lists, &a, c->syms, c->options, t);
        if (plain)
            price = plain_price(t, i);
        else if (!listing_price(&lists, t, i, &price)) {
            drop_claim(t, i, outcome);
            continue;
        }
        w.claims++;
        if (isnan(price))
            w.unpriced++;
        else
            w.price += price;
    }
    arena_release(&a);
    w.given_up = given_up(t, outcome);
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
    struct arena *a = c->arena;
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

/* Equally many, but others: what the rest costs says nothing then. */
static bool same_placed(const struct cheapest *c, const uint8_t *a, const uint8_t *b)
{
    for (uint32_t i = 0; i < c->count; i++)
        if ((a[c->queue[i]] == OUTCOME_PLACED) != (b[c->queue[i]] == OUTCOME_PLACED))
            return false;
    return true;
}

/* --- the search --- */

struct search {
    struct cheapest *c;
    const uint32_t *ranking; /* the queue with the highest priority first */
    struct trial *best;
    uint8_t *outcome; /* of the best */
    struct worth worth;
    double least; /* price of all plans seen for these pods; the best is of one price with it */
    double most;  /* greedy's for these pods: nothing dearer is taken for any reason */
    struct deal spreads;   /* of the queue */
    const uint8_t *seated; /* outcomes before the first pod of the queue */
    uint8_t *now;          /* outcomes of the plan being made */
    struct whole wholes[WHOLES]; /* seated first */
    uint32_t whole_count;
    uint64_t *unseated; /* those of them who had places from before; NULL: no wholes */
    bool torn;          /* in the trial that was started last some whole found no node */
    struct arena *arena, *spare; /* of the best, if it is not greedy's; for the next */
    struct specs specs;    /* what claims may become is the same in every trial: worked out once */
    uint64_t steps;        /* beyond greedy's */
    uint64_t effort;
};

static struct trial start(struct search *s)
{
    struct trial t;
    struct whole_rules rules = {s->c->options->ignore_preferences, s->c->closed};
    arena_clear(s->spare);
    s->c->start(s->c->user, s->spare, s->unseated, &t);
    t.specs = s->specs;
    memcpy(s->now, s->seated, trial_pod_count(&t));
    s->torn = false;
    for (uint32_t i = 0; i < s->whole_count; i++) {
        s->torn |= !whole_seat(&t, &s->wholes[i], &rules);
        for (uint32_t p = 0; p < s->wholes[i].count; p++)
            s->now[s->wholes[i].pods[p]] = OUTCOME_PLACED;
    }
    return t;
}

/* Of plans of one price the one that keeps more preferences is better, then the one with fewer machines: each
 * has its kubelet and its DaemonSet pods. They are measured by the cheapest seen, not by the best, or the price would
 * creep up by a little each time. */
static bool is_better(const struct search *s, const struct worth *a)
{
    const struct worth *b = &s->worth;
    if (a->excess != b->excess)
        return a->excess < b->excess;
    if (a->unpriced != b->unpriced)
        return a->unpriced < b->unpriced;
    double least = fmin(s->least, a->price), one = least + ONE_PRICE * fabs(least);
    if (a->price > s->most + SAME * fabs(s->most) || a->price > one)
        return false;
    if (b->price > one)
        return true;
    if (a->given_up != b->given_up)
        return a->given_up < b->given_up;
    if (a->claims != b->claims)
        return a->claims < b->claims;
    return a->price < b->price - SAME * fabs(b->price);
}

static bool keep_better(struct search *s, struct trial *t)
{
    struct cheapest *c = s->c;
    struct worth w = judge(c, &s->spreads, t, s->now);
    s->specs = t->specs;
    int64_t more = more_placed(c, t, s->ranking, s->now, s->outcome);
    if (more < 0 || (more == 0 && !same_placed(c, s->now, s->outcome)))
        return false;
    bool better = more > 0 || is_better(s, &w);
    bool rival = more == 0 && w.excess == s->worth.excess && w.unpriced == s->worth.unpriced;
    if (rival) {
        s->least = fmin(s->least, w.price);
    } else if (better) {
        s->least = w.price;
        s->most = INFINITY;
    }
    if (!better)
        return false;
    *s->best = *t;
    memcpy(s->outcome, s->now, trial_pod_count(t));
    s->worth = w;
    struct arena *swap = s->arena;
    s->arena = s->spare;
    s->spare = swap;
    return true;
}

static bool all_placed(const struct cheapest *c, const uint8_t *outcome)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (outcome[c->queue[i]] != OUTCOME_PLACED)
            return false;
    return true;
}

/* Greedy places who has no place yet, the highest priority first. */
static bool place_rest(struct search *s, struct trial *t)
{
    struct cheapest *c = s->c;
    uint32_t *left = ARENA_ARRAY(s->spare, uint32_t, c->count), count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (s->now[s->ranking[i]] != OUTCOME_PLACED)
            left[count++] = s->ranking[i];
    return greedy_run(t, c->options, c->closed, left, count, s->now);
}

/* *better_out: whether it is the best plan now. False when cut short. */
static bool try_priority(struct search *s, bool *better_out)
{
    struct trial t = start(s);
    bool whole = place_rest(s, &t);
    s->steps += t.asked;
    s->specs = t.specs;
    *better_out = whole && keep_better(s, &t);
    return whole;
}

/* --- groups that are torn --- */

static void mark_unseated(struct search *s, const struct whole *x, bool unseated)
{
    for (uint32_t i = 0; i < x->count; i++) {
        if (unseated && s->seated[x->pods[i]] == OUTCOME_PLACED)
            bits_add(s->unseated, x->pods[i]);
        else
            bits_drop(s->unseated, x->pods[i]);
    }
}

/* Whether beside the wholes there are all of this one find a node too; then it is one of them. */
static void add_whole(struct search *s, const struct whole *x)
{
    s->wholes[s->whole_count++] = *x;
    mark_unseated(s, x, true);
    struct trial t = start(s);
    s->steps += t.asked;
    s->specs = t.specs;
    if (s->torn) {
        s->whole_count--;
        mark_unseated(s, x, false);
    }
}

static bool try_wholes(struct search *s)
{
    struct cheapest *c = s->c;
    struct arena *a = c->arena;
    struct whole found[WHOLES];
    struct whole_question q = {c->admitted, c->admitted_count, s->outcome};
    uint32_t count = whole_torn(s->best, a, &q, found, WHOLES);
    bool better = false, whole = true;
    if (count != 0)
        s->unseated = ARENA_ARRAY(a, uint64_t, bits_words(trial_pod_count(s->best)));
    for (uint32_t i = 0; i < count; i++)
        add_whole(s, &found[i]);
    if (s->whole_count != 0)
        whole = try_priority(s, &better);
    if (!better) {
        s->whole_count = 0;
        s->unseated = NULL;
    }
    return whole;
}

/* --- packing --- */

enum run { RUN_WHOLE, RUN_LONG, RUN_CUT, RUN_VOID };

/* Who the packer did not place is left to greedy. A run that takes more than `limit` is ended so too. One
 * that effort cuts short counts nothing: with more effort it would go on, and might end dearer. */
static enum run try_packing(struct search *s, struct packer *k, uint64_t limit)
{
    struct trial t = start(s);
    uint64_t left_over = s->effort - s->steps;
    bool ended = packer_run(k, &t, limit < left_over ? limit : left_over, s->now);
    bool whole = ended || (limit <= left_over && !trial_stopped(&t));
    if (whole)
        whole = place_rest(s, &t);
    s->steps += t.asked;
    s->specs = t.specs;
    if (whole && k->deal != NULL && deal_excess(&s->spreads, &t) != 0)
        return RUN_VOID;
    if (whole)
        keep_better(s, &t);
    return !whole ? RUN_CUT : ended ? RUN_WHOLE : RUN_LONG;
}

static bool open_packer(struct search *s, struct packer *k, const struct trial *greedy, bool deals)
{
    struct cheapest *c = s->c;
    struct trial t = start(s);
    *k = (struct packer){.options = c->options, .queue = c->queue, .count = c->count, .greedy = greedy,
                         .deal = deals && s->spreads.group_count != 0 ? &s->spreads : NULL};
    bool whole = packer_init(k, c->arena, &t, s->effort - s->steps, s->now);
    s->steps += t.asked;
    s->specs = t.specs;
    return whole && s->effort > s->steps;
}

static bool improve(struct search *s, const struct trial *greedy)
{
    struct cheapest *c = s->c;
    if (s->effort <= s->steps)
        return false;
    bool better;
    if (!all_placed(c, s->outcome) && (!try_priority(s, &better) || !try_wholes(s)))
        return false;
    if (greedy->claim_count == 0 && s->best->claim_count == 0)
        return true;
    if (s->effort <= s->steps)
        return false;
    struct packer k;
    bool whole = open_packer(s, &k, greedy, true);
    uint64_t limit = DEFAULT_EFFORT > s->steps ? DEFAULT_EFFORT - s->steps : DEFAULT_EFFORT;
    for (uint32_t i = 0; whole && i < RUNS;) {
        enum run run = s->effort > s->steps ? try_packing(s, &k, limit) : RUN_CUT;
        whole = run != RUN_CUT;
        i += run == RUN_WHOLE;
        limit *= run == RUN_LONG ? 2 : 1;
        if (run == RUN_VOID) /* not all that was dealt can be bought: without, then */
            whole = s->effort > s->steps && open_packer(s, &k, greedy, false);
    }
    return whole;
}

bool cheapest_run(struct cheapest *c, struct trial *t, uint8_t *outcome_out)
{
    struct arena *a = c->arena;
    uint32_t pods = trial_pod_count(t);
    uint8_t *seated = ARENA_ARRAY(a, uint8_t, pods);
    memcpy(seated, outcome_out, pods);
    bool whole = greedy_run(t, c->options, c->closed, c->queue, c->count, outcome_out);
    c->steps = t->asked;
    if (!whole || c->count == 0)
        return whole;
    struct trial greedy = *t;
    struct search s = {.c = c, .ranking = by_priority(c, t), .best = t, .outcome = outcome_out,
                       .seated = seated,
                       .now = ARENA_ARRAY(a, uint8_t, pods),
                       .arena = mem_new(sizeof(struct arena)),
                       .spare = mem_new(sizeof(struct arena)),
                       .effort = c->options->effort != 0 ? c->options->effort : DEFAULT_EFFORT};
    arena_init(s.arena, 64 << 10);
    arena_init(s.spare, 64 << 10);
    s.specs = t->specs;
    deal_init(&s.spreads, a, t, c->queue, c->count);
    s.worth = judge(c, &s.spreads, t, outcome_out);
    s.least = s.most = s.worth.price;
    whole = improve(&s, &greedy);
    t->specs = s.specs;
    c->steps += s.steps;
    c->trial_arena = s.arena;
    arena_release(s.spare);
    free(s.spare);
    return whole;
}
