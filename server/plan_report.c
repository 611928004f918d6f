#include "server/plan_report.h"

#include <math.h>
#include <stdlib.h>

#include "planner/plan/plan_workloads.h"
#include "server/html.h"

enum { HUES = 12 };

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d2430;--paper:#fdfdfb;--faint:#5c6370;--line:#dcdfe4;--room:#eef0f2;--new:#2f6f9f;"
    "--warn:#a63b1e;--l:58%}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--paper:#14181f;--faint:#98a1b0;--line:#2c333e;--room:#20262f;"
    "--new:#5ea3d6;--warn:#f0865f;--l:48%}}"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:80rem;padding:1rem;color:var(--ink);background:var(--paper);"
    "font:15px/1.45 system-ui,sans-serif;font-variant-numeric:tabular-nums}h1{font-size:1.25rem;margin:0}"
    "h2{font-size:1.05rem;margin:1.6rem 0 .4rem}p{color:var(--faint);margin:.2rem 0 1rem;max-width:46rem}"
    "table{border-collapse:collapse;max-width:100%}th,td{padding:.2rem 1.6rem .2rem 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:normal;color:var(--faint)}.n{text-align:right}"
    ".chip{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.5em}"
    ".nodes{display:flex;flex-wrap:wrap;gap:.6rem}.node{border:1px solid var(--line);border-radius:4px;padding:.4rem .5rem;"
    "min-width:0;max-width:100%;font-size:.85rem}.node.new{border-color:var(--new);border-width:2px}"
    ".node b{display:block;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".node small{display:block;color:var(--faint);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".bar{display:flex;height:14px;margin-top:3px;background:var(--room);border-radius:2px;overflow:hidden}"
    ".bar i{display:block;min-width:1px;border-right:1px solid var(--paper)}.over{background:var(--faint)}"
    ".warn{color:var(--warn)}"
    ".h0{background:hsl(210 55% var(--l))}.h1{background:hsl(28 70% var(--l))}.h2{background:hsl(130 35% var(--l))}"
    ".h3{background:hsl(350 55% var(--l))}.h4{background:hsl(265 40% var(--l))}.h5{background:hsl(45 60% var(--l))}"
    ".h6{background:hsl(180 40% var(--l))}.h7{background:hsl(310 40% var(--l))}.h8{background:hsl(85 40% var(--l))}"
    ".h9{background:hsl(0 45% var(--l))}.h10{background:hsl(235 45% var(--l))}.h11{background:hsl(155 45% var(--l))}";

/* --- words --- */

static uint32_t hue(const struct pod_workload *w)
{
    return (uint32_t)((span_hash(w->ns) * 31 + span_hash(w->name)) % HUES);
}

static void put_who(struct buf *out, const struct pod_workload *w)
{
    html_text(out, w->kind);
    buf_add_char(out, ' ');
    html_text(out, w->ns);
    buf_add_char(out, '/');
    html_text(out, w->name);
}

/* --- what stands on a node --- */

struct heap { /* the pods of one workload there */
    struct pod_workload who;
    uint32_t pods;
    amount cpu, memory;
};

struct box {
    struct span name, told; /* type, zone, kind of capacity */
    double price;
    bool bought;
    amount cpu, memory; /* that pods may ask for */
    const struct heap *heaps;
    uint32_t heap_count;
    amount other_cpu, other_memory; /* of a new node: of DaemonSets that will come */
};

static int by_who(const void *a, const void *b)
{
    const struct heap *x = a, *y = b;
    int order = span_cmp(x->who.ns, y->who.ns);
    order = order != 0 ? order : span_cmp(x->who.kind, y->who.kind);
    return order != 0 ? order : span_cmp(x->who.name, y->who.name);
}

static int by_cpu(const void *a, const void *b)
{
    const struct heap *x = a, *y = b;
    return x->cpu != y->cpu ? (x->cpu < y->cpu) - (x->cpu > y->cpu) : by_who(a, b);
}

static uint32_t take_pods(struct heap *heaps, uint32_t n, const struct symtab *syms, const struct pod *const *pods,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        heaps[n++] = (struct heap){pod_workload(pods[i], NULL, syms), 1, resources_get(pods[i]->requests, SYM_CPU),
                                   resources_get(pods[i]->requests, SYM_MEMORY)};
    return n;
}

static void fill(struct box *b, struct heap *heaps, uint32_t n)
{
    uint32_t kept = 0;
    if (n != 0)
        qsort(heaps, n, sizeof(*heaps), by_who);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || by_who(&heaps[kept - 1], &heaps[i]) != 0) {
            heaps[kept++] = heaps[i];
            continue;
        }
        struct heap *h = &heaps[kept - 1];
        h->pods++;
        h->cpu = amount_add(h->cpu, heaps[i].cpu);
        h->memory = amount_add(h->memory, heaps[i].memory);
    }
    if (kept != 0)
        qsort(heaps, kept, sizeof(*heaps), by_cpu);
    b->heaps = heaps;
    b->heap_count = kept;
}

