/* Order: equal questions become equal markets, to the bit, whatever order their parts came in. */
#include "planner/bound/market.h"

#include <math.h>
#include <stdlib.h>

static const double SLACK = 1e-9; /* of all sums, against rounding */

/* --- the same question, whatever the order --- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t machine_key(const struct bound_machine *m, uint32_t columns)
{
    const amount *largest = m->largest != NULL ? m->largest : m->room;
    uint64_t bits, hash = m->there;
    memcpy(&bits, &m->price, sizeof(bits));
    hash = mix(hash, bits);
    for (uint32_t c = 0; c < columns; c++)
        hash = mix(mix(hash, (uint64_t)m->room[c]), (uint64_t)largest[c]);
    return hash;
}

/* Numbers suits by the machines that take them, a sum over those, so that neither the numbers that
 * the caller gave nor the order of machines matter. Suits with the same machines become one. */
static void number_suits(const struct bound_question *q, uint32_t number_out[BOUND_SUITS])
{
    uint64_t keys[BOUND_SUITS] = {0};
    for (uint32_t m = 0; m < q->machine_count; m++) {
        uint64_t key = machine_key(&q->machines[m], q->columns);
        for (uint32_t s = 0; s < BOUND_SUITS; s++)
            keys[s] += q->machines[m].suits >> s & 1 ? key : 0;
    }
    for (uint32_t s = 0; s < BOUND_SUITS; s++) {
        number_out[s] = 0;
        for (uint32_t other = 0; other < BOUND_SUITS; other++)
            number_out[s] += keys[other] < keys[s];
    }
}

static struct bound_question canonical(struct arena *a, const struct bound_question *q,
                                       uint32_t number[BOUND_SUITS])
{
    number_suits(q, number);
    struct bound_machine *machines = ARENA_ARRAY(a, struct bound_machine, q->machine_count);
    struct bound_item *items = ARENA_ARRAY(a, struct bound_item, q->item_count);
    for (uint32_t m = 0; m < q->machine_count; m++) {
        machines[m] = q->machines[m];
        machines[m].suits = 0;
        for (uint32_t s = 0; s < BOUND_SUITS; s++)
            machines[m].suits |= (q->machines[m].suits >> s & 1) << number[s];
    }
    for (uint32_t i = 0; i < q->item_count; i++) {
        items[i] = q->items[i];
        items[i].suit = number[items[i].suit];
    }
    struct bound_question out = *q;
    out.machines = machines;
    out.items = items;
    return out;
}

/* --- the market --- */

static int item_order(const void *x, const void *y, void *columns)
{
    const struct bound_item *a = x, *b = y;
    if (a->suit != b->suit)
        return a->suit < b->suit ? -1 : 1;
    for (uint32_t c = 0; c < *(const uint32_t *)columns; c++)
        if (a->size[c] != b->size[c])
            return a->size[c] < b->size[c] ? -1 : 1;
    return 0;
}

static bool machine_holds(const struct bound_machine *m, const struct bound_item *i,
                          uint32_t columns)
{
    const amount *largest = m->largest != NULL ? m->largest : m->room;
    if ((m->suits >> i->suit & 1) == 0)
        return false;
    for (uint32_t c = 0; c < columns; c++)
        if (i->size[c] > largest[c])
            return false;
    return true;
}

static int price_order(const void *x, const void *y)
{
    const struct bound_machine *a = *(const struct bound_machine *const *)x;
    const struct bound_machine *b = *(const struct bound_machine *const *)y;
    if (a->price != b->price)
        return a->price < b->price ? -1 : 1;
    return (a > b) - (a < b);
}

static const struct bound_machine **by_price(struct arena *a, const struct bound_question *q)
{
    const struct bound_machine **list =
        ARENA_ARRAY(a, const struct bound_machine *, q->machine_count);
    for (uint32_t i = 0; i < q->machine_count; i++)
        list[i] = &q->machines[i];
    if (q->machine_count != 0)
        qsort(list, q->machine_count, sizeof(const void *), price_order);
    return list;
}

/* Price of the cheapest machine that holds the item, or INFINITY. */
static double cheapest(const struct bound_question *q, const struct bound_machine **by_price,
                       const struct bound_item *i)
{
    for (uint32_t m = 0; m < q->machine_count; m++)
        if (machine_holds(by_price[m], i, q->columns))
            return by_price[m]->price;
    return INFINITY;
}

/* Items that are alike become one; those that no machine holds are left out. *dearest_out is what the
 * machine of some item costs at least. */
