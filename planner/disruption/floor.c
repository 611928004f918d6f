#include "planner/disruption/floor.h"

#include <math.h>

#include "planner/columns.h"
#include "planner/disruption/leavers.h"

enum { CPU, MEMORY }; /* columns of all vectors of a world */

struct size {
    amount cpu, memory;
};

/* --- the sizes that are asked about --- */

static struct size size_of(const struct world *w, const struct waiting_pod *p)
{
    const amount *requests = classes_requests(&w->classes, p->class_id);
    return (struct size){requests[CPU], requests[MEMORY]};
}

static bool has_size(const struct size *sizes, uint32_t count, struct size s)
{
    for (uint32_t i = 0; i < count; i++)
        if (sizes[i].cpu == s.cpu && sizes[i].memory == s.memory)
            return true;
    return false;
}

/* The first so many that come up: any will do. */
static uint32_t find_sizes(const struct world *w, struct simulator *s, struct candidates c, struct size *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.count; i++) {
        const struct row_leavers *r = simulation_leavers(s, c.items[i].row);
        for (uint32_t k = 0; k < r->order_count && n < FLOOR_SIZES; k++) {
            struct size one = size_of(w, &r->pods[r->order[k]]);
            if (!r->forced[k] && !has_size(out, n, one))
                out[n++] = one;
        }
    }
    return n;
}

/* --- what there is --- */

static uint32_t times(struct size room, struct size s)
{
    amount most = UINT32_MAX;
    if (s.cpu > 0 && room.cpu / s.cpu < most)
        most = room.cpu / s.cpu;
    if (s.memory > 0 && room.memory / s.memory < most)
        most = room.memory / s.memory;
    return (uint32_t)most;
}

static bool holds(struct size room, struct size s)
{
    return (s.cpu <= room.cpu || s.cpu == 0) && (s.memory <= room.memory || s.memory == 0);
}

/* Room below nothing refuses nobody who asks for none, and gives none. */
static amount above_nothing(amount v)
{
    return v > 0 ? v : 0;
}

static void add_free(const struct world *w, uint32_t row, struct size s, struct floor_share *out)
{
    const amount *left = world_vector(w, w->left, row);
    struct size room = {left[CPU], left[MEMORY]};
    if (w->nodes[row].leaving || !holds(room, s))
        return;
    room = (struct size){above_nothing(room.cpu), above_nothing(room.memory)};
    uint32_t n = times(room, s);
    out->free_cpu += (double)room.cpu;
    out->free_memory += (double)room.memory;
    out->holds = out->holds > UINT32_MAX - n ? UINT32_MAX : out->holds + n;
}

static void add_pods(const struct world *w, const struct row_leavers *r, struct size s, struct floor_share *out)
{
    for (uint32_t k = 0; k < r->order_count; k++) {
        struct size one = size_of(w, &r->pods[r->order[k]]);
        if (r->forced[k] || one.cpu < s.cpu || one.memory < s.memory)
            continue;
        out->cpu += (double)one.cpu;
        out->memory += (double)one.memory;
        out->pods++;
    }
}

/* --- what can be bought --- */

/* The largest that any of its offerings has. */
static struct size largest(const struct types *y, uint32_t type)
{
    struct size most = {0, 0};
    for (uint32_t g = y->first_group[type]; g < y->first_group[type + 1]; g++) {
        const amount *room = y->allocatable + (size_t)g * y->column_count;
        most.cpu = room[CPU] > most.cpu ? room[CPU] : most.cpu;
        most.memory = room[MEMORY] > most.memory ? room[MEMORY] : most.memory;
    }
    return most;
}

static bool is_spot_alone(const struct world *w, uint32_t kind)
{
    const struct requirement *r = requirements_get(w->types.kinds[kind], SYM_CAPACITY_TYPE);
    return r != NULL && !r->complement && r->count == 1 && r->values[0] == SYM_SPOT;
}

/* Of what the pool may buy, had or not; INFINITY: nothing. */
static double cheapest(const struct world *w, uint32_t type, const struct option *o, bool no_spot)
{
    const struct types *y = &w->types;
    double least = INFINITY;
    for (uint32_t k = y->first_offer[type]; k < y->first_offer[type + 1]; k++)
        if (bits_has(o->kinds, y->offers[k].kind) && !(no_spot && is_spot_alone(w, y->offers[k].kind)))
            least = fmin(least, isnan(y->offers[k].price) ? 0 : y->offers[k].price + o->node_cost);
    return least;
}

static double rate(double price, double of)
{
    return price <= 0 ? 0 : of > 0 ? price / of : INFINITY;
}