static struct box box_of_claim(struct arena *a, const struct plan *p, const struct plan_claim *c)
{
    static const struct instance_type none;
    const struct instance_type *type = c->type_count != 0 ? c->types[0] : &none;
    struct heap *heaps = ARENA_ARRAY(a, struct heap, c->pod_count);
    struct box b = {.name = c->name, .price = c->price, .bought = true,
                    .cpu = resources_get(type->allocatable, SYM_CPU), .memory = resources_get(type->allocatable, SYM_MEMORY),
                    .other_cpu = resources_get(c->requests, SYM_CPU), .other_memory = resources_get(c->requests, SYM_MEMORY)};
    b.told = c->type_count > 1 ? arena_printf(a, "%.*s or %u more", SPAN_ARG(type->name), c->type_count - 1) : type->name;
    fill(&b, heaps, take_pods(heaps, 0, p->syms, c->pods, c->pod_count));
    for (uint32_t i = 0; i < b.heap_count; i++) {
        b.other_cpu -= b.heaps[i].cpu;
        b.other_memory -= b.heaps[i].memory;
    }
    return b;
}

static struct span label_of(const struct plan *p, const struct world_node *n, sym key)
{
    sym value = n->node != NULL ? sym_pairs_get(n->node->meta.labels, key) : SYM_NONE;
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, key);
    return value != SYM_NONE ? sym_text(p->syms, value) : SPAN("");
}

/* `more` are the pods that the plan puts there; NULL: none. */
static struct box box_of_node(struct arena *a, const struct plan *p, uint32_t row, const struct plan_node *more)
{
    const struct world_node *n = world_node_at(p->world, row);
    const amount *room = world_allocatable(p->world, row);
    uint32_t added = more != NULL ? more->pod_count : 0;
    struct heap *heaps = ARENA_ARRAY(a, struct heap, (size_t)n->pod_count + added);
    struct box b = {.name = n->name, .price = n->price, .cpu = room[0], .memory = room[1]};
    struct span type = label_of(p, n, SYM_INSTANCE_TYPE), zone = label_of(p, n, SYM_ZONE),
                capacity = label_of(p, n, SYM_CAPACITY_TYPE);
    b.told = arena_printf(a, "%.*s %.*s %.*s", SPAN_ARG(type), SPAN_ARG(capacity), SPAN_ARG(zone));
    uint32_t count = take_pods(heaps, 0, p->syms, n->pods, n->pod_count);
    fill(&b, heaps, take_pods(heaps, count, p->syms, more != NULL ? more->pods : NULL, added));
    return b;
}

/* --- the picture --- */

