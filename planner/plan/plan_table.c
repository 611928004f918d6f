#include "planner/plan/plan_table.h"

#include <math.h>

#include "base/wrap.h"
#include "planner/plan/grid.h"
#include "planner/plan/plan_table_inner.h"
#include "planner/plan/plan_workloads.h"

/* --- words --- */

/* Lines after the first are indented by two more, unless the first is not. */
static void put_wrapped(struct buf *out, struct span text, uint32_t width, uint32_t indent)
{
    wrap_spaces(out, indent);
    wrap_put(out, text, width, indent, indent != 0 ? indent + 2 : 0);
}

/* --- who asks --- */

static void put_workloads(struct buf *out, struct arena *a, const struct plan *p, uint32_t width)
{
    struct grid g = {.arena = a, .columns = 4, .apart = GRID_NONE, .right = 1u << 1 | 1u << 3};
    static const char *const head[] = {"WORKLOAD", "PODS", "WHERE", "$/MONTH"};
    const struct plan_workload *workloads;
    uint32_t n = plan_workloads(a, p, &workloads);
    struct span *row = grid_row(&g);
    for (uint32_t c = 0; c < g.columns; c++)
        row[c] = span_of(head[c]);
    for (uint32_t i = 0; i < n; i++) {
        const struct plan_workload *w = &workloads[i];
        row = grid_row(&g);
        row[0] = plan_workload_name(a, &w->who);
        row[1] = arena_printf(a, "%u", w->pods);
        row[2] = plan_workload_where(a, w);
        row[3] = isnan(w->price) ? SPAN("?") : arena_printf(a, "%.2f", w->price * HOURS_A_MONTH);
    }
    buf_add_char(out, '\n');
    grid_put(out, &g, width, 0);
}

static void put_use(struct buf *out, struct arena *a, const struct plan *p, const struct plan_table_options *o)
{
    struct grid g = {.arena = a, .columns = o->wide ? 6 : 5, .apart = GRID_NONE, .right = 1u << 2};
    static const char *const head[] = {"USE", "NODE", "PODS", "CPU AFTER", "MEMORY AFTER", "WHOSE"};
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
        row[3] = plan_text_share(a, true, cpu, room[0]);
        row[4] = plan_text_share(a, false, memory, room[1]);
        if (o->wide)
            row[5] = plan_workloads_of(a, p, n->pods, n->pod_count);
    }
    buf_add_char(out, '\n');
    grid_put(out, &g, o->width, 1);
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
    double more = (p->cost_after - p->cost_before) * HOURS_A_MONTH;
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
        put_wrapped(out, plan_text_take(a, &b), width, 2);
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
        put_wrapped(out, plan_text_take(a, &line), width, 0);
        return;
    }
    put_answer(&line, p);
    if (o->left_out.len != 0)
        buf_addf(&line, " %.*s.", SPAN_ARG(o->left_out));
    put_wrapped(out, plan_text_take(a, &line), width, 0);
    put_workloads(out, a, p, o->width);
    if (p->claim_count != 0)
        plan_table_buy(out, a, p, o);
    if (p->node_count != 0)
        put_use(out, a, p, o);
    if (p->unschedulable_count != 0)
        put_no_place(out, a, p, width, o->verbose);
    buf_add_char(out, '\n');
    line = (struct buf){0};
    put_cost(&line, p);
    put_wrapped(out, plan_text_take(a, &line), width, 0);
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
