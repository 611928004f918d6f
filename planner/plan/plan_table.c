#include "planner/plan/plan_table.h"

#include <math.h>

#include "planner/plan/grid.h"
#include "base/wrap.h"

/* --- words --- */

/* Lines after the first are indented by two more, unless the first is not. */
static void put_wrapped(struct buf *out, struct span text, uint32_t width, uint32_t indent)
{
    wrap_spaces(out, indent);
    wrap_put(out, text, width, indent, indent != 0 ? indent + 2 : 0);
}

static struct span take(struct arena *a, struct buf *b)
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

static struct span share_text(struct arena *a, bool cpu, amount used, amount room)
{
    struct buf b = {0};
    put_short(&b, cpu, used);
    buf_add_char(&b, '/');
    put_short(&b, cpu, room);
    if (room > 0)
        buf_addf(&b, " %2.0f%%", 100.0 * (double)used / (double)room);
    return take(a, &b);
}

/* --- what to buy --- */

enum { BUY_POOL = 1, BUY_TYPE = 7 };

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
static struct span zones_text(struct arena *a, const struct plan *p, const struct plan_claim *c,
                              bool brief)
{
    enum { NAMED = 4 };
    const struct requirement *r = requirements_get(&c->requirements, SYM_ZONE);
    if (r == NULL || r->complement || r->count == 0)
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
    return take(a, &b);
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
    return take(a, &b);
}

static void buy_row(struct arena *a, const struct plan *p, const struct plan_claim *c, bool brief,
                    struct span *row)
{
    static const struct instance_type none;
    const struct instance_type *type = c->type_count != 0 ? c->types[0] : &none;
    row[1] = c->pool->meta.name;
    row[2] = arena_printf(a, "%u", c->pod_count);
    row[3] = share_text(a, true, resources_get(c->requests, SYM_CPU),
                        resources_get(type->allocatable, SYM_CPU));
    row[4] = share_text(a, false, resources_get(c->requests, SYM_MEMORY),
                        resources_get(type->allocatable, SYM_MEMORY));
    row[5] = zones_text(a, p, c, brief);
    row[6] = capacity_text(a, p, c, brief);
    row[BUY_TYPE] = c->type_count > 1
                        ? arena_printf(a, "%.*s (of %u)", SPAN_ARG(type->name), c->type_count)
                        : type->name;
    row[8] = isnan(c->price) ? SPAN("?") : arena_printf(a, "%.4f", c->price);
}

static bool same_row(const struct span *x, const struct span *y)
{
    for (uint32_t c = 1; c < GRID_COLUMNS; c++)
        if (!span_eq(x[c], y[c]))
            return false;
    return true;
}

static struct grid buy_grid(struct arena *a, const struct plan *p, bool brief)
{
    struct grid g = {.arena = a, .columns = 9, .apart = GRID_NONE, .right = 1u << 2 | 1u << 8};
    static const char *const head[] = {"BUY",  "POOL",     "PODS", "CPU",   "MEMORY",
                                       "ZONE", "CAPACITY", "TYPE", "$/HOUR"};
    struct span *row = grid_row(&g);
    for (uint32_t c = 0; c < g.columns; c++)
        row[c] = span_of(head[c]);
    uint32_t alike = 0;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        row = grid_row(&g);
        buy_row(a, p, &p->claims[i], brief, row);
        if (g.count > 2 && same_row(row, g.rows[g.count - 2])) {
            g.count--;
            row = g.rows[g.count - 1];
            alike++;
        } else {
            alike = 1;
        }
        row[0] = arena_printf(a, "+%u", alike);
    }
    return g;
}

/* Where the terminal is too narrow, the types go on lines of their own, whole: they differ at the end.
 * Then zones and kinds of capacity are said in brief. */
static void put_buy(struct buf *out, struct arena *a, const struct plan *p, uint32_t width)
{
    struct grid g = buy_grid(a, p, false);
    if (!grid_suits(&g, width))
        g.apart = BUY_TYPE;
    if (!grid_suits(&g, width)) {
        g = buy_grid(a, p, true);
        g.apart = BUY_TYPE;
    }
    buf_add_char(out, '\n');
    grid_put(out, &g, width, BUY_POOL);
}

