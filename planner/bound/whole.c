/* Items are whole, and a division of prices does not know it: a machine of 4 CPUs is charged for by pods of 3 as if it
 * held one and a third. What items are worth may be any numbers, though, if only no machine can be filled with more
 * worth than its price: then all of them together are worth no more than any machines that hold them.
 *
 * Such numbers are looked for as the linear programme has it: worth the most in all, no more than the price on any
 * *load* that is known, a load being whole items that one machine holds. Then a fuller load is looked for on every
 * machine, and so on. Whatever comes of it is a bound: worths are divided by as much as the most overfull machine has
 * more than its price, and how full a machine can be is never guessed too low (fill_most). */
#include "planner/bound/market.h"

#include <math.h>

enum {
    MOST_ITEMS = 96,
    MOST_LOADS = 400,
    ROUNDS = 40,
    FILL_NODES = 1000, /* tries to fill one machine */
    MOST_COLUMNS = 32,
    STEPS = 4,
};
static const double WORK = 2e7;    /* numbers looked at: some 20 ms */
static const double NEAR = 2e-4;   /* so near the fullest is full enough, relative */
static const double SLACK = 1e-9;  /* of all sums, against rounding */
static const double ALL = 1 + 1e-7; /* of a machine, and rounding */

/* --- the fullest machine --- */

struct filling { /* of one machine */
    const struct market *k;
    const double *worth;  /* by item */
    double *most, *weight, *ratio; /* by item: so many fit alone; part of the machine; worth by weight */
    uint32_t *item;       /* those that fit, by ratio, the highest first */
    uint32_t count;
    double *left;         /* by column */
    double *take, *best_take; /* by item */
    double best;          /* worth of best_take */
    double bound;         /* nothing that fits is worth more */
    uint32_t nodes;
    double work;          /* of all machines */
};

/* Worth of what fits into so much of the machine when items may be cut, from a rank on. */
static double cut_worth(struct filling *f, uint32_t at, double part)
{
    double sum = 0;
    for (; at < f->count && part > 0; at++) {
        uint32_t i = f->item[at];
        double n = f->most[i] * f->weight[i] <= part ? f->most[i] : part / f->weight[i];
        sum += n * f->worth[i];
        part -= n * f->weight[i];
        f->work++;
    }
    return sum;
}

static double fits(const struct filling *f, uint32_t item, double most)
{
    const double *size = f->k->size + (size_t)item * f->k->columns;
    for (uint32_t c = 0; c < f->k->columns; c++)
        if (size[c] > 0)
            most = lesser(most, floor(f->left[c] / size[c]));
    return most;
}

static void take(struct filling *f, uint32_t item, double count)
{
    const double *size = f->k->size + (size_t)item * f->k->columns;
    f->take[item] += count;
    for (uint32_t c = 0; c < f->k->columns; c++)
        f->left[c] -= count * size[c];
}

/* Tries all numbers of the items from a rank on that could be worth more than the best, the most of each first. False
 * when this is not gone into: with fewer of the item before, which is worth more for its weight, there is even less
 * to hope for. */
static bool try_from(struct filling *f, uint32_t at, double worth, double part)
{
    double hope = worth + cut_worth(f, at, part);
    if (worth > f->best) {
        f->best = worth;
        memcpy(f->best_take, f->take, f->k->items * sizeof(*f->take));
    }
    if (at == f->count || f->nodes == 0 || hope <= f->best * (1 + NEAR)) {
        f->bound = greater(f->bound, hope);
        return false;
    }
    f->nodes--;
    f->work += f->k->columns;
    uint32_t i = f->item[at];
    double n = fits(f, i, f->most[i]);
    bool open = true;
    for (take(f, i, n); n >= 0 && open; n--) {
        open = try_from(f, at + 1, worth + n * f->worth[i], part - n * f->weight[i]);
        take(f, i, -1);
    }
    take(f, i, -f->take[i]);
    return true;
}

/* Weighs items by these parts of the columns, and ranks them. Returns what the machine holds of cut ones. */
static double weigh(struct filling *f, const double *room, const double *part)
{
    const struct market *k = f->k;
    for (uint32_t n = 0; n < f->count; n++) {
        uint32_t i = f->item[n];
        f->weight[i] = 1e-12; /* none is 0 */
        for (uint32_t c = 0; c < k->columns; c++)
            if (room[c] > 0)
                f->weight[i] += part[c] * k->size[(size_t)i * k->columns + c] / room[c];
        f->ratio[i] = f->worth[i] / f->weight[i];
        uint32_t at = n;
        for (; at > 0 && f->ratio[f->item[at - 1]] < f->ratio[i]; at--)
            f->item[at] = f->item[at - 1];
        f->item[at] = i;
    }
    f->work += f->count * k->columns;
    return cut_worth(f, 0, ALL);
}

