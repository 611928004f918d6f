/* Each node is asked about alone; of those that are worth most alone or by ratio a window is made, in which sets are
 * climbed: nodes join, leave, or change places with others as long as the set is worth more for it. It is begun at
 * several sets, among them what Karpenter would come to, so that it never ends with less than that is worth. In the end
 * one or two change places with several others: that is where sets of one price with fewer evictions are. */
#include "planner/disruption/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bits.h"
#include "planner/columns.h"
#include "planner/disruption/balanced.h"
#include "planner/disruption/floor.h"
#include "planner/disruption/price.h"
#include "planner/disruption/replacement.h"
#include "planner/disruption/turns.h"

/* Sets have no more, for the reason of multi.c; windows as many of each of the two orders. */
enum { MOST = 101, WINDOW = 128 };
/* Of looking at single nodes what multi.c and single.c have together. A step of climbing is no other; a second of them
 * is what a pass may take, since the next begins again from what came of it. */
static const uint64_t LOOK_STEPS = 120000000, CLIMB_STEPS = 500000, CHEAPER_STEPS = 500000;
struct set {
    uint8_t *has; /* by place in the window */
    uint32_t count;
    double worth; /* -INFINITY: it cannot go */
};

struct sweeping {
    struct disrupting *d;
    struct candidates c; /* the window, the highest ratio first */
    struct balance balance;
    struct arena scratch, ground;
    struct floor floor;      /* of the window */
    uint64_t end;            /* of steps */
    bool over;
    bool cheaper;            /* also claims other than greedy's are looked for */
    struct candidate *items; /* of the set that is asked about */
    struct consolidation how;
    const uint32_t *room;    /* by pool: nodes that may go at once */
    uint32_t *taken;         /* by pool, of the set that is climbed */
    const uint8_t *target;   /* of the window: where pods are not to go, and who alone may; NULL: there is none */
    uint64_t *target_rows;
};

/* --- what a set is worth --- */

/* What a node costs whose price nobody knows nobody knows either: it saves more than it evicts, by less than any price,
 * so that it goes as in Karpenter. */
#define UNKNOWN_WORTH 1e-6

static double evictions_cost(const struct candidate *c)
{
    return c->price > 0 ? move_price_evictions(c, 1) : -UNKNOWN_WORTH;
}

static uint32_t list_set(struct sweeping *s, const uint8_t *has)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->c.count; i++)
        if (has[i])
            s->items[n++] = s->c.items[i];
    return n;
}

/* Pods that come to stand on nodes of the target would be moved again. */
static double moved_again(struct sweeping *s)
{
    uint32_t count, again = 0;
    if (s->target == NULL)
        return 0;
    const struct simulation_place *places = simulation_places(s->d->simulator, &count);
    for (uint32_t i = 0; i < count; i++)
        again += bits_has(s->target_rows, places[i].row);
    return again * EVICTION_COST;
}

/* -INFINITY: they cannot go, or are not worth more than `above`. */
static double ask(struct sweeping *s, const struct candidate *c, uint32_t count, double above)
{
    double cost = 0;
    if (count == 0)
        return 0;
    if (s->over || count > MOST)
        return -INFINITY;
    for (uint32_t i = 0; i < count; i++)
        cost += evictions_cost(&c[i]);
    s->how = (s->cheaper ? consolidate_cheaper : consolidate)(s->d, &s->scratch, c, count, fmax(above + cost, 0));
    s->over = !simulated_whole(s->d, &s->how.simulated);
    if (!s->over && s->d->out->steps >= s->end) {
        s->over = true;
        s->d->out->complete = false;
    }
    if (s->how.outcome == CONSOLIDATE_NOT || s->how.savings - cost <= above + PRICE_DIFFERENCE ||
        !balance_approves(&s->balance, c, count, s->how.savings))
        return -INFINITY;
    const struct move_price *price = &s->how.price;
    double more = move_price_hourly(price) - price->evictions; /* beside the evictions, which `cost` has */
    double worth = move_price_hope(price, s->how.savings) - cost - more - moved_again(s);
    return worth > above + PRICE_DIFFERENCE ? worth : -INFINITY;
}

/* And so, without the gate, nothing that may be spot stands in for them. */
static bool are_spot(const struct candidate *c, uint32_t count)
{
    bool all = true;
    for (uint32_t i = 0; i < count && all; i++)
        all = c[i].capacity_type == SYM_SPOT;
    return all;
}