static void put_use(struct buf *out, struct arena *a, const struct plan *p, uint32_t width)
{
    struct grid g = {.arena = a, .columns = 5, .apart = GRID_NONE, .right = 1u << 2};
    static const char *const head[] = {"USE", "NODE", "PODS", "CPU AFTER", "MEMORY AFTER"};
    struct span *row = grid_row(&g);
    for (uint32_t c = 0; c < g.columns; c++)
        row[c] = span_of(head[c]);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct plan_node *n = &p->nodes[i];
        const struct world_node *x = world_node_at(p->world, n->row);
        const amount *room = world_allocatable(p->world, n->row);
        const amount *used = world_requested(p->world, n->row);
        amount cpu = used[0], memory = used[1];
        for (uint32_t k = 0; k < n->pod_count; k++) {
            cpu = amount_add(cpu, resources_get(n->pods[k]->requests, SYM_CPU));
            memory = amount_add(memory, resources_get(n->pods[k]->requests, SYM_MEMORY));
        }
        bool ready = x->stage == NODE_UNMANAGED || x->stage == NODE_INITIALIZED;
        row = grid_row(&g);
        row[0] = SPAN("");
        row[1] = ready ? x->name : arena_printf(a, "%.*s (not ready yet)", SPAN_ARG(x->name));
        row[2] = arena_printf(a, "%u", n->pod_count);
        row[3] = share_text(a, true, cpu, room[0]);
        row[4] = share_text(a, false, memory, room[1]);
    }
    buf_add_char(out, '\n');
    grid_put(out, &g, width, 1);
}

/* --- what has no place --- */

struct reason_group { /* pods with equal reason and sentence */
    const struct plan_unschedulable *first;
    uint32_t pods;
    bool one_owner;
    struct reason_group *next; /* of the same hash */
};

static uint32_t group_reasons(struct arena *a, const struct plan *p, struct reason_group **out)
{
    enum { SLOTS = 1024 };
    struct reason_group **slots = ARENA_ARRAY(a, struct reason_group *, SLOTS);
    struct reason_group *groups = ARENA_ARRAY(a, struct reason_group, p->unschedulable_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->unschedulable_count; i++) {
        const struct plan_unschedulable *u = &p->unschedulable[i];
        struct reason_group **slot = &slots[span_hash(u->why.sentence) % SLOTS], *g = *slot;
        while (g != NULL &&
               (g->first->reason != u->reason || !why_equal(&g->first->why, &u->why)))
            g = g->next;
        if (g == NULL) {
            g = &groups[n++];
            *g = (struct reason_group){.first = u, .one_owner = true, .next = *slot};
            *slot = g;
        }
        g->pods++;
        g->one_owner &= pod_same_controller(g->first->pod, u->pod);
    }
    *out = groups;
    return n;
}

static void put_subject(struct buf *b, const struct plan *p, const struct reason_group *g)
{
    const struct pod *pod = g->first->pod;
    buf_addf(b, "%.*s/%.*s", SPAN_ARG(pod->meta.ns), SPAN_ARG(pod->meta.name));
    if (g->pods == 1)
        return;
    const struct owner *o = g->one_owner ? meta_controller(&pod->meta) : NULL;
    buf_addf(b, " and %u more", g->pods - 1);
    if (o != NULL)
        buf_addf(b, " of %.*s %.*s/%.*s", SPAN_ARG(sym_text(p->syms, o->kind)),
                 SPAN_ARG(pod->meta.ns), SPAN_ARG(o->name));
    buf_addf(b, ": each");
}

static void put_reason(struct buf *out, const struct plan *p, const struct reason_group *g,
                       uint32_t width, bool verbose)
{
    const struct why *why = &g->first->why;
    struct buf line = {0};
    put_subject(&line, p, g);
    buf_addf(&line, " %.*s%s", SPAN_ARG(why->sentence), span_has_suffix(why->sentence, SPAN(".")) ? "" : ".");
    put_wrapped(out, buf_span(&line), width, 2);
    buf_release(&line);
    for (uint32_t i = 0; verbose && i < g->first->detail_count; i++) {
        const struct plan_detail *d = &g->first->details[i];
        struct buf text = {0};
        buf_addf(&text, "%.*s: %.*s", SPAN_ARG(d->about), SPAN_ARG(d->text));
        put_wrapped(out, buf_span(&text), width, 6);
        buf_release(&text);
    }
    if (why->fix.len != 0) {
        struct buf text = {0};
        buf_addf(&text, "Fix: %.*s.", SPAN_ARG(why->fix));
        put_wrapped(out, buf_span(&text), width, 6);
        buf_release(&text);
    }
}

static void put_no_place(struct buf *out, struct arena *a, const struct plan *p, uint32_t width,
                         bool verbose)
{
    struct reason_group *groups;
    uint32_t n = group_reasons(a, p, &groups);
    buf_addf(out, "\nNO PLACE\n");
    for (uint32_t i = 0; i < n; i++)
        put_reason(out, p, &groups[i], width, verbose);
}

/* --- the whole --- */

