/* The search is a game between sellers and buyers. Each machine divides its price over the columns of
 * its room (`part`); each item goes where it is charged least. A machine moves its parts towards the
 * columns that its items fill most, an item moves its weight towards machines that charge less, both by
 * factors and a step ahead of what they last saw; where neither gains by moving is the best division
 * there is. It starts from one division for all machines (common_rates), which is near when machines
 * differ only in size.
 *
 * Only the parts and the worth of machines leave the game. The answer is worked out from them alone, by
 * market_value, over all items: whatever the game did, it is a true bound. */
#include "planner/bound/market.h"

#include <math.h>
#include <stdlib.h>

enum {
    GAME_ITEMS = 128,      /* more are played as groups of alike ones */
    GAME_ROUNDS = 160,     /* 0.3 % from the end on real fleets */
    COMMON_ROUNDS = 400,
};
static const double GAME_WORK = 3e6; /* columns looked at: some 15 ms */
static const double LEAST_PART = 1e-4, LEAST_WEIGHT = 1e-12;

/* --- one division for all --- */

/* e to the power of x, nearly, from + and * alone, so that every machine gets the same. */
static double power(double x)
{
    double y = 1 + greater(-12, lesser(12, x)) / 32;
    for (int i = 0; i < 5; i++)
        y *= y;
    return y;
}

static void normalise(double *values, uint32_t count, double least)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    double more = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = greater(values[i] / sum, least);
        more += values[i];
    }
    for (uint32_t i = 0; i < count; i++)
        values[i] /= more;
}

/* How the value of all items divides over the columns, when every machine charges alike: the shares
 * for which no machine covers more of that value for its price than need be. */
struct common {
    const struct market *k;
    double *load;   /* a row a machine: the part of all items that a unit of price has room for */
    double *weight; /* of a machine, sum 1; 0: not for sale */
    double *share;  /* of a column, sum 1 */
    double *sum;    /* of the shares of all rounds */
    double *weight_before, *share_before, *gain;
    double *best; /* shares */
    double best_load;
};

static double share_load(const struct common *g, const double *share, uint32_t machine)
{
    double sum = 0;
    for (uint32_t c = 0; c < g->k->columns; c++)
        sum += g->load[(size_t)machine * g->k->columns + c] * share[c];
    return sum;
}

/* Machines that can be bought are what prices are made by; where there is none, those that exist. */
static bool sets_prices(const struct market *k, uint32_t machine, bool for_sale)
{
    return k->price[machine] > 0 && (k->there[machine] <= 0 || !for_sale);
}

static bool any_sets_prices(const struct market *k, bool for_sale)
{
    for (uint32_t m = 0; m < k->machines; m++)
        if (sets_prices(k, m, for_sale))
            return true;
    return false;
}

static void common_init(struct common *g, const struct market *k, const double *demand)
{
    struct arena *a = k->arena;
    bool for_sale = any_sets_prices(k, true);
    *g = (struct common){.k = k, .best_load = INFINITY};
    g->load = ARENA_ARRAY(a, double, (size_t)k->machines * k->columns);
    g->weight = ARENA_ARRAY(a, double, k->machines);
    g->weight_before = ARENA_ARRAY(a, double, k->machines);
    g->share = ARENA_ARRAY(a, double, k->columns);
    g->share_before = ARENA_ARRAY(a, double, k->columns);
    g->sum = ARENA_ARRAY(a, double, k->columns);
    g->gain = ARENA_ARRAY(a, double, k->columns);
    g->best = ARENA_ARRAY(a, double, k->columns);
    for (uint32_t c = 0; c < k->columns; c++)
        g->share[c] = 1.0 / k->columns;
    for (uint32_t m = 0; m < k->machines; m++) {
        if (!sets_prices(k, m, for_sale))
            continue;
        g->weight[m] = 1;
        for (uint32_t c = 0; c < k->columns; c++) {
            size_t at = (size_t)m * k->columns + c;
            g->load[at] = k->room[at] / (demand[c] * k->price[m]);
        }
    }
    normalise(g->weight, k->machines, 0);
}