static struct bound_item *gather_items(struct arena *a, const struct bound_question *q,
                                       uint32_t *count_out, double *dearest_out)
{
    const struct bound_machine **machines = by_price(a, q);
    struct bound_item *list = ARENA_ARRAY(a, struct bound_item, q->item_count);
    uint32_t n = 0, columns = q->columns, merged = 0;
    for (uint32_t i = 0; i < q->item_count; i++)
        if (q->items[i].count != 0)
            list[n++] = q->items[i];
    if (n != 0)
        qsort_r(list, n, sizeof(*list), item_order, &columns);
    *dearest_out = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (merged != 0 && item_order(&list[merged - 1], &list[i], &columns) == 0) {
            list[merged - 1].count += list[i].count;
            continue;
        }
        double price = cheapest(q, machines, &list[i]);
        if (price < (double)INFINITY)
            list[merged++] = list[i];
        if (price < (double)INFINITY && price > *dearest_out)
            *dearest_out = price;
    }
    *count_out = merged;
    return list;
}

static void fill_items(struct market *k, const struct bound_item *list, uint32_t count,
                       const uint32_t *column)
{
    k->items = count;
    k->size = ARENA_ARRAY(k->arena, double, (size_t)count * k->columns);
    k->count = ARENA_ARRAY(k->arena, double, count);
    k->suit = ARENA_ARRAY(k->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        k->count[i] = (double)list[i].count;
        k->suit[i] = list[i].suit;
        for (uint32_t c = 0; c < k->columns; c++)
            k->size[i * k->columns + c] = (double)list[i].size[column[c]];
    }
}

/* Whether b adds nothing to a: a takes all that b takes, and has at least as much of every column
 * for its price. A division of a's price, taken over to b, then charges no item less. What whole items are
 * worth is no division: then a has as much and costs no more. `most` are the greatest sizes of items. */
static bool outdone(const struct market *k, uint32_t a, uint32_t b, const double *most)
{
    size_t x = (size_t)a * k->columns, y = (size_t)b * k->columns;
    if ((k->suits[b] & ~k->suits[a]) != 0)
        return false;
    for (uint32_t c = 0; k->whole && c < k->columns; c++)
        if (k->price[a] > k->price[b] || k->room[x + c] < k->room[y + c])
            return false;
    for (uint32_t c = 0; c < k->columns; c++)
        if (k->largest[x + c] < lesser(k->largest[y + c], most[c]) ||
            k->price[a] * k->room[y + c] > k->price[b] * k->room[x + c])
            return false;
    return true;
}

static void set_machine(struct market *k, uint32_t at, const struct bound_machine *m,
                        const uint32_t *column)
{
    const amount *largest = m->largest != NULL ? m->largest : m->room;
    k->price[at] = m->price > 0 ? m->price : 0;
    k->there[at] = m->there;
    k->suits[at] = m->suits;
    for (uint32_t c = 0; c < k->columns; c++) {
        k->room[(size_t)at * k->columns + c] = (double)m->room[column[c]];
        k->largest[(size_t)at * k->columns + c] = (double)largest[column[c]];
    }
}

struct ranked {
    double unit; /* price for the first column */
    const struct bound_machine *machine;
    uint64_t key; /* of all that it is, suits included */
};

static int ranked_order(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    if (a->machine->price != b->machine->price)
        return a->machine->price > b->machine->price ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* The good ones first, since they are what others are compared with. */
static struct ranked *rank_machines(struct arena *a, const struct bound_question *q,
                                    uint64_t suits, const uint32_t *column, uint32_t columns,
                                    uint32_t *count_out)
{
    struct ranked *list = ARENA_ARRAY(a, struct ranked, q->machine_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->machine_count; i++) {
        const struct bound_machine *m = &q->machines[i];
        bool usable = (m->suits & suits) != 0;
        for (uint32_t c = 0; c < columns; c++)
            usable &= m->room[column[c]] >= 0;
        if (!usable)
            continue;
        amount first = m->room[column[0]];
        list[n++] = (struct ranked){first > 0 ? m->price / (double)first : INFINITY, m,
                                    mix(machine_key(m, q->columns), m->suits)};
    }
    if (n != 0)
        qsort(list, n, sizeof(*list), ranked_order);
    *count_out = n;
    return list;
}

bool market_holds(const struct market *k, uint32_t machine, uint32_t item)
{
    const double *largest = k->largest + (size_t)machine * k->columns;
    const double *size = k->size + (size_t)item * k->columns;
    if ((k->suits[machine] >> k->suit[item] & 1) == 0)
        return false;
    for (uint32_t c = 0; c < k->columns; c++)
        if (size[c] > largest[c])
            return false;
    return true;
}

static bool holds_any(const struct market *k, uint32_t machine)
{
    for (uint32_t i = 0; i < k->items; i++)
        if (market_holds(k, machine, i))
            return true;
    return false;
}

static void fill_machines(struct market *k, const struct bound_question *q, const uint32_t *column)
{
    uint64_t asked = 0;
    double *most = ARENA_ARRAY(k->arena, double, k->columns);
    for (uint32_t i = 0; i < k->items; i++) {
        asked |= UINT64_C(1) << k->suit[i];
        for (uint32_t c = 0; c < k->columns; c++)
            most[c] = greater(most[c], k->size[i * k->columns + c]);
    }
    uint32_t n;
    struct ranked *list = rank_machines(k->arena, q, asked, column, k->columns, &n);
    k->room = ARENA_ARRAY(k->arena, double, (size_t)n * k->columns);
    k->largest = ARENA_ARRAY(k->arena, double, (size_t)n * k->columns);
    k->price = ARENA_ARRAY(k->arena, double, n);
    k->there = ARENA_ARRAY(k->arena, double, n);
    k->suits = ARENA_ARRAY(k->arena, uint64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = k->machines;
        bool needed = true;
        set_machine(k, at, list[i].machine, column);
        k->suits[at] &= asked;
        for (uint32_t m = 0; k->there[at] <= 0 && needed && m < at; m++)
            needed = k->there[m] > 0 || !outdone(k, m, at, most);
        k->machines += needed && holds_any(k, at);
    }
}


static uint32_t used_columns(const struct bound_question *q, const struct bound_item *items,
                             uint32_t count, uint32_t *column_out)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < q->columns; c++)
        for (uint32_t i = 0; i < count; i++)
            if (items[i].size[c] > 0) {
                column_out[n++] = c;
                break;
            }
    return n;
}