static void put_answer(struct buf *b, const struct plan *p)
{
    uint32_t fit = 0, bought = 0;
    for (uint32_t i = 0; i < p->node_count; i++)
        fit += p->nodes[i].pod_count;
    for (uint32_t i = 0; i < p->claim_count; i++)
        bought += p->claims[i].pod_count;
    const char *separator = ": ";
    buf_addf(b, "%u pod%s wait%s", p->waiting, p->waiting == 1 ? "" : "s",
             p->waiting == 1 ? "s" : "");
    if (fit != 0) {
        buf_addf(b, "%s%u fit%s on nodes that exist", separator, fit, fit == 1 ? "s" : "");
        separator = ", ";
    }
    if (bought != 0) {
        buf_addf(b, "%s%u need%s %u new node%s", separator, bought, bought == 1 ? "s" : "",
                 p->claim_count, p->claim_count == 1 ? "" : "s");
        separator = ", ";
    }
    if (p->unschedulable_count != 0)
        buf_addf(b, "%s%u ha%s no place", separator, p->unschedulable_count,
                 p->unschedulable_count == 1 ? "s" : "ve");
    buf_add_char(b, '.');
}

/* Hours in a month, as cloud bills count them. */
static const double MONTH = 730;

static double gap_percent(const struct plan *p)
{
    return p->lower_bound > 0 ? 100 * (p->cost_after / p->lower_bound - 1) : 0;
}

static void put_cost(struct buf *b, const struct plan *p)
{
    if (isnan(p->cost_after)) {
        buf_addf(b, "The price is not known: some of the types have no offering that can be "
                    "launched.");
        return;
    }
    double more = (p->cost_after - p->cost_before) * MONTH;
    buf_addf(b, "$%.3f/h now, $%.3f/h with the plan (%s$%.0f a month).", p->cost_before,
             p->cost_after, more < 0 ? "-" : "+", fabs(more));
    if (p->node_costs > 0)
        buf_addf(b, " Of that, $%.3f/h is what NodePools say that nodes cost beside their price.", p->node_costs);
    if (!isnan(p->lower_bound) && p->lower_bound > 0)
        buf_addf(b,
                 " No fleet for these pods is cheaper than $%.3f/h: the plan is within %.1f %%.",
                 p->lower_bound, gap_percent(p));
}

static void put_verbose(struct buf *out, struct arena *a, const struct plan *p, uint32_t width)
{
    enum { RUNNERS = 5 };
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct plan_claim *c = &p->claims[i];
        struct buf b = {0};
        buf_addf(&b, "%.*s:", SPAN_ARG(c->name));
        for (uint32_t k = 0; k < c->type_count && k < RUNNERS; k++)
            buf_addf(&b, " %.*s", SPAN_ARG(c->types[k]->name));
        if (c->type_count > RUNNERS)
            buf_addf(&b, " and %u more", c->type_count - RUNNERS);
        put_wrapped(out, take(a, &b), width, 2);
    }
    buf_addf(out, "\n%llu steps, %s.\n", (unsigned long long)p->steps,
             p->complete ? "searched to the end" : "stopped early");
}

static void put_all(struct buf *out, struct arena *a, const struct plan *p, uint32_t width,
                    const struct plan_table_options *o)
{
    struct buf line = {0};
    struct span idle = o->left_out.len != 0 ? o->left_out : SPAN("Nothing waits");
    if (p->waiting == 0) {
        buf_addf(&line, "%.*s. $%.3f/h", SPAN_ARG(idle), p->cost_before);
        if (!isnan(p->lower_bound) && p->lower_bound > 0)
            buf_addf(&line, ", within %.1f %% of the cheapest possible", gap_percent(p));
        buf_add_char(&line, '.');
        put_wrapped(out, take(a, &line), width, 0);
        return;
    }
    put_answer(&line, p);
    if (o->left_out.len != 0)
        buf_addf(&line, " %.*s.", SPAN_ARG(o->left_out));
    put_wrapped(out, take(a, &line), width, 0);
    if (p->claim_count != 0)
        put_buy(out, a, p, o->width);
    if (p->node_count != 0)
        put_use(out, a, p, o->width);
    if (p->unschedulable_count != 0)
        put_no_place(out, a, p, width, o->verbose);
    buf_add_char(out, '\n');
    line = (struct buf){0};
    put_cost(&line, p);
    put_wrapped(out, take(a, &line), width, 0);
    if (o->verbose)
        put_verbose(out, a, p, width);
}

void plan_table(struct buf *out, const struct plan *p, const struct plan_table_options *o)
{
    struct arena a;
    arena_init(&a, 0);
    put_all(out, &a, p, o->width != 0 ? o->width : 80, o);
    for (uint32_t i = 0; i < p->warning_count; i++) {
        buf_addf(out, "warning: ");
        wrap_put(out, p->warnings[i], o->width != 0 ? o->width : 80, 9, 2);
    }
    arena_release(&a);
}