/* A step of the size towards each column; whether one of them makes cut items worth less. */
static bool step_parts(struct filling *f, const double *room, double *part, double step, double *least)
{
    uint32_t columns = f->k->columns;
    double tried[MOST_COLUMNS];
    bool better = false;
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t x = 0; x < columns; x++)
            tried[x] = part[x] * (1 - step) + (x == c ? step : 0);
        double worth = weigh(f, room, tried);
        if (worth >= *least * (1 - NEAR))
            continue;
        *least = worth;
        memcpy(part, tried, columns * sizeof(*part));
        better = true;
    }
    return better;
}

/* The parts of the columns by which cut items are worth least: then whole ones are seen best. They stay with the
 * machine from round to round. */
static void find_parts(struct filling *f, const double *room, double *part)
{
    double least = weigh(f, room, part);
    for (double step = 0.5; step > 0.01; step /= 2)
        for (uint32_t n = 0; n < STEPS && step_parts(f, room, part, step, &least); n++)
            ;
    weigh(f, room, part);
}

/* The worth that no filling of the machine exceeds; best_take is one that comes near. */
static double fill_most(struct filling *f, uint32_t machine, double *part)
{
    const struct market *k = f->k;
    const double *room = k->room + (size_t)machine * k->columns;
    memcpy(f->left, room, k->columns * sizeof(*room));
    memset(f->take, 0, k->items * sizeof(*f->take));
    memset(f->best_take, 0, k->items * sizeof(*f->take));
    f->count = 0;
    for (uint32_t i = 0; i < k->items; i++) {
        f->most[i] = market_holds(k, machine, i) ? fits(f, i, k->count[i]) : 0;
        if (f->most[i] > 0 && f->worth[i] > 0)
            f->item[f->count++] = i;
    }
    f->work += k->items * k->columns;
    find_parts(f, room, part);
    f->best = f->bound = 0;
    f->nodes = FILL_NODES;
    try_from(f, 0, 0, ALL);
    return greater(f->bound, f->best);
}

/* --- the linear programme --- */

struct programme { /* worths of the items, the most in all, by which no load is worth more than its price */
    uint32_t items, loads;
    double *load;  /* a row a load, then its price */
    double *table; /* the same, as the simplex method goes on, and a row for what is to be the most */
    uint32_t *row_of, *column_of; /* by row and column: the variable there; items first, then slacks */
    double work;
};

static void pivot(struct programme *p, uint32_t row, uint32_t column)
{
    uint32_t wide = p->items + 1;
    double *by = p->table + (size_t)row * wide, whole = by[column];
    for (uint32_t c = 0; c < wide; c++)
        by[c] /= whole;
    by[column] = 1 / whole;
    for (uint32_t r = 0; r <= p->loads; r++) {
        double *of = p->table + (size_t)r * wide, times = of[column];
        if (r == row || times == 0)
            continue;
        for (uint32_t c = 0; c < wide; c++)
            of[c] = c == column ? -times * by[c] : of[c] - times * by[c];
        p->work += wide;
    }
    uint32_t swap = p->row_of[row];
    p->row_of[row] = p->column_of[column];
    p->column_of[column] = swap;
}

static bool choose(const struct programme *p, uint32_t *row_out, uint32_t *column_out)
{
    uint32_t wide = p->items + 1;
    const double *gain = p->table + (size_t)p->loads * wide;
    uint32_t column = 0;
    for (uint32_t c = 1; c < p->items; c++)
        column = gain[c] > gain[column] ? c : column;
    double least = INFINITY;
    for (uint32_t r = 0; r < p->loads; r++) {
        const double *of = p->table + (size_t)r * wide;
        if (of[column] > 1e-9 && of[p->items] / of[column] < least) {
            least = of[p->items] / of[column];
            *row_out = r;
        }
    }
    *column_out = column;
    return gain[column] > 1e-9 && least < (double)INFINITY;
}

static void solve(struct programme *p, const double *count, double *worth_out)
{
    uint32_t wide = p->items + 1, row, column;
    memcpy(p->table, p->load, (size_t)p->loads * wide * sizeof(*p->load));
    memcpy(p->table + (size_t)p->loads * wide, count, p->items * sizeof(*count));
    p->table[(size_t)p->loads * wide + p->items] = 0;
    for (uint32_t i = 0; i < p->items; i++)
        p->column_of[i] = i;
    for (uint32_t r = 0; r < p->loads; r++)
        p->row_of[r] = p->items + r;
    for (uint32_t n = 4 * (p->items + p->loads); n > 0 && choose(p, &row, &column); n--)
        pivot(p, row, column);
    memset(worth_out, 0, p->items * sizeof(*worth_out));
    for (uint32_t r = 0; r < p->loads; r++)
        if (p->row_of[r] < p->items)
            worth_out[p->row_of[r]] = greater(0, p->table[(size_t)r * wide + p->items]);
}

static void add_load(struct programme *p, const double *counts, double price)
{
    double *row = p->load + (size_t)p->loads * (p->items + 1);
    memcpy(row, counts, p->items * sizeof(*row));
    row[p->items] = price;
    p->loads++;
}

/* --- both --- */