static void common_judge(struct common *g, const double *share)
{
    double most = 0, sum = 0;
    for (uint32_t m = 0; m < g->k->machines; m++)
        most = greater(most, share_load(g, share, m));
    for (uint32_t c = 0; c < g->k->columns; c++)
        sum += share[c];
    if (most / sum >= g->best_load)
        return;
    g->best_load = most / sum;
    for (uint32_t c = 0; c < g->k->columns; c++)
        g->best[c] = share[c] / sum;
}

static void common_round(struct common *g)
{
    enum { STEP = 2 };
    const struct market *k = g->k;
    double mean = 0;
    memset(g->gain, 0, k->columns * sizeof(double));
    for (uint32_t m = 0; m < k->machines; m++)
        for (uint32_t c = 0; c < k->columns; c++)
            g->gain[c] += g->weight[m] * g->load[(size_t)m * k->columns + c];
    for (uint32_t c = 0; c < k->columns; c++)
        mean += g->gain[c] * g->share[c];
    for (uint32_t m = 0; m < k->machines; m++) {
        double now = share_load(g, g->share, m) / mean - 1;
        g->weight[m] *= power(STEP * (2 * now - g->weight_before[m]));
        g->weight_before[m] = now;
    }
    for (uint32_t c = 0; c < k->columns; c++) {
        double now = g->gain[c] / mean - 1;
        g->share[c] *= power(-STEP * (2 * now - g->share_before[c]));
        g->share_before[c] = now;
    }
    normalise(g->weight, k->machines, 0);
    normalise(g->share, k->columns, LEAST_PART * LEAST_PART);
    for (uint32_t c = 0; c < k->columns; c++)
        g->sum[c] += g->share[c];
}

/* Price of a unit of each column, the same on every machine. */
static double *common_rates(const struct market *k)
{
    double *demand = ARENA_ARRAY(k->arena, double, k->columns);
    for (uint32_t i = 0; i < k->items; i++)
        for (uint32_t c = 0; c < k->columns; c++)
            demand[c] += k->count[i] * k->size[(size_t)i * k->columns + c];
    struct common g;
    common_init(&g, k, demand);
    common_judge(&g, g.share);
    for (int round = 0; round < COMMON_ROUNDS; round++) {
        common_round(&g);
        common_judge(&g, g.share);
        common_judge(&g, g.sum);
    }
    for (uint32_t c = 0; c < k->columns; c++)
        demand[c] = g.best[c] / (g.best_load * demand[c]);
    return demand;
}

static struct division first_division(const struct market *k, const double *rates)
{
    struct division d = {ARENA_ARRAY(k->arena, double, (size_t)k->machines * k->columns),
                         ARENA_ARRAY(k->arena, double, k->machines)};
    for (uint32_t m = 0; m < k->machines; m++) {
        double *part = d.part + (size_t)m * k->columns;
        double value = 0;
        for (uint32_t c = 0; c < k->columns; c++)
            value += part[c] = rates[c] * k->room[(size_t)m * k->columns + c];
        for (uint32_t c = 0; value <= 0 && c < k->columns; c++)
            part[c] = 1;
        normalise(part, k->columns, LEAST_PART);
        d.worth[m] = k->there[m] > 0 ? greater(k->price[m], value) : k->price[m];
    }
    return d;
}

/* --- the game --- */

struct pair { /* an item and a machine that holds it */
    uint32_t machine;
    double weight;      /* what part of the item lies there */
    double charge, before; /* over the least charge, relative, this round and the last */
};

struct game {
    const struct market *k;
    struct division now;
    struct division best;
    double best_value;
    double *rates;
    struct pair *pairs;
    uint32_t *first_pair; /* items + 1 */
    double *fill;         /* a row a machine: of its columns, in whole machines */
    double *fill_before, *used_before;
    double *sum; /* of the parts of all rounds */
};

static void game_keep(struct game *g, const struct division *d, double value)
{
    const struct market *k = g->k;
    if (value <= g->best_value)
        return;
    g->best_value = value;
    memcpy(g->best.part, d->part, (size_t)k->machines * k->columns * sizeof(double));
    memcpy(g->best.worth, d->worth, k->machines * sizeof(double));
}

