/* What to buy: a row for all nodes that differ in nothing but their zones. */
#include <math.h>

#include "planner/plan/grid.h"
#include "planner/plan/plan_table_inner.h"
#include "planner/plan/plan_workloads.h"

/* --- words --- */

struct span plan_text_take(struct arena *a, struct buf *b)
{
    struct span text = arena_dup(a, buf_span(b));
    buf_release(b);
    return text;
}


/* "7.2" of millicores; "15Gi" of bytes: short, for people. */
static void put_short(struct buf *out, bool cpu, amount value)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    double x = (double)value;
    uint32_t unit = 0;
    if (cpu)
        x /= 1000;
    while (!cpu && fabs(x) >= 1024 && unit + 1 < COUNT_OF(units)) {
        x /= 1024;
        unit++;
    }
    buf_addf(out, x < 9.95 && x != floor(x) ? "%.1f" : "%.0f", x);
    buf_addf(out, "%s", units[unit]);
}

struct span plan_text_share(struct arena *a, bool cpu, amount used, amount room)
{
    struct buf b = {0};
    put_short(&b, cpu, used);
    buf_add_char(&b, '/');
    put_short(&b, cpu, room);
    if (room > 0)
        buf_addf(&b, " %2.0f%%", 100.0 * (double)used / (double)room);
    return plan_text_take(a, &b);
}

enum { BUY_POOL = 1, BUY_ZONE = 5, BUY_TYPE = 7, BUY_WHOSE = 9 };

/* What all of the texts begin with, when they are of one length; else 0. */
static uint32_t shared_prefix(const struct plan *p, const struct requirement *r)
{
    struct span first = sym_text(p->syms, r->values[0]);
    uint32_t n = (uint32_t)first.len;
    for (uint32_t i = 1; i < r->count; i++) {
        struct span other = sym_text(p->syms, r->values[i]);
        if (other.len != first.len)
            return 0;
        while (memcmp(first.ptr, other.ptr, n) != 0)
            n--;
    }
    return n;
}

/* "zone-a|zone-b"; brief: "zone-a|b", since what zones begin with is the region. */
static struct span zones_text(struct arena *a, const struct plan *p, const struct requirement *r, bool brief)
{
    enum { NAMED = 4 };
    if (r->count == 0)
        return SPAN("any");
    uint32_t shared = brief ? shared_prefix(p, r) : 0;
    struct buf b = {0};
    for (uint32_t i = 0; i < r->count && i < NAMED; i++) {
        struct span zone = sym_text(p->syms, r->values[i]);
        uint32_t from = i != 0 ? shared : 0;
        buf_addf(&b, "%s%.*s", i != 0 ? "|" : "", (int)(zone.len - from), zone.ptr + from);
    }
    if (r->count > NAMED)
        buf_addf(&b, "|…");
    return plan_text_take(a, &b);
}

static struct span capacity_text(struct arena *a, const struct plan *p, const struct plan_claim *c,
                                 bool brief)
{
    const struct requirement *r = requirements_get(&c->requirements, SYM_CAPACITY_TYPE);
    if (r == NULL || r->complement || r->count == 0)
        return SPAN("any");
    struct buf b = {0};
    for (uint32_t i = 0; i < r->count; i++) {
        struct span kind = sym_text(p->syms, r->values[i]);
        bool demand = brief && span_eq(kind, SPAN("on-demand"));
        buf_addf(&b, "%s%.*s", i != 0 ? "|" : "", SPAN_ARG(demand ? SPAN("od") : kind));
    }
    return plan_text_take(a, &b);
}

static void buy_row(struct arena *a, const struct plan *p, const struct plan_claim *c, bool brief,
                    struct span *row)
{
    static const struct instance_type none;
    const struct instance_type *type = c->type_count != 0 ? c->types[0] : &none;
    row[1] = c->pool->meta.name;
    row[2] = arena_printf(a, "%u", c->pod_count);
    row[3] = plan_text_share(a, true, resources_get(c->requests, SYM_CPU),
                        resources_get(type->allocatable, SYM_CPU));
    row[4] = plan_text_share(a, false, resources_get(c->requests, SYM_MEMORY),
                        resources_get(type->allocatable, SYM_MEMORY));
    row[6] = capacity_text(a, p, c, brief);
    row[BUY_TYPE] = c->type_count > 1
                        ? arena_printf(a, "%.*s (of %u)", SPAN_ARG(type->name), c->type_count)
                        : type->name;
    row[8] = isnan(c->price) ? SPAN("?") : arena_printf(a, "%.4f", c->price);
}

struct buy { /* nodes that differ in nothing but their zones, if that */
    uint32_t row, nodes;
    uint64_t hash;
    struct requirement zones; /* of all of them; no values: any */
};

static bool same_row(const struct span *x, const struct span *y)
{
    for (uint32_t c = 1; c < GRID_COLUMNS; c++)
        if (c != BUY_ZONE && !span_eq(x[c], y[c]))
            return false;
    return true;
}