/* Whatever is bought for the pods of the set, which are s->items, it is not worth more than `above`, or cannot be done. */
static bool is_hopeless(const struct sweeping *s, const uint8_t *has, uint32_t count, double above)
{
    double most = replacement_total(s->items, count), cost = 0;
    for (uint32_t i = 0; i < count; i++)
        cost += evictions_cost(&s->items[i]);
    if (count == 0 || most - cost <= above)
        return count != 0;
    bool no_spot = !s->d->o->spot_to_spot && are_spot(s->items, count);
    struct least least = floor_of(&s->floor, has, s->c.count, no_spot);
    return most - least.price <= (least.price > 0 ? fmax(above + cost, 0) : above + cost) ||
           least.claims > MOST_REPLACEMENTS;
}

static double ask_set(struct sweeping *s, const uint8_t *has, double above)
{
    uint32_t count = list_set(s, has);
    if (is_hopeless(s, has, count, above)) {
        s->d->out->steps++;
        return -INFINITY;
    }
    return ask(s, s->items, count, above);
}

/* --- climbing --- */

static void flip(struct sweeping *s, struct set *m, uint32_t i)
{
    int32_t pool = candidate_pool(s->d, &s->c.items[i]);
    m->has[i] ^= 1;
    m->count += m->has[i] ? 1U : UINT32_MAX;
    s->taken[pool] += m->has[i] ? 1U : UINT32_MAX;
}

static bool may_join(const struct sweeping *s, uint32_t i)
{
    int32_t pool = candidate_pool(s->d, &s->c.items[i]);
    return s->taken[pool] < s->room[pool] && (s->target == NULL || s->target[i]);
}

/* Whether the set is worth more as it is now; it is then kept. */
static bool is_better(struct sweeping *s, struct set *m)
{
    double worth = ask_set(s, m->has, m->worth);
    if (m->count == 0)
        return false;
    if (worth > m->worth)
        m->worth = worth;
    return worth > -(double)INFINITY;
}

static bool join_or_leave(struct sweeping *s, struct set *m)
{
    bool better = false;
    for (uint32_t i = 0; i < s->c.count && !s->over; i++) {
        if (!m->has[i] && !may_join(s, i))
            continue;
        flip(s, m, i);
        if (is_better(s, m))
            better = true;
        else
            flip(s, m, i);
    }
    return better;
}

static bool change_places(struct sweeping *s, struct set *m)
{
    bool better = false;
    for (uint32_t i = 0; i < s->c.count && !s->over; i++) {
        if (!m->has[i])
            continue;
        flip(s, m, i);
        for (uint32_t k = 0; k < s->c.count && !s->over && !m->has[i]; k++) {
            if (k == i || m->has[k] || !may_join(s, k))
                continue;
            flip(s, m, k);
            if (is_better(s, m)) {
                better = true;
                break;
            }
            flip(s, m, k);
        }
        if (!better)
            flip(s, m, i);
        else
            return true;
    }
    return false;
}

/* After others were looked at. */
static void set_again(struct sweeping *s, const struct set *m)
{
    memset(s->taken, 0, s->d->w->pool_count * sizeof(*s->taken));
    for (uint32_t i = 0; i < s->c.count; i++)
        s->taken[candidate_pool(s->d, &s->c.items[i])] += m->has[i];
}

struct thrift { /* of the window */
    double price, evictions;
    uint32_t at;
};

