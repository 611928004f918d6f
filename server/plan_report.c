#include "server/plan_report.h"

#include <math.h>
#include <stdlib.h>

#include "planner/groups/cost.h"
#include "planner/groups/explain.h"
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
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:normal;color:var(--faint);overflow-wrap:normal}.n{text-align:right}"
    ".chip{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.5em}"
    ".nodes{display:flex;flex-wrap:wrap;gap:.6rem}.node{border:1px solid var(--line);border-radius:4px;padding:.4rem .5rem;"
    "min-width:0;max-width:100%;font-size:.85rem}.node.new{border-color:var(--new);border-width:2px}"
    ".node.gone{border-color:var(--warn);border-style:dashed}"
    ".node b{display:block;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".node small{display:block;color:var(--faint);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".bar{display:flex;height:14px;margin-top:3px;background:var(--room);border-radius:2px;overflow:hidden}"
    ".bar i{display:block;min-width:1px;border-right:1px solid var(--paper)}.over{background:var(--faint)}"
    "@media(max-width:30rem){th,td{padding-right:.8rem}}"
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
    bool bought, gone; /* to be; gone: a node group gives it back */
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

static struct span label_of(const struct symtab *syms, const struct world_node *n, sym key)
{
    sym value = n->node != NULL ? sym_pairs_get(n->node->meta.labels, key) : SYM_NONE;
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, key);
    return value != SYM_NONE ? sym_text(syms, value) : SPAN("");
}

/* Nodes that stand, as one of both worlds has them. */
struct ground {
    const struct world *world;
    const struct symtab *syms;
    const struct group_pass *groups; /* or NULL */
    struct span *gone;               /* their names, sorted */
    uint32_t gone_count;
};

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static void list_gone(struct ground *g, struct arena *a)
{
    const struct group_scale_down *down = &g->groups->down;
    g->gone = ARENA_ARRAY(a, struct span, (size_t)down->empty_count + down->drain_count);
    for (uint32_t i = 0; i < down->empty_count; i++)
        g->gone[g->gone_count++] = world_node_at(g->groups->world, down->empty[i])->name;
    for (uint32_t i = 0; i < down->drain_count; i++)
        g->gone[g->gone_count++] = world_node_at(g->groups->world, down->drain[i])->name;
    if (g->gone_count != 0)
        qsort(g->gone, g->gone_count, sizeof(*g->gone), by_text);
}

static const struct node_group *group_of(const struct ground *g, struct span node)
{
    int32_t at = g->groups != NULL ? group_model_node(g->groups->model, node) : -1;
    int32_t owner = at >= 0 ? g->groups->model->owners[at] : -1;
    return owner >= 0 ? g->groups->model->groups[owner].spec : NULL;
}

/* `more` are the pods that the plan puts there; NULL: none. */
static struct box box_of_node(struct arena *a, const struct ground *g, uint32_t row, const struct plan_node *more)
{
    const struct world_node *n = world_node_at(g->world, row);
    const struct node_group *group = group_of(g, n->name);
    const amount *room = world_allocatable(g->world, row);
    uint32_t added = more != NULL ? more->pod_count : 0;
    struct heap *heaps = ARENA_ARRAY(a, struct heap, (size_t)n->pod_count + added);
    struct box b = {.name = n->name, .price = n->price, .cpu = room[0], .memory = room[1]};
    struct span type = label_of(g->syms, n, SYM_INSTANCE_TYPE), zone = label_of(g->syms, n, SYM_ZONE),
                capacity = label_of(g->syms, n, SYM_CAPACITY_TYPE);
    b.gone = g->gone_count != 0 && bsearch(&n->name, g->gone, g->gone_count, sizeof(*g->gone), by_text) != NULL;
    if (group != NULL && group->has_price)
        b.price = group->price;
    b.told = group != NULL ? arena_printf(a, "%sgroup %.*s %.*s", b.gone ? "goes · " : "", SPAN_ARG(group->name), SPAN_ARG(zone))
                           : arena_printf(a, "%.*s %.*s %.*s", SPAN_ARG(type), SPAN_ARG(capacity), SPAN_ARG(zone));
    uint32_t count = take_pods(heaps, 0, g->syms, n->pods, n->pod_count);
    fill(&b, heaps, take_pods(heaps, count, g->syms, more != NULL ? more->pods : NULL, added));
    return b;
}