static bool has_price(const struct market *k)
{
    for (uint32_t m = 0; m < k->machines; m++)
        if (k->price[m] > 0)
            return true;
    return false;
}

bool market_build(struct market *k, struct arena *a, const struct bound_question *asked,
                  bool whole, double *least_out)
{
    *k = (struct market){.arena = a, .whole = whole, .suit_number = ARENA_ARRAY(a, uint32_t, BOUND_SUITS)};
    const struct bound_question q = canonical(a, asked, k->suit_number);
    uint32_t count;
    const struct bound_item *items = gather_items(a, &q, &count, least_out);
    uint32_t *column = ARENA_ARRAY(a, uint32_t, q.columns);
    k->columns = used_columns(&q, items, count, column);
    if (k->columns == 0)
        return false;
    k->column = column;
    fill_items(k, items, count, column);
    fill_machines(k, &q, column);
    return has_price(k);
}

/* --- what a division is worth --- */

void market_rates(const struct market *k, const struct division *d, double *rates_out)
{
    for (uint32_t m = 0; m < k->machines; m++)
        for (uint32_t c = 0; c < k->columns; c++) {
            size_t at = (size_t)m * k->columns + c;
            rates_out[at] = k->room[at] > 0 ? d->worth[m] * d->part[at] / k->room[at] : 0;
        }
}

double market_charge(const struct market *k, const double *rates, uint32_t machine, uint32_t item)
{
    const double *rate = rates + (size_t)machine * k->columns;
    const double *size = k->size + (size_t)item * k->columns;
    double sum = 0;
    for (uint32_t c = 0; c < k->columns; c++)
        sum += rate[c] * size[c];
    return sum;
}

static bool holds_size(const struct market *k, uint32_t machine, uint32_t suit, const amount *size)
{
    const double *largest = k->largest + (size_t)machine * k->columns;
    if ((k->suits[machine] >> suit & 1) == 0)
        return false;
    for (uint32_t c = 0; c < k->columns; c++)
        if ((double)size[k->column[c]] > largest[c])
            return false;
    return true;
}

double market_least(const struct market *k, const double *rates, const struct bound_item *item)
{
    double least = INFINITY;
    for (uint32_t m = 0; m < k->machines; m++) {
        if (!holds_size(k, m, k->suit_number[item->suit], item->size))
            continue;
        double sum = 0;
        for (uint32_t c = 0; c < k->columns; c++)
            sum += rates[(size_t)m * k->columns + c] * (double)item->size[k->column[c]];
        least = lesser(least, sum);
    }
    return least < (double)INFINITY ? least : 0;
}

double market_value(const struct market *k, const struct division *d, double *rates)
{
    double value = 0, sums = 0;
    market_rates(k, d, rates);
    for (uint32_t i = 0; i < k->items; i++) {
        double least = INFINITY;
        for (uint32_t m = 0; m < k->machines; m++)
            if (market_holds(k, m, i))
                least = lesser(least, market_charge(k, rates, m, i));
        if (least < (double)INFINITY)
            value += k->count[i] * least;
    }
    sums = value;
    for (uint32_t m = 0; m < k->machines; m++) {
        value -= k->there[m] * (d->worth[m] - k->price[m]);
        sums += k->there[m] * d->worth[m];
    }
    return value - SLACK * sums;
}