/* Who is worth most for each eviction; of equal ones the least, which leaves most room for others. */
static int by_thrift(const void *a, const void *b)
{
    const struct thrift *x = a, *y = b;
    double left = x->price * y->evictions, right = y->price * x->evictions;
    if (fabs(left - right) > PRICE_DIFFERENCE * EVICTION_COST)
        return left > right ? -1 : 1;
    if (x->price != y->price)
        return x->price < y->price ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static const struct thrift *thrift_of(struct sweeping *s)
{
    struct thrift *list = ARENA_ARRAY(&s->d->out->arena, struct thrift, s->c.count);
    for (uint32_t i = 0; i < s->c.count; i++)
        list[i] = (struct thrift){s->c.items[i].price, fmax(0, evictions_cost(&s->c.items[i])), i};
    if (s->c.count != 0)
        qsort(list, s->c.count, sizeof(*list), by_thrift);
    return list;
}

static struct set set_new(struct sweeping *s)
{
    return (struct set){.has = ARENA_ARRAY(&s->d->out->arena, uint8_t, s->c.count)};
}

struct refining {
    struct set *best;
    struct set before; /* what it is as long as nothing better was found */
    const struct thrift *order;
};

static void join_all(struct sweeping *s, const struct refining *r, uint32_t but, uint32_t nor)
{
    for (uint32_t k = 0; k < s->c.count && !s->over; k++) {
        uint32_t i = r->order[k].at;
        if (i == but || i == nor || r->best->has[i] || !may_join(s, i))
            continue;
        flip(s, r->best, i);
        if (!is_better(s, r->best))
            flip(s, r->best, i);
    }
}

/* One or two (x == y: one) leave for others that are worth more than they are: no step of climbing leads there, since
 * without them the set is worth less. */
static bool change_for_others(struct sweeping *s, struct refining *r, uint32_t x, uint32_t y)
{
    struct set *m = r->best;
    flip(s, m, x);
    if (y != x)
        flip(s, m, y);
    m->worth = ask_set(s, m->has, -INFINITY);
    if (m->worth > -(double)INFINITY)
        join_all(s, r, x, y);
    if (m->worth > r->before.worth + PRICE_DIFFERENCE)
        return true;
    memcpy(m->has, r->before.has, s->c.count);
    m->count = r->before.count;
    m->worth = r->before.worth;
    set_again(s, m);
    return false;
}

static bool refine_once(struct sweeping *s, struct refining *r)
{
    memcpy(r->before.has, r->best->has, s->c.count);
    r->before.count = r->best->count;
    r->before.worth = r->best->worth;
    for (uint32_t apart = 0; apart < s->c.count; apart++) /* each alone first */
        for (uint32_t i = 0; i + apart < s->c.count && !s->over; i++)
            if (r->before.has[i] && r->before.has[i + apart] && change_for_others(s, r, i, i + apart))
                return true;
    return false;
}

/* For as many steps as climbing has left; a search that has no more is none the less through. */
static void refine(struct sweeping *s, struct set *best)
{
    bool complete = s->d->out->complete;
    struct refining r = {.best = best, .before = set_new(s), .order = thrift_of(s)};
    set_again(s, best);
    while (!s->over && refine_once(s, &r))
        ;
    s->d->out->complete = complete;
}

static void climb(struct sweeping *s, struct set *m)
{
    while (!s->over && (join_or_leave(s, m) || change_places(s, m)))
        ;
}

/* --- where it is begun --- */

/* The first so many for whom there is room. */
static void set_prefix(struct sweeping *s, struct set *m, uint32_t count)
{
    memset(m->has, 0, s->c.count);
    memset(s->taken, 0, s->d->w->pool_count * sizeof(*s->taken));
    m->count = 0;
    for (uint32_t i = 0; i < s->c.count && m->count < count && m->count < MOST; i++)
        if (may_join(s, i))
            flip(s, m, i);
    m->worth = m->count == 0 ? 0 : ask_set(s, m->has, -INFINITY);
}

static void keep(struct sweeping *s, struct set *best, const struct set *m)
{
    if (!(m->worth > best->worth + PRICE_DIFFERENCE))
        return;
    memcpy(best->has, m->has, s->c.count);
    best->count = m->count;
    best->worth = m->worth;
}

/* The longest prefix that can go, by halving. */
static uint32_t longest_prefix(struct sweeping *s, struct set *m, struct set *best)
{
    uint32_t low = 2, high = s->c.count < MOST ? s->c.count : MOST, found = 0;
    while (low <= high && !s->over) {
        uint32_t mid = (low + high) / 2;
        set_prefix(s, m, mid);
        keep(s, best, m);
        if (m->worth > -(double)INFINITY) {
            found = mid;
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return found;
}

static struct set climb_all(struct sweeping *s)
{
    struct set best = set_new(s), m = set_new(s);
    uint32_t found = longest_prefix(s, &m, &best);
    for (uint32_t k = s->c.count; k != 0 && !s->over; k /= 2) {
        set_prefix(s, &m, k);
        climb(s, &m);
        keep(s, &best, &m);
    }
    for (uint32_t k = found; !s->over; k = 0) {
        set_prefix(s, &m, k);
        climb(s, &m);
        keep(s, &best, &m);
        if (k == 0)
            break;
    }
    return best;
}

static void begin(struct sweeping *s, uint64_t steps)
{
    s->end = s->d->out->steps + (s->d->o->multi_steps != 0 ? s->d->o->multi_steps : steps);
    s->over = s->d->stopped;
}

/* Cheaper claims can make a set worth more that was not the best. */
static struct set find_set(struct sweeping *s)
{
    begin(s, CLIMB_STEPS);
    struct set best = climb_all(s), m = set_new(s);
    refine(s, &best);
    begin(s, CHEAPER_STEPS);
    s->cheaper = true;
    for (uint32_t k = s->c.count; k != 0 && !s->over; k /= 2) {
        set_prefix(s, &m, k);
        keep(s, &best, &m);
    }
    set_again(s, &best);
    if (best.count != 0)
        is_better(s, &best);
    join_or_leave(s, &best);
    s->cheaper = false;
    return best;
}

/* --- single nodes --- */

static void look_at(struct sweeping *s, struct candidate *c, double *worth, struct move *best)
{
    struct disrupting *d = s->d;
    *worth = -INFINITY;
    if (!balance_can_approve(&s->balance, c))
        return;
    *worth = ask(s, c, 1, -INFINITY);
    if (s->how.why.len != 0)
        note_candidate(d, METHOD_SINGLE, NOTE_UNCONSOLIDATABLE, c, arena_dup(&d->out->arena, s->how.why));
    if (*worth > best->worth + PRICE_DIFFERENCE)
        *best = (struct move){.items = c, .count = 1, .worth = *worth, .how = s->how};
}

static uint64_t *looked_before(struct disrupting *d)
{
    uint32_t words = bits_words(d->w->node_count);
    uint64_t *rows = ARENA_ARRAY(&d->out->arena, uint64_t, words);
    if (d->o->looked != NULL)
        memcpy(rows, d->o->looked, words * sizeof(*rows));
    return rows;
}

/* By place what each is worth alone. Goes on where the search before it has stopped; whether nobody is left then is known. */
static double *look_at_all(struct sweeping *s, struct move *best)
{
    struct disrupting *d = s->d;
    double *worth = ARENA_ARRAY(&d->out->arena, double, s->c.count);
    const struct turn *turns = turns_of(d, s->c);
    uint64_t *looked = looked_before(d);
    uint32_t i = 0;
    s->end = d->out->steps + (d->o->single_steps != 0 ? d->o->single_steps : LOOK_STEPS);
    for (uint32_t k = 0; k < s->c.count; k++)
        worth[k] = -INFINITY;
    for (; i < s->c.count && turns[i].rank != TURN_DONE && !s->over; i++) {
        look_at(s, &s->c.items[turns[i].at], &worth[turns[i].at], best);
        bits_add(looked, s->c.items[turns[i].at].row);
    }
    turns_end(d, turns, i, s->c.count);
    d->out->looked = looked;
    d->out->swept = !d->stopped && (i == s->c.count || turns[i].rank == TURN_DONE);
    return worth;
}

struct ranked {
    double worth;
    uint32_t at;
};

static int ranked_order(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Those that are worth most alone, and those that come first anyway; in their order. */
static void cut_to_window(struct sweeping *s, const double *worth)
{
    uint32_t n = 0;
    if (s->c.count <= WINDOW)
        return;
    struct ranked *ranked = ARENA_ARRAY(&s->d->out->arena, struct ranked, s->c.count);
    uint8_t *in = ARENA_ARRAY(&s->d->out->arena, uint8_t, s->c.count);
    for (uint32_t i = 0; i < s->c.count; i++)
        ranked[i] = (struct ranked){worth[i], i};
    qsort(ranked, s->c.count, sizeof(*ranked), ranked_order);
    memset(in, 1, WINDOW / 2);
    for (uint32_t i = 0, left = WINDOW / 2; i < s->c.count && left != 0; i++) {
        left -= !in[ranked[i].at];
        in[ranked[i].at] = 1;
    }
    for (uint32_t i = 0; i < s->c.count; i++)
        if (in[i])
            s->c.items[n++] = s->c.items[i];
    s->c.count = n;
}

/* --- the whole --- */

/* Those whose pools have room for one more. */
static struct candidates with_room(struct disrupting *d, struct candidates c, const struct allowances *allowed)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.count; i++) {
        if (allowed->items[candidate_pool(d, &c.items[i])].left != 0) {
            c.items[n++] = c.items[i];
            continue;
        }
        constrained_add(d, METHOD_MULTI);
        constrained_add(d, METHOD_SINGLE);
    }
    c.count = n;
    return c;
}

static void set_room(struct sweeping *s, const struct allowances *allowed)
{
    uint32_t *room = ARENA_ARRAY(&s->d->out->arena, uint32_t, s->d->w->pool_count);
    for (uint32_t i = 0; i < s->d->w->pool_count; i++)
        room[i] = allowed == NULL ? UINT32_MAX : (uint32_t)allowed->items[i].left;
    s->room = room;
}

static bool is_allowed(struct sweeping *s, const struct set *m, const struct allowances *allowed)
{
    set_again(s, m);
    for (uint32_t i = 0; i < s->d->w->pool_count; i++)
        if (s->taken[i] > (uint32_t)allowed->items[i].left)
            return false;
    return true;
}

/* What budgets have room for: of the target if any of it can go by itself, else of all. */
static struct set find_part(struct sweeping *s, const struct set *target, const struct allowances *allowed)
{
    constrained_add(s->d, METHOD_MULTI);
    set_room(s, allowed);
    s->target = target->has;
    s->target_rows = ARENA_ARRAY(&s->d->out->arena, uint64_t, bits_words(s->d->w->node_count));
    for (uint32_t i = 0; i < s->c.count; i++)
        if (target->has[i])
            bits_add(s->target_rows, s->c.items[i].row);
    struct set part = find_set(s);
    s->target = NULL;
    return part.count != 0 ? part : find_set(s);
}

static void take(struct sweeping *s, const struct set *m, struct move *out)
{
    begin(s, CHEAPER_STEPS);
    s->cheaper = true;
    out->items = ARENA_ARRAY(&s->d->out->arena, struct candidate, m->count);
    out->count = list_set(s, m->has);
    memcpy(out->items, s->items, out->count * sizeof(*out->items));
    out->worth = ask(s, out->items, out->count, -INFINITY);
    out->how = s->how;
}

static void find(struct sweeping *s, const struct allowances *allowed, struct sweep *out)
{
    struct disrupting *d = s->d;
    const double *worth = look_at_all(s, &out->one);
    if (!d->out->swept)
        return;
    cut_to_window(s, worth);
    s->items = ARENA_ARRAY(&d->out->arena, struct candidate, s->c.count);
    s->taken = ARENA_ARRAY(&d->out->arena, uint32_t, d->w->pool_count);
    set_room(s, NULL);
    s->floor = floor_make(&s->ground, d->w, d->simulator, s->c);
    struct set best = find_set(s);
    bool is_part = best.count != 0 && !is_allowed(s, &best, allowed);
    if (is_part)
        best = find_part(s, &best, allowed);
    if (best.count != 0 && !d->stopped && (is_part || best.worth > out->one.worth + PRICE_DIFFERENCE))
        take(s, &best, best.count == 1 ? &out->one : &out->several);
}

static void search(struct disrupting *d, struct sweep *out)
{
    struct candidates all = candidates_of(d, DISRUPT_GRACEFUL, METHOD_MULTI);
    struct sweeping s = {.d = d, .balance = balance_make(&d->out->arena, d->w, all, d->facts.deletion_cost_ignored)};
    s.c = consolidate_whom(d, all, METHOD_MULTI);
    d->out->swept = s.c.count == 0;
    if (s.c.count == 0)
        return;
    struct allowances allowed = allowances_of(d, METHOD_MULTI);
    s.c = with_room(d, s.c, &allowed);
    arena_init(&s.scratch, 0);
    arena_init(&s.ground, 0);
    find(&s, &allowed, out);
    arena_release(&s.scratch);
    arena_release(&s.ground);
}

bool sweep_decide(struct disrupting *d, enum disruption_method m)
{
    bool failed = d->out->error.len != 0;
    if (d->swept == NULL) {
        d->swept = ARENA_NEW(&d->out->arena, struct sweep);
        search(d, d->swept);
    }
    const struct move *best = m == METHOD_MULTI ? &d->swept->several : &d->swept->one;
    if (best->count != 0 && !d->stopped)
        consolidate_take(d, m, best->items, best->count, &best->how);
    return failed || d->out->error.len == 0;
}