struct whole {
    const struct market *k;
    struct filling f;
    struct programme p;
    double *part;  /* a row a machine: see find_parts */
    double *worth, *best, *next; /* by item: asked about; those of the best bound; the programme's */
    double bound;
};

static void whole_init(struct whole *w, const struct market *k, const double *first)
{
    struct arena *a = k->arena;
    size_t n = k->items, rows = MOST_LOADS + 1;
    *w = (struct whole){.k = k, .f = {.k = k}, .p = {.items = k->items}};
    w->worth = ARENA_ARRAY(a, double, n);
    w->best = ARENA_ARRAY(a, double, n);
    w->next = ARENA_ARRAY(a, double, n);
    memcpy(w->worth, first, n * sizeof(*first));
    memcpy(w->best, first, n * sizeof(*first));
    w->f.worth = w->worth;
    w->f.most = ARENA_ARRAY(a, double, n);
    w->f.weight = ARENA_ARRAY(a, double, n);
    w->f.ratio = ARENA_ARRAY(a, double, n);
    w->f.item = ARENA_ARRAY(a, uint32_t, n);
    w->f.take = ARENA_ARRAY(a, double, n);
    w->f.best_take = ARENA_ARRAY(a, double, n);
    w->f.left = ARENA_ARRAY(a, double, k->columns);
    w->p.load = ARENA_ARRAY(a, double, rows * (n + 1));
    w->p.table = ARENA_ARRAY(a, double, rows * (n + 1));
    w->p.row_of = ARENA_ARRAY(a, uint32_t, rows);
    w->p.column_of = ARENA_ARRAY(a, uint32_t, n);
    w->part = ARENA_ARRAY(a, double, (size_t)k->machines * k->columns);
    for (size_t i = 0; i < (size_t)k->machines * k->columns; i++)
        w->part[i] = 1.0 / k->columns;
}

/* What every machine can be filled with for the worths asked about: the bound that follows, and loads that the
 * programme does not know. False: there is none. */
static bool ask(struct whole *w)
{
    const struct market *k = w->k;
    double fullest = 0, all = 0;
    uint32_t known = w->p.loads;
    for (uint32_t m = 0; m < k->machines; m++) {
        fullest = greater(fullest, fill_most(&w->f, m, w->part + (size_t)m * k->columns) / k->price[m]);
        double next = 0;
        for (uint32_t i = 0; i < k->items; i++)
            next += w->f.best_take[i] * w->next[i];
        if (w->p.loads < MOST_LOADS && (next > k->price[m] * (1 + NEAR) || known < k->items))
            add_load(&w->p, w->f.best_take, k->price[m]);
    }
    for (uint32_t i = 0; i < k->items; i++)
        all += k->count[i] * w->worth[i];
    double bound = fullest > 0 ? all / fullest * (1 - SLACK) : 0;
    if (bound > w->bound) {
        w->bound = bound;
        memcpy(w->best, w->worth, k->items * sizeof(*w->best));
        for (uint32_t i = 0; i < k->items; i++)
            w->best[i] /= fullest;
    }
    return w->p.loads > known;
}

/* The cheapest machine for an item alone: without these the programme would have no end. */
static void add_alone(struct whole *w)
{
    const struct market *k = w->k;
    for (uint32_t i = 0; i < k->items; i++) {
        double least = INFINITY, counts = 0, price = 0;
        for (uint32_t m = 0; m < k->machines; m++) {
            memcpy(w->f.left, k->room + (size_t)m * k->columns, k->columns * sizeof(double));
            double n = market_holds(k, m, i) ? fits(&w->f, i, k->count[i]) : 0;
            if (n > 0 && k->price[m] / n < least) {
                least = k->price[m] / n;
                counts = n;
                price = k->price[m];
            }
        }
        memset(w->f.take, 0, k->items * sizeof(*w->f.take));
        w->f.take[i] = counts;
        if (counts > 0)
            add_load(&w->p, w->f.take, price);
    }
}

bool whole_suits(const struct market *k)
{
    for (uint32_t m = 0; m < k->machines; m++)
        if (k->there[m] > 0 || k->price[m] <= 0)
            return false;
    return k->items <= MOST_ITEMS && k->columns <= MOST_COLUMNS;
}

double whole_value(const struct market *k, const double *first)
{
    struct whole w;
    whole_init(&w, k, first);
    ask(&w);
    w.p.loads = w.p.loads < MOST_LOADS - k->items ? w.p.loads : MOST_LOADS - k->items;
    add_alone(&w);
    bool half = true, found = true; /* half the way from the best: the programme's own worths leap about */
    for (uint32_t round = 0; round < ROUNDS && (half || found) && w.p.work + w.f.work < WORK; round++) {
        solve(&w.p, k->count, w.next);
        half = found;
        for (uint32_t i = 0; i < k->items; i++)
            w.worth[i] = half ? (w.next[i] + w.best[i]) / 2 : w.next[i];
        found = ask(&w);
    }
    return w.bound;
}