/* --- machines on their way to groups --- */

static int by_machine(const void *a, const void *b)
{
    const struct group_coming *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return group_pods_by_name(&x->pod, &y->pod);
}

struct coming { /* by group and machine, those of Nodes that are there already left out */
    struct group_coming *items;
    uint32_t count;
};

static struct coming list_coming(struct arena *a, const struct group_pass *p)
{
    struct coming out = {ARENA_ARRAY(a, struct group_coming, p->coming_count), 0};
    for (uint32_t i = 0; i < p->coming_count; i++)
        if (p->coming[i].row < 0)
            out.items[out.count++] = p->coming[i];
    if (out.count != 0)
        qsort(out.items, out.count, sizeof(*out.items), by_machine);
    return out;
}

/* Those that the pass asks for, and those of before for which somebody waits. */
static uint32_t machines_of(const struct group_pass *p, const struct coming *c, uint32_t group)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->decision_count; i++)
        most += p->decisions[i].group == group ? (uint32_t)p->decisions[i].delta : 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->items[i].group == group && c->items[i].machine > most)
            most = c->items[i].machine;
    return most;
}

/* `pods` are those of the machine. */
static struct box box_of_machine(struct arena *a, const struct group_pass *p, uint32_t group, uint32_t machine,
                                 const struct group_coming *pods, uint32_t count)
{
    const struct group *g = &p->model->groups[group];
    const struct group_template *t = &g->template;
    const struct symtab *syms = world_syms(p->world);
    struct heap *heaps = ARENA_ARRAY(a, struct heap, count);
    struct box b = {.bought = true, .price = g->spec->has_price ? g->spec->price : NAN};
    b.name = arena_printf(a, "machine %u of %.*s", machine, SPAN_ARG(g->spec->name));
    b.told = arena_printf(a, "group %.*s", SPAN_ARG(g->spec->name));
    b.cpu = t->node != NULL ? resources_get(t->node->allocatable, SYM_CPU) : 0;
    b.memory = t->node != NULL ? resources_get(t->node->allocatable, SYM_MEMORY) : 0;
    for (uint32_t i = 0; i < t->pod_count; i++) {
        b.other_cpu = amount_add(b.other_cpu, resources_get(t->pods[i]->requests, SYM_CPU));
        b.other_memory = amount_add(b.other_memory, resources_get(t->pods[i]->requests, SYM_MEMORY));
    }
    for (uint32_t i = 0; i < count; i++)
        take_pods(heaps, i, syms, &pods[i].pod, 1);
    fill(&b, heaps, count);
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
    buf_addf(out, "<div class=\"node%s\" style=\"width:%.1frem\"><b>", b->bought ? " new" : b->gone ? " gone" : "",
             wide < MOST ? wide : MOST);
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

struct picture {
    struct buf *out;
    struct arena a;
    const struct plan *plan;         /* or NULL */
    const struct group_pass *groups; /* or NULL */
    struct ground ground;
    struct coming coming;
    uint32_t shown;
};

static void show(struct picture *x, struct box b)
{
    if (x->shown++ < REPORT_NODES_MAX)
        put_box(x->out, &b);
}

static void show_machines(struct picture *x, uint32_t group, uint32_t count)
{
    const struct coming *c = &x->coming;
    uint32_t from = 0;
    while (from < c->count && c->items[from].group < group)
        from++;
    for (uint32_t m = 1; m <= count; m++) {
        uint32_t first = from;
        while (from < c->count && c->items[from].group == group && c->items[from].machine == m)
            from++;
        if (x->shown >= REPORT_NODES_MAX)
            x->shown++;
        else
            show(x, box_of_machine(&x->a, x->groups, group, m, c->items + first, from - first));
    }
}

static void show_new(struct picture *x)
{
    for (uint32_t i = 0; x->plan != NULL && i < x->plan->claim_count; i++)
        show(x, box_of_claim(&x->a, x->plan, &x->plan->claims[i]));
    for (uint32_t g = 0; x->groups != NULL && g < x->groups->model->group_count; g++)
        show_machines(x, g, machines_of(x->groups, &x->coming, g));
}

/* Rows of the world of groups are also templates, and what pools buy: those that stand are the model's Nodes. */
static void show_standing(struct picture *x, uint32_t count)
{
    const struct plan_node **more = ARENA_ARRAY(&x->a, const struct plan_node *, count);
    for (uint32_t i = 0; x->plan != NULL && i < x->plan->node_count; i++)
        more[x->plan->nodes[i].row] = &x->plan->nodes[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = x->plan != NULL ? i : (uint32_t)world_find_node(x->ground.world, x->groups->model->nodes[i]->meta.name);
        show(x, box_of_node(&x->a, &x->ground, row, more[i]));
    }
}

static uint32_t count_new(const struct picture *x)
{
    uint32_t count = x->plan != NULL ? x->plan->claim_count : 0;
    for (uint32_t g = 0; x->groups != NULL && g < x->groups->model->group_count; g++)
        count += machines_of(x->groups, &x->coming, g);
    return count;
}

static void put_nodes(struct buf *out, const struct plan *p, const struct group_pass *groups)
{
    struct picture x = {.out = out, .plan = p, .groups = groups};
    arena_init(&x.a, 0);
    uint32_t standing = 0;
    if (groups != NULL) {
        x.ground = (struct ground){.world = groups->world, .syms = world_syms(groups->world), .groups = groups};
        x.coming = list_coming(&x.a, groups);
        list_gone(&x.ground, &x.a);
        standing = groups->model->node_count;
    }
    if (p != NULL) {
        x.ground.world = p->world;
        x.ground.syms = p->syms;
        standing = world_node_count(p->world);
    }
    uint32_t fresh = count_new(&x), total = fresh + standing;
    buf_addf(out, "<h2>%u node%s, %u of them new", total, total == 1 ? "" : "s", fresh);
    if (x.ground.gone_count != 0)
        buf_addf(out, ", %u to go", x.ground.gone_count);
    buf_addf(out, "</h2>\n<p>As wide as their CPUs; the upper bar is what pods ask of CPU, the lower one memory. New nodes have a "
                  "blue edge%s.</p>\n<div class=\"nodes\">\n", x.ground.gone_count != 0 ? ", those that go a dashed one" : "");
    show_new(&x);
    show_standing(&x, standing);
    buf_add(out, SPAN("</div>\n"));
    if (x.shown > REPORT_NODES_MAX)
        buf_addf(out, "<p>And %u more.</p>\n", x.shown - REPORT_NODES_MAX);
    arena_release(&x.a);
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

static void put_row_left(struct buf *out, const struct pod *p, struct span why)
{
    buf_add(out, SPAN("<tr><td>"));
    html_text(out, p->meta.ns);
    buf_add_char(out, '/');
    html_text(out, p->meta.name);
    buf_add(out, SPAN("</td><td>"));
    html_text(out, why);
    buf_add(out, SPAN("</td></tr>\n"));
}

/* Whom neither pools nor groups take, a plan of the pools has. */
static void put_left(struct buf *out, const struct plan *p, const struct group_pass *groups)
{
    uint32_t count = p != NULL ? p->unschedulable_count : groups != NULL ? groups->up.left_count : 0;
    struct arena a;
    arena_init(&a, 0);
    if (count != 0)
        buf_add(out, SPAN("<h2>No place</h2>\n<table><tr><th>Pod</th><th>Why</th></tr>\n"));
    for (uint32_t i = 0; i < count && i < REPORT_WORKLOADS_MAX; i++) {
        if (p != NULL)
            put_row_left(out, p->unschedulable[i].pod, why_text(&a, &p->unschedulable[i].why));
        else
            put_row_left(out, groups->up.left[i].pod, group_reasons_text(groups->up.left[i].reasons, &a));
    }
    if (count != 0)
        buf_add(out, SPAN("</table>\n"));
    if (count > REPORT_WORKLOADS_MAX)
        buf_addf(out, "<p>And %u more.</p>\n", count - REPORT_WORKLOADS_MAX);
    arena_release(&a);
}

/* --- groups --- */

static void put_group(struct buf *out, const struct group_pass *p, uint32_t group)
{
    const struct node_group *g = p->model->groups[group].spec;
    int32_t before = p->model->groups[group].target, after = group_target_after(p, group);
    uint32_t pods = 0;
    for (uint32_t i = 0; i < p->coming_count; i++)
        pods += p->coming[i].group == group;
    if (before == after)
        return;
    buf_add(out, SPAN("<tr><td>"));
    html_text(out, g->name);
    buf_addf(out, "</td><td class=\"n\">%d → %d</td><td class=\"n\">%u</td>", before, after, pods);
    if (g->has_price)
        buf_addf(out, "<td class=\"n\">%+.2f</td></tr>\n", (after - before) * g->price * HOURS_A_MONTH);
    else
        buf_add(out, SPAN("<td class=\"n\">?</td></tr>\n"));
}

/* Whose pods wait for machines of groups, in the colours of the picture. */
static void put_waiting(struct buf *out, const struct group_pass *p)
{
    struct arena a;
    struct box all = {.name = SPAN("")};
    arena_init(&a, 0);
    struct heap *heaps = ARENA_ARRAY(&a, struct heap, p->coming_count);
    for (uint32_t i = 0; i < p->coming_count; i++)
        take_pods(heaps, i, world_syms(p->world), &p->coming[i].pod, 1);
    fill(&all, heaps, p->coming_count);
    for (uint32_t i = 0; i < all.heap_count && i < REPORT_WORKLOADS_MAX; i++) {
        buf_addf(out, "%s<span class=\"chip h%u\"></span>", i == 0 ? "<p>" : " · ", hue(&all.heaps[i].who));
        put_who(out, &all.heaps[i].who);
        buf_addf(out, " %u", all.heaps[i].pods);
    }
    if (all.heap_count > REPORT_WORKLOADS_MAX)
        buf_addf(out, " · and %u more", all.heap_count - REPORT_WORKLOADS_MAX);
    if (all.heap_count != 0)
        buf_add(out, SPAN("</p>\n"));
    arena_release(&a);
}

static void put_groups(struct buf *out, const struct group_pass *p)
{
    bool any = false;
    for (uint32_t g = 0; g < p->model->group_count; g++)
        any |= group_target_after(p, g) != p->model->groups[g].target;
    if (!any)
        return;
    buf_add(out, SPAN("<h2>Node groups</h2>\n<table><tr><th>Group</th><th class=\"n\">Machines</th><th class=\"n\">Pods</th>"
                      "<th class=\"n\">$ a month</th></tr>\n"));
    for (uint32_t g = 0; g < p->model->group_count; g++)
        put_group(out, p, g);
    buf_add(out, SPAN("</table>\n"));
    put_waiting(out, p);
}

static void put_group_answer(struct buf *out, const struct group_pass *p)
{
    struct buf text = {.max = 4096};
    group_cost_table(&text, p);
    if (text.len != 0)
        text.ptr[text.len - 1] = ' '; /* of a line */
    if (p->error.len != 0)
        buf_addf(&text, "The pass over the node groups ends early: %.*s.", SPAN_ARG(p->error));
    if (text.len != 0) {
        buf_add(out, SPAN("<p>"));
        html_text(out, buf_span(&text));
        buf_add(out, SPAN("</p>\n"));
    }
    buf_release(&text);
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

void plan_report(struct buf *out, const struct plan *p, const struct group_pass *groups)
{
    buf_addf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\"><title>stowage plan</title><style>%s</style></head>"
                  "<body>\n<h1>stowage plan</h1>\n", style);
    if (p != NULL)
        put_answer(out, p);
    if (groups != NULL)
        put_group_answer(out, groups);
    if (p != NULL)
        put_workloads(out, p);
    if (groups != NULL)
        put_groups(out, groups);
    put_left(out, p, groups);
    put_nodes(out, p, groups);
    buf_add(out, SPAN("</body></html>\n"));
}