/* Charges of all pairs, and what the division is worth. */
static double game_charge(struct game *g, const struct division *d)
{
    const struct market *k = g->k;
    double value = 0;
    market_rates(k, d, g->rates);
    for (uint32_t i = 0; i < k->items; i++) {
        double least = INFINITY;
        for (uint32_t p = g->first_pair[i]; p < g->first_pair[i + 1]; p++) {
            g->pairs[p].charge = market_charge(k, g->rates, g->pairs[p].machine, i);
            least = lesser(least, g->pairs[p].charge);
        }
        if (g->first_pair[i] < g->first_pair[i + 1])
            value += k->count[i] * least;
        for (uint32_t p = g->first_pair[i]; p < g->first_pair[i + 1]; p++)
            g->pairs[p].charge = least > 0 ? lesser(g->pairs[p].charge / least - 1, 3) : 0;
    }
    for (uint32_t m = 0; m < k->machines; m++)
        value -= k->there[m] * (d->worth[m] - k->price[m]);
    return value;
}

static void game_init(struct game *g, const struct market *k, struct division first)
{
    struct arena *a = k->arena;
    size_t cells = (size_t)k->machines * k->columns;
    struct division cautious = {first.part, k->price}; /* none worth more than its price */
    *g = (struct game){.k = k, .now = first, .best_value = -INFINITY};
    g->best.part = ARENA_ARRAY(a, double, cells);
    g->best.worth = ARENA_ARRAY(a, double, k->machines);
    g->rates = ARENA_ARRAY(a, double, cells);
    g->fill = ARENA_ARRAY(a, double, cells);
    g->fill_before = ARENA_ARRAY(a, double, cells);
    g->used_before = ARENA_ARRAY(a, double, k->machines);
    g->sum = ARENA_ARRAY(a, double, cells);
    g->first_pair = ARENA_ARRAY(a, uint32_t, (size_t)k->items + 1);
    uint32_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < k->items; i++) {
        g->first_pair[i] = count;
        for (uint32_t m = 0; m < k->machines; m++)
            if (market_holds(k, m, i))
                ARENA_PUSH(a, g->pairs, count, capacity, ((struct pair){.machine = m}));
    }
    g->first_pair[k->items] = count;
    game_keep(g, &cautious, game_charge(g, &cautious));
    game_keep(g, &g->now, game_charge(g, &g->now));
    for (uint32_t p = 0; p < count; p++)
        g->pairs[p].weight = power(-16 * g->pairs[p].charge);
}

/* Items move to where they are charged less; what lies where fills the machines. */
static void move_items(struct game *g)
{
    enum { STEP = 4 };
    const struct market *k = g->k;
    memset(g->fill, 0, (size_t)k->machines * k->columns * sizeof(double));
    for (uint32_t i = 0; i < k->items; i++) {
        const double *size = k->size + (size_t)i * k->columns;
        double sum = 0;
        for (uint32_t p = g->first_pair[i]; p < g->first_pair[i + 1]; p++)
            sum += g->pairs[p].weight;
        for (uint32_t p = g->first_pair[i]; p < g->first_pair[i + 1]; p++) {
            struct pair *x = &g->pairs[p];
            double *fill = g->fill + (size_t)x->machine * k->columns;
            double there = x->weight / sum * k->count[i];
            for (uint32_t c = 0; c < k->columns; c++)
                fill[c] += there * size[c];
            double next = x->weight / sum * power(-STEP * (2 * x->charge - x->before));
            x->weight = greater(next, LEAST_WEIGHT);
            x->before = x->charge;
        }
    }
}

/* A machine moves its price to the columns that are filled most. One that exists asks for more while
 * more lies on it than it has room for, for less when it is not full. */
static void move_parts(struct game *g)
{
    const double step = 0.5, worth_step = 0.3;
    const struct market *k = g->k;
    for (uint32_t m = 0; m < k->machines; m++) {
        double *part = g->now.part + (size_t)m * k->columns, used = 0;
        double *fill = g->fill + (size_t)m * k->columns;
        double *before = g->fill_before + (size_t)m * k->columns;
        const double *room = k->room + (size_t)m * k->columns;
        for (uint32_t c = 0; c < k->columns; c++)
            used += part[c] * (fill[c] = room[c] > 0 ? fill[c] / room[c] : 0);
        if (used <= 0)
            continue;
        for (uint32_t c = 0; c < k->columns; c++) {
            double gain = lesser(fill[c] / used - 1, 3);
            part[c] *= power(step * (2 * gain - before[c]));
            before[c] = gain;
        }
        normalise(part, k->columns, LEAST_PART * LEAST_PART);
        if (k->there[m] > 0) {
            double over = (used - k->there[m]) / greater(used, k->there[m]);
            g->now.worth[m] *= power(worth_step * (2 * over - g->used_before[m]));
            g->now.worth[m] = greater(g->now.worth[m], k->price[m]);
            g->used_before[m] = over;
        }
    }
}