static void add_type(struct floor_market *m, struct size s, struct size room, double price)
{
    double pods = (double)times(room, s);
    if (!holds(room, s) || price == (double)INFINITY)
        return;
    m->per_pod = fmin(m->per_pod, rate(price, pods));
    m->per_cpu = fmin(m->per_cpu, rate(price, (double)room.cpu));
    m->per_memory = fmin(m->per_memory, rate(price, (double)room.memory));
    m->least = fmin(m->least, price);
    m->pods = fmax(m->pods, pods);
    m->cpu = fmax(m->cpu, (double)room.cpu);
    m->memory = fmax(m->memory, (double)room.memory);
}

static struct floor_market *find_markets(struct arena *a, const struct world *w, const struct size *sizes, uint32_t count,
                                         bool no_spot)
{
    const struct types *y = &w->types;
    struct floor_market *list = ARENA_ARRAY(a, struct floor_market, count);
    for (uint32_t i = 0; i < count; i++)
        list[i].per_pod = list[i].per_cpu = list[i].per_memory = list[i].least = INFINITY;
    for (uint32_t k = 0; k < w->option_count; k++) {
        const struct option *o = &w->options[k];
        for (BITS_EACH(type, o->types, y->words)) {
            struct size room = largest(y, type);
            double price = cheapest(w, type, o, no_spot);
            for (uint32_t i = 0; i < count; i++)
                add_type(&list[i], sizes[i], room, price);
        }
    }
    return list;
}

struct floor floor_make(struct arena *a, const struct world *w, struct simulator *s, struct candidates c)
{
    struct size sizes[FLOOR_SIZES];
    uint32_t n = find_sizes(w, s, c, sizes);
    struct floor_share *all = ARENA_ARRAY(a, struct floor_share, n);
    struct floor_share *of = ARENA_ARRAY(a, struct floor_share, (size_t)n * c.count);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t row = 0; row < w->node_count; row++)
            add_free(w, row, sizes[k], &all[k]);
    for (uint32_t i = 0; i < c.count; i++)
        for (uint32_t k = 0; k < n; k++) {
            add_free(w, c.items[i].row, sizes[k], &of[i * n + k]);
            add_pods(w, simulation_leavers(s, c.items[i].row), sizes[k], &of[i * n + k]);
        }
    return (struct floor){.sizes = n, .all = all, .of = of, .markets = find_markets(a, w, sizes, n, false),
                          .no_spot = find_markets(a, w, sizes, n, true)};
}

/* --- the answer --- */

/* How many machines so much needs. */
static double machines(double of, double each)
{
    return of <= 0 ? 0 : each > 0 ? ceil(of / each) : INFINITY;
}

/* What is over, of pods of this size and larger. */
static struct least least_at(const struct floor_share *all, const struct floor_market *m, const struct floor_share *x)
{
    double pods = fmax((double)x->pods - ((double)all->holds - (double)x->holds), 0);
    double cpu = fmax(x->cpu - (all->free_cpu - x->free_cpu), 0);
    double memory = fmax(x->memory - (all->free_memory - x->free_memory), 0);
    if (x->pods == 0 || all->holds == UINT32_MAX || (pods <= 0 && cpu <= 0 && memory <= 0))
        return (struct least){0, 0};
    if (m->least == (double)INFINITY)
        return (struct least){INFINITY, INFINITY};
    return (struct least){
        .price = fmax(fmax(m->least, pods * m->per_pod), fmax(cpu * m->per_cpu, memory * m->per_memory)),
        .claims = fmax(fmax(1, machines(pods, m->pods)), fmax(machines(cpu, m->cpu), machines(memory, m->memory))),
    };
}

static void add_share(struct floor_share *sum, const struct floor_share *one)
{
    sum->cpu += one->cpu;
    sum->memory += one->memory;
    sum->free_cpu += one->free_cpu;
    sum->free_memory += one->free_memory;
    sum->pods += one->pods;
    sum->holds += one->holds;
}

struct least floor_of(const struct floor *f, const uint8_t *has, uint32_t count, bool no_spot)
{
    struct least most = {0, 0};
    struct floor_share sums[FLOOR_SIZES] = {{.pods = 0}};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; has[i] && k < f->sizes; k++)
            add_share(&sums[k], &f->of[i * f->sizes + k]);
    for (uint32_t k = 0; k < f->sizes; k++) {
        struct least one = least_at(&f->all[k], &(no_spot ? f->no_spot : f->markets)[k], &sums[k]);
        most.price = fmax(most.price, one.price);
        most.claims = fmax(most.claims, one.claims);
    }
    return most;
}