static uint64_t hash_row(const struct span *row)
{
    uint64_t hash = 0;
    for (uint32_t c = 1; c < GRID_COLUMNS; c++)
        hash = hash * 31 + (c != BUY_ZONE ? span_hash(row[c]) : 0);
    return hash;
}

static struct requirement zones_of(const struct plan_claim *c)
{
    const struct requirement *r = requirements_get(&c->requirements, SYM_ZONE);
    struct requirement any = {0};
    return r == NULL || r->complement ? any : *r;
}

static bool has_zone(const struct requirement *zones, sym zone)
{
    for (uint32_t i = 0; i < zones->count; i++)
        if (zones->values[i] == zone)
            return true;
    return false;
}

static void add_zones(struct arena *a, struct requirement *to, struct requirement more)
{
    if (to->count == 0 || more.count == 0) {
        *to = (struct requirement){0};
        return;
    }
    sym *values = ARENA_ARRAY(a, sym, (size_t)to->count + more.count);
    memcpy(values, to->values, to->count * sizeof(*values));
    for (uint32_t i = 0; i < more.count; i++)
        if (!has_zone(to, more.values[i])) {
            values[to->count++] = more.values[i];
            to->values = values;
        }
    to->values = values;
}

struct buying {
    struct arena *arena;
    struct grid grid;
    struct buy *items, **slots;
    uint32_t count, mask;
    bool brief, wide;
};

/* The rows before it that look like the last one; NULL: none do, and it is one of its own. */
static struct buy *find_alike(struct buying *b, uint64_t hash)
{
    const struct span *row = b->grid.rows[b->grid.count - 1];
    for (uint64_t at = hash;; at++) {
        struct buy **slot = &b->slots[at & b->mask];
        if (*slot == NULL) {
            *slot = &b->items[b->count];
            return NULL;
        }
        if ((*slot)->hash == hash && same_row(b->grid.rows[(*slot)->row], row))
            return *slot;
    }
}

static void add_buy(struct buying *b, const struct plan *p, const struct plan_claim *c)
{
    struct span *row = grid_row(&b->grid);
    buy_row(b->arena, p, c, b->brief, row);
    if (b->wide)
        row[BUY_WHOSE] = plan_workloads_of(b->arena, p, c->pods, c->pod_count);
    uint64_t hash = hash_row(row);
    struct buy *alike = b->wide ? NULL : find_alike(b, hash);
    if (alike != NULL) {
        b->grid.count--;
        alike->nodes++;
        add_zones(b->arena, &alike->zones, zones_of(c));
    } else {
        b->items[b->count++] = (struct buy){b->grid.count - 1, 1, hash, zones_of(c)};
    }
}

static struct grid buy_grid(struct arena *a, const struct plan *p, bool brief, bool wide)
{
    static const char *const head[] = {"BUY",  "POOL",     "PODS", "CPU",   "MEMORY",
                                       "ZONE", "CAPACITY", "TYPE", "$/HOUR", "WHOSE"};
    struct buying b = {.arena = a,
                       .grid = {.arena = a, .columns = wide ? 10 : 9, .apart = GRID_NONE, .right = 1u << 2 | 1u << 8},
                       .items = ARENA_ARRAY(a, struct buy, p->claim_count),
                       .mask = 1,
                       .brief = brief,
                       .wide = wide};
    while (b.mask < 2 * p->claim_count)
        b.mask = b.mask * 2 + 1;
    b.slots = ARENA_ARRAY(a, struct buy *, (size_t)b.mask + 1);
    struct span *row = grid_row(&b.grid);
    for (uint32_t c = 0; c < b.grid.columns; c++)
        row[c] = span_of(head[c]);
    for (uint32_t i = 0; i < p->claim_count; i++)
        add_buy(&b, p, &p->claims[i]);
    for (uint32_t i = 0; i < b.count; i++) {
        row = b.grid.rows[b.items[i].row];
        row[0] = arena_printf(a, "+%u", b.items[i].nodes);
        row[BUY_ZONE] = zones_text(a, p, &b.items[i].zones, brief);
    }
    return b.grid;
}

/* Where the terminal is too narrow, the types go on lines of their own, whole: they differ at the end.
 * Then zones and kinds of capacity are said in brief. */
void plan_table_buy(struct buf *out, struct arena *a, const struct plan *p, const struct plan_table_options *o)
{
    uint32_t width = o->width;
    struct grid g = buy_grid(a, p, false, o->wide);
    if (!grid_suits(&g, width))
        g.apart = BUY_TYPE;
    if (!grid_suits(&g, width)) {
        g = buy_grid(a, p, true, o->wide);
        g.apart = BUY_TYPE;
    }
    buf_add_char(out, '\n');
    grid_put(out, &g, width, BUY_POOL);
}