static void game_play(struct game *g, int rounds)
{
    enum { LOOK = 10 }; /* rounds between looks at the mean of all rounds */
    const struct market *k = g->k;
    size_t cells = (size_t)k->machines * k->columns;
    struct division mean = {ARENA_ARRAY(k->arena, double, cells), g->now.worth};
    for (int round = 1; round <= rounds; round++) {
        move_items(g);
        move_parts(g);
        for (size_t i = 0; i < cells; i++)
            g->sum[i] += g->now.part[i];
        if (round % LOOK == 0) {
            for (size_t i = 0; i < cells; i++)
                mean.part[i] = g->sum[i] / round;
            game_keep(g, &mean, game_charge(g, &mean));
        }
        game_keep(g, &g->now, game_charge(g, &g->now));
    }
}

/* --- many items --- */

struct grouped {
    uint32_t item;
    uint32_t suit;
    double share; /* of the first column in its value */
    double value; /* of all of the kind */
};

static int grouped_order(const void *x, const void *y)
{
    const struct grouped *a = x, *b = y;
    if (a->suit != b->suit)
        return a->suit < b->suit ? -1 : 1;
    if (a->share != b->share)
        return a->share < b->share ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

static struct grouped *sort_items(const struct market *k, const double *rates, double *total_out)
{
    struct grouped *list = ARENA_ARRAY(k->arena, struct grouped, k->items);
    *total_out = 0;
    for (uint32_t i = 0; i < k->items; i++) {
        const double *size = k->size + (size_t)i * k->columns;
        double value = 0;
        for (uint32_t c = 0; c < k->columns; c++)
            value += rates[c] * size[c];
        list[i] = (struct grouped){.item = i, .suit = k->suit[i], .value = value * k->count[i],
                                   .share = value > 0 ? rates[0] * size[0] / value : 0};
        *total_out += list[i].value;
    }
    qsort(list, k->items, sizeof(*list), grouped_order);
    return list;
}

/* The same market with alike items taken together, a mean one for each group: enough to play on. */
static struct market group_items(const struct market *k, const double *rates)
{
    struct market out = *k;
    double total, filled = 0;
    const struct grouped *list = sort_items(k, rates, &total);
    size_t most = GAME_ITEMS + BOUND_SUITS;
    out.items = 0;
    out.size = ARENA_ARRAY(k->arena, double, most * k->columns);
    out.count = ARENA_ARRAY(k->arena, double, most);
    out.suit = ARENA_ARRAY(k->arena, uint32_t, most);
    for (uint32_t i = 0; i < k->items; i++) {
        bool opens = i == 0 || list[i].suit != list[i - 1].suit ||
                     filled + list[i].value > 2 * total / GAME_ITEMS;
        if (opens) {
            out.suit[out.items++] = list[i].suit;
            filled = 0;
        }
        uint32_t group = out.items - 1, item = list[i].item;
        filled += list[i].value;
        out.count[group] += k->count[item];
        for (uint32_t c = 0; c < k->columns; c++)
            out.size[(size_t)group * k->columns + c] +=
                k->count[item] * k->size[(size_t)item * k->columns + c];
    }
    for (uint32_t i = 0; i < out.items; i++)
        for (uint32_t c = 0; c < k->columns; c++)
            out.size[(size_t)i * k->columns + c] /= out.count[i];
    return out;
}

struct division game_divide(const struct market *k)
{
    const double *rates = common_rates(k);
    struct market small = k->items > GAME_ITEMS ? group_items(k, rates) : *k;
    struct game g;
    game_init(&g, &small, first_division(&small, rates));
    double work = (double)g.first_pair[small.items] * (k->columns + 4);
    game_play(&g, (int)lesser(GAME_ROUNDS, GAME_WORK / work));
    return g.best;
}