static double percent(amount part, amount whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_part(struct buf *out, const struct heap *h, const struct box *b, bool cpu)
{
    double part = cpu ? percent(h->cpu, b->cpu) : percent(h->memory, b->memory);
    if (part <= 0)
        return;
    buf_addf(out, "<i class=\"h%u\" style=\"width:%.2f%%\" title=\"", hue(&h->who), part);
    put_who(out, &h->who);
    buf_addf(out, ": %u pod%s, ", h->pods, h->pods == 1 ? "" : "s");
    if (cpu)
        html_cpu(out, h->cpu);
    else
        html_bytes(out, h->memory);
    buf_addf(out, "%s, %.0f %%\"></i>", cpu ? " CPUs" : "", part);
}

static void put_bar(struct buf *out, const struct box *b, bool cpu)
{
    double other = cpu ? percent(b->other_cpu, b->cpu) : percent(b->other_memory, b->memory);
    buf_addf(out, "<div class=\"bar\" role=\"img\" aria-label=\"%s\">", cpu ? "CPU" : "memory");
    for (uint32_t i = 0; i < b->heap_count; i++)
        put_part(out, &b->heaps[i], b, cpu);
    if (b->bought && other > 0)
        buf_addf(out, "<i class=\"over\" style=\"width:%.2f%%\" title=\"DaemonSets, %.0f %%\"></i>", other, other);
    buf_add(out, SPAN("</div>"));
}

static void put_box(struct buf *out, const struct box *b)
{
    enum { LEAST = 11, MOST = 40 }; /* rem; one for 2 CPUs */
    double wide = LEAST + (double)b->cpu / 1000 / 2;
    buf_addf(out, "<div class=\"node%s\" style=\"width:%.1frem\"><b>", b->bought ? " new" : "", wide < MOST ? wide : MOST);
    html_text(out, b->name);
    buf_add(out, SPAN("</b><small>"));
    html_text(out, b->told);
    buf_add(out, SPAN("</small><small>"));
    html_price(out, b->price);
    buf_add(out, SPAN("/h · "));
    html_cpu(out, b->cpu);
    buf_add(out, SPAN(" CPUs · "));
    html_bytes(out, b->memory);
    buf_add(out, SPAN("</small>"));
    put_bar(out, b, true);
    put_bar(out, b, false);
    buf_add(out, SPAN("</div>\n"));
}

static void put_nodes(struct buf *out, const struct plan *p)
{
    uint32_t rows = world_node_count(p->world), shown = 0, total = p->claim_count + rows;
    struct arena a;
    arena_init(&a, 0);
    const struct plan_node **more = ARENA_ARRAY(&a, const struct plan_node *, rows);
    for (uint32_t i = 0; i < p->node_count; i++)
        more[p->nodes[i].row] = &p->nodes[i];
    buf_addf(out, "<h2>%u node%s, %u of them new</h2>\n<p>As wide as their CPUs; the upper bar is what pods ask of CPU, the "
                  "lower one memory. New nodes have a blue edge.</p>\n<div class=\"nodes\">\n",
             total, total == 1 ? "" : "s", p->claim_count);
    for (uint32_t i = 0; i < p->claim_count && shown < REPORT_NODES_MAX; i++, shown++) {
        struct box b = box_of_claim(&a, p, &p->claims[i]);
        put_box(out, &b);
    }
    for (uint32_t row = 0; row < rows && shown < REPORT_NODES_MAX; row++, shown++) {
        struct box b = box_of_node(&a, p, row, more[row]);
        put_box(out, &b);
    }
    buf_add(out, SPAN("</div>\n"));
    if (shown < total)
        buf_addf(out, "<p>And %u more.</p>\n", total - shown);
    arena_release(&a);
}

/* --- who asks, and who has no place --- */

static void put_workloads(struct buf *out, const struct plan *p)
{
    struct arena a;
    const struct plan_workload *list;
    arena_init(&a, 0);
    uint32_t n = plan_workloads(&a, p, &list);
    if (n != 0)
        buf_add(out, SPAN("<h2>Who waits</h2>\n<table><tr><th>Workload</th><th class=\"n\">Pods</th><th>Where</th>"
                          "<th class=\"n\">$ a month</th></tr>\n"));
    for (uint32_t i = 0; i < n && i < REPORT_WORKLOADS_MAX; i++) {
        const struct plan_workload *w = &list[i];
        buf_addf(out, "<tr><td><span class=\"chip h%u\"></span>", hue(&w->who));
        html_text(out, plan_workload_name(&a, &w->who));
        buf_addf(out, "</td><td class=\"n\">%u</td><td%s>", w->pods, w->left != 0 ? " class=\"warn\"" : "");
        html_text(out, plan_workload_where(&a, w));
        if (isnan(w->price))
            buf_add(out, SPAN("</td><td class=\"n\">?</td></tr>\n"));
        else
            buf_addf(out, "</td><td class=\"n\">%.2f</td></tr>\n", w->price * HOURS_A_MONTH);
    }
    if (n != 0)
        buf_add(out, SPAN("</table>\n"));
    if (n > REPORT_WORKLOADS_MAX)
        buf_addf(out, "<p>And %u more, none of them dearer.</p>\n", n - REPORT_WORKLOADS_MAX);
    arena_release(&a);
}

static void put_left(struct buf *out, const struct plan *p)
{
    struct arena a;
    arena_init(&a, 0);
    if (p->unschedulable_count != 0)
        buf_add(out, SPAN("<h2>No place</h2>\n<table><tr><th>Pod</th><th>Why</th></tr>\n"));
    for (uint32_t i = 0; i < p->unschedulable_count && i < REPORT_WORKLOADS_MAX; i++) {
        const struct plan_unschedulable *u = &p->unschedulable[i];
        buf_add(out, SPAN("<tr><td>"));
        html_text(out, arena_printf(&a, "%.*s/%.*s", SPAN_ARG(u->pod->meta.ns), SPAN_ARG(u->pod->meta.name)));
        buf_add(out, SPAN("</td><td>"));
        html_text(out, why_text(&a, &u->why));
        buf_add(out, SPAN("</td></tr>\n"));
    }
    if (p->unschedulable_count != 0)
        buf_add(out, SPAN("</table>\n"));
    if (p->unschedulable_count > REPORT_WORKLOADS_MAX)
        buf_addf(out, "<p>And %u more.</p>\n", p->unschedulable_count - REPORT_WORKLOADS_MAX);
    arena_release(&a);
}

static void put_answer(struct buf *out, const struct plan *p)
{
    double more = (p->cost_after - p->cost_before) * HOURS_A_MONTH;
    buf_addf(out, "<p>%u pod%s wait%s. ", p->waiting, p->waiting == 1 ? "" : "s", p->waiting == 1 ? "s" : "");
    if (isnan(p->cost_after))
        buf_add(out, SPAN("The price is not known: some of the types have no offering that can be launched."));
    else
        buf_addf(out, "$%.3f/h now, $%.3f/h with the plan (%s$%.0f a month).", p->cost_before, p->cost_after,
                 more < 0 ? "-" : "+", fabs(more));
    if (!isnan(p->cost_after) && p->lower_bound > 0)
        buf_addf(out, " No fleet for these pods is cheaper than $%.3f/h.", p->lower_bound);
    buf_add(out, SPAN("</p>\n"));
}

void plan_report(struct buf *out, const struct plan *p)
{
    buf_addf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\"><title>stowage plan</title><style>%s</style></head>"
                  "<body>\n<h1>stowage plan</h1>\n", style);
    put_answer(out, p);
    put_workloads(out, p);
    put_left(out, p);
    put_nodes(out, p);
    buf_add(out, SPAN("</body></html>\n"));
}
