/* The page is made in one go from a snapshot that does not change meanwhile. Rows carry an id, so
 * that the script can tell what is the same row after an update, and so that one can be linked to. */
#include "server/page.h"

#include <math.h>
#include <stdlib.h>

#include "planner/explain/pools.h"
#include "planner/held.h"
#include "server/html.h"
#include "server/page_memory.h"

enum { CPU, MEMORY, PODS_LISTED_MAX = 40, PODS_LISTED_ALL = 5000 };

struct page {
    struct page_memory *memory;
};

struct page *page_new(void)
{
    struct page *p = mem_new(sizeof(*p));
    p->memory = page_memory_new();
    return p;
}

void page_free(struct page *p)
{
    if (p == NULL)
        return;
    page_memory_free(p->memory);
    free(p);
}

void page_decided(struct page *p, const struct decision *d)
{
    page_memory_add(p->memory, d);
}

struct span page_reason(struct page *p, struct arena *a, const struct pod *pod)
{
    return page_memory_reason(p->memory, a, KIND_POD, &pod->meta);
}

struct span page_put_off(struct page *p, struct arena *a, const struct pod *pod)
{
    return page_memory_put_off(p->memory, a, &pod->meta);
}

void page_forget(struct page *p)
{
    page_memory_forget(p->memory);
}

void page_standing(struct page *p, struct span text)
{
    page_memory_standing(p->memory, text);
}

uint64_t page_version(const struct page *p)
{
    return page_memory_version(p->memory);
}

/* --- what one rendering knows --- */

struct render {
    struct page *page;
    const struct page_view *v;
    struct arena a;
    struct buf *out;
    const struct held *held;
    uint32_t listed; /* names of pods written so far */
};

static const struct symtab *syms(const struct render *r)
{
    return r->v->snapshot->syms;
}

static void put(struct render *r, const char *html)
{
    buf_add(r->out, span_of(html));
}

static void cell(struct render *r, const char *label, const char *attributes)
{
    buf_addf(r->out, "<td data-label=\"%s\"%s>", label, attributes);
}

static void number_cell(struct render *r, const char *label, double value)
{
    buf_addf(r->out, "<td class=n data-label=\"%s\" data-v=\"%.15g\">", label,
             isnan(value) ? -1 : value);
}

struct column {
    const char *name;
    bool number;
};

static void begin_table(struct render *r, const char *id, const char *title, size_t count,
                        const struct column *columns, size_t column_count)
{
    buf_addf(r->out,
             "<section id=\"%s\"><h2>%s <span class=count id=\"%s-count\">%zu</span></h2>"
             "<table data-table=\"%s\"><thead><tr>",
             id, title, id, count, id);
    for (size_t i = 0; i < column_count; i++)
        buf_addf(r->out, "<th scope=col%s><button type=button>%s</button></th>",
                 columns[i].number ? " class=n" : "", columns[i].name);
    put(r, "</tr></thead><tbody>");
}

static void end_table(struct render *r, const char *id, size_t shown, size_t all, const char *none)
{
    put(r, "</tbody></table>");
    buf_addf(r->out, "<p class=note id=\"%s-note\">", id);
    if (all == 0)
        put(r, none);
    else if (shown < all)
        buf_addf(r->out, "The first %zu of %zu.", shown, all);
    put(r, "</p></section>");
}

static void begin_row(struct render *r, const char *kind, struct span ns, struct span name)
{
    struct buf *out = r->out;
    buf_addf(out, "<tr id=\"%s/", kind);
    if (ns.len != 0) {
        html_text(out, ns);
        buf_add_char(out, '/');
    }
    html_text(out, name);
    buf_add(out, SPAN("\">"));
}

/* A name that links to its own row. */
static void put_name(struct render *r, const char *kind, struct span ns, struct span name)
{
    buf_addf(r->out, "<a href=\"#%s/", kind);
    if (ns.len != 0) {
        html_text(r->out, ns);
        buf_add_char(r->out, '/');
    }
    html_text(r->out, name);
    put(r, "\">");
    if (ns.len != 0) {
        html_text(r->out, ns);
        buf_add_char(r->out, '/');
    }
    html_text(r->out, name);
    put(r, "</a>");
}

/* --- waiting --- */

/* Pods of one owner that wait for one reason are one row: 500 pods of a Deployment are one thing to
 * know. */
struct waiting {
    const struct pod *pod;
    struct span owner; /* of its controller; its own name without one */
    struct span why;   /* HTML */
};

struct pods {
    struct waiting *waiting;
    size_t waiting_count, capacity, running;
};

static int by_group(const void *x, const void *y)
{
    const struct waiting *a = x, *b = y;
    int c = span_cmp(a->pod->meta.ns, b->pod->meta.ns);
    if (c == 0)
        c = span_cmp(a->owner, b->owner);
    if (c == 0)
        c = span_cmp(a->why, b->why);
    return c != 0 ? c : span_cmp(a->pod->meta.name, b->pod->meta.name);
}

static bool same_group(const struct waiting *a, const struct waiting *b)
{
    return span_eq(a->pod->meta.ns, b->pod->meta.ns) && span_eq(a->owner, b->owner) &&
           span_eq(a->why, b->why);
}

static struct span owner_of(const struct pod *p)
{
    const struct owner *controller = meta_controller(&p->meta);
    return controller != NULL ? controller->name : p->meta.name;
}

static void put_why_waiting(struct render *r, const struct pod *p)
{
    const struct place *place =
        r->v->places != NULL ? places_find(r->v->places, p->meta.uid) : NULL;
    if (place != NULL) {
        put(r, place->on_claim ? "planned for " : "planned for node ");
        put_name(r, "node", (struct span){NULL, 0}, place->target);
        put(r, place->on_claim ? ", which is on its way" : "");
        return;
    }
    struct span why = page_reason(r->page, &r->a, p);
    if (why.len != 0)
        html_text(r->out, why);
    else if (p->meta.deleted != 0)
        put(r, "is being deleted");
    else
        put(r, pod_is_pending(p) ? "seen, not planned yet" : "the scheduler has not tried it yet");
}

static struct span why_waiting(struct render *r, const struct pod *p)
{
    struct buf text = {0}, *out = r->out;
    r->out = &text;
    put_why_waiting(r, p);
    r->out = out;
    struct span why = arena_dup(&r->a, buf_span(&text));
    buf_release(&text);
    return why;
}

static struct pods collect_pods(struct render *r)
{
    struct pods pods = {NULL, 0, 0, 0};
    struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;) {
        if (pod_is_terminal(p))
            continue;
        if (p->node != SYM_NONE) {
            pods.running++;
            continue;
        }
        struct waiting w = {p, owner_of(p), why_waiting(r, p)};
        ARENA_PUSH(&r->a, pods.waiting, pods.waiting_count, pods.capacity, w);
    }
    if (pods.waiting_count != 0)
        qsort(pods.waiting, pods.waiting_count, sizeof(pods.waiting[0]), by_group);
    return pods;
}

static void begin_list(struct render *r, uint32_t count, struct span of)
{
    put(r, "<details><summary>");
    if (of.len != 0) {
        html_text(r->out, of);
        put(r, " ×");
    }
    buf_addf(r->out, "%u</summary><ul>", count);
}

/* True while there is room for one more name. */
static bool list_pod(struct render *r, const struct pod *p, uint32_t so_far, bool linked)
{
    if (so_far >= PODS_LISTED_MAX || r->listed >= PODS_LISTED_ALL)
        return false;
    r->listed++;
    put(r, "<li");
    if (linked) {
        put(r, " id=\"pod/");
        html_text(r->out, p->meta.ns);
        put(r, "/");
        html_text(r->out, p->meta.name);
        put(r, "\"");
    }
    put(r, ">");
    html_text(r->out, p->meta.ns);
    put(r, "/");
    html_text(r->out, p->meta.name);
    return true;
}

static void end_list(struct render *r, uint32_t shown, uint32_t count)
{
    if (shown < count)
        buf_addf(r->out, "<li>and %u more", count - shown);
    put(r, "</ul></details>");
}

static void put_group(struct render *r, const struct waiting *w, uint32_t count)
{
    const struct meta *first = &w->pod->meta;
    wall_ms since = first->created;
    for (uint32_t i = 1; i < count; i++)
        since = w[i].pod->meta.created < since ? w[i].pod->meta.created : since;
    if (count == 1) {
        begin_row(r, "pod", first->ns, first->name);
        cell(r, "pod", "");
        put_name(r, "pod", first->ns, first->name);
    } else {
        struct span id = arena_printf(&r->a, "%.*s/%llx", SPAN_ARG(w->owner),
                                      (unsigned long long)span_hash(w->why));
        begin_row(r, "waiting", first->ns, id);
        cell(r, "pod", "");
        begin_list(r, count,
                   arena_printf(&r->a, "%.*s/%.*s", SPAN_ARG(first->ns), SPAN_ARG(w->owner)));
        uint32_t shown = 0;
        while (shown < count && list_pod(r, w[shown].pod, shown, true))
            shown++;
        end_list(r, shown, count);
    }
    number_cell(r, "waits", (double)-since);
    html_age(r->out, r->v->now - since);
    cell(r, "why", "");
    buf_add(r->out, w->why);
    put(r, "</tr>");
}

static void put_waiting(struct render *r, const struct pods *pods)
{
    static const struct column columns[] = {{"pod", false}, {"waits", true}, {"why", false}};
    size_t rows = 0, at = 0;
    begin_table(r, "waiting", "Waiting", pods->waiting_count, columns, COUNT_OF(columns));
    for (; at < pods->waiting_count && rows < PAGE_ROWS_MAX; rows++) {
        size_t end = at + 1;
        while (end < pods->waiting_count && same_group(&pods->waiting[at], &pods->waiting[end]))
            end++;
        put_group(r, &pods->waiting[at], (uint32_t)(end - at));
        at = end;
    }
    end_table(r, "waiting", at, pods->waiting_count, "Nothing waits.");
}

/* --- pools --- */

struct tally { /* of the nodes of one pool, or of all */
    uint32_t nodes, ready;
    double price; /* of the priced ones */
    amount asked[2], there[2];
};

static const struct meta *meta_of(const struct world_node *n)
{
    return n->node != NULL ? &n->node->meta : &n->claim->meta;
}

static struct tally tally_nodes(const struct render *r, sym pool)
{
    struct tally t = {0};
    for (uint32_t row = 0; row < world_node_count(r->v->world); row++) {
        const struct world_node *n = world_node_at(r->v->world, row);
        if (pool != SYM_NONE && sym_pairs_get(meta_of(n)->labels, SYM_NODEPOOL) != pool)
            continue;
        t.nodes++;
        t.ready += n->stage == NODE_INITIALIZED || n->stage == NODE_UNMANAGED;
        t.price += isnan(n->price) ? 0 : n->price;
        for (int c = CPU; c <= MEMORY; c++) {
            t.asked[c] += world_requested(r->v->world, row)[c];
            t.there[c] += world_allocatable(r->v->world, row)[c];
        }
    }
    return t;
}

static void put_limits(struct render *r, const struct node_pool *p)
{
    for (uint32_t i = 0; i < p->limits.count; i++) {
        const struct resource *limit = &p->limits.items[i];
        struct span name = sym_text(syms(r), limit->name);
        amount used = resources_get(p->status_resources, limit->name);
        if (i != 0)
            put(r, ", ");
        quantity_put(r->out, name, used);
        put(r, " of ");
        quantity_put(r->out, name, limit->value);
        put(r, " ");
        html_text(r->out, name);
    }
    if (p->limits.count == 0)
        put(r, "none");
}

static void put_pool_state(struct render *r, const struct node_pool *p)
{
    const struct condition *ready = conditions_find(p->conditions, SPAN("Ready"));
    const struct condition *valid = conditions_find(p->conditions, SPAN("ValidationSucceeded"));
    if (p->meta.deleted != 0)
        put(r, "is being deleted");
    else if (valid != NULL && valid->status == CONDITION_FALSE) {
        put(r, "<strong>set aside</strong>: ");
        html_text(r->out, valid->message);
    } else if (ready == NULL || ready->status != CONDITION_TRUE) {
        put(r, "<strong>not ready</strong>");
        struct span why = pool_not_ready(p);
        if (why.len != 0) {
            put(r, ": ");
            html_text(r->out, why);
        }
    } else
        put(r, "ready");
}

static void put_pool(struct render *r, const struct node_pool *p)
{
    sym name = sym_find(syms(r), p->meta.name);
    struct tally t = {0};
    if (name != SYM_NONE && r->v->world != NULL)
        t = tally_nodes(r, name);
    begin_row(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    cell(r, "pool", "");
    put_name(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    number_cell(r, "nodes", t.nodes);
    buf_addf(r->out, "%u", t.nodes);
    if (t.ready != t.nodes)
        buf_addf(r->out, " (%u ready)", t.ready);
    cell(r, "limits used", "");
    put_limits(r, p);
    number_cell(r, "weight", p->weight);
    buf_addf(r->out, "%d", (int)p->weight);
    number_cell(r, "$/hour", t.price);
    html_price(r->out, t.price);
    cell(r, "state", "");
    put_pool_state(r, p);
    put(r, "</tr>");
}

static int by_pool_name(const void *x, const void *y)
{
    const struct node_pool *a = *(const struct node_pool *const *)x;
    const struct node_pool *b = *(const struct node_pool *const *)y;
    return span_cmp(a->meta.name, b->meta.name);
}

static void put_pools(struct render *r)
{
    static const struct column columns[] = {{"pool", false},  {"nodes", true}, {"limits used", false},
                                            {"weight", true}, {"$/hour", true}, {"state", false}};
    const struct node_pool **pools = NULL;
    size_t count = 0, capacity = 0;
    struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_NODE_POOL);
    for (const struct node_pool *p; (p = snapshot_next(&it)) != NULL;)
        ARENA_PUSH(&r->a, pools, count, capacity, p);
    if (count != 0)
        qsort(pools, count, sizeof(pools[0]), by_pool_name);
    size_t shown = count < PAGE_ROWS_MAX ? count : PAGE_ROWS_MAX;
    begin_table(r, "pools", "Pools", count, columns, COUNT_OF(columns));
    for (size_t i = 0; i < shown; i++)
        put_pool(r, pools[i]);
    end_table(r, "pools", shown, count, "No NodePool: Stowage has nothing to buy from.");
}

/* --- nodes --- */

static double share_of(amount part, amount whole)
{
    double f = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    return f < 0 ? 0 : f > 100 ? 100 : f;
}

/* Asked for by pods that are there; hatched: planned; dotted: kept for DaemonSets to come. */
static void put_bar(struct render *r, uint32_t row, int column)
{
    const amount *held = held_at(r->held, row);
    const amount *daemons = world_daemons_expected(r->v->world, row);
    amount there = world_allocatable(r->v->world, row)[column];
    amount asked = world_requested(r->v->world, row)[column];
    amount planned = held != NULL ? held[column] : 0;
    amount kept = daemons != NULL ? daemons[column] : 0;
    void (*show)(struct buf *, int64_t) = column == CPU ? html_cpu : html_bytes;
    const char *label = column == CPU ? "cpu" : "memory";
    double x1 = share_of(asked, there), x2 = share_of(amount_add(asked, planned), there);
    double x3 = share_of(amount_add(amount_add(asked, planned), kept), there);
    number_cell(r, label, x1);
    show(r->out, asked);
    put(r, " of ");
    show(r->out, there);
    if (planned != 0) {
        put(r, ", ");
        show(r->out, planned);
        put(r, " planned");
    }
    buf_addf(r->out,
             "<svg class=bar viewBox=\"0 0 100 6\" preserveAspectRatio=none aria-hidden=true>"
             "<rect class=asked width=\"%.1f\" height=6 />"
             "<rect class=planned x=\"%.1f\" width=\"%.1f\" height=6 />"
             "<rect class=kept x=\"%.1f\" width=\"%.1f\" height=6 /></svg>",
             x1, x1, x2 - x1, x2, x3 - x2);
}

static void put_label(struct render *r, const char *column, const struct world_node *n, sym key)
{
    cell(r, column, "");
    sym value = sym_pairs_get(meta_of(n)->labels, key);
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, key);
    html_text(r->out, sym_text(syms(r), value));
}

static void put_pods(struct render *r, const struct world_node *n, uint32_t row)
{
    const struct pod *const *pods = world_node_pods(r->v->world, row);
    number_cell(r, "pods", n->pod_count);
    if (n->pod_count == 0) {
        put(r, "0");
        return;
    }
    begin_list(r, n->pod_count, (struct span){NULL, 0});
    uint32_t shown = 0;
    while (shown < n->pod_count && list_pod(r, pods[shown], shown, false))
        shown++;
    end_list(r, shown, n->pod_count);
}

static void put_node_state(struct render *r, const struct world_node *n)
{
    static const char *const stages[] = {[NODE_UNMANAGED] = "not ours",
                                         [NODE_LAUNCHING] = "launching",
                                         [NODE_REGISTERED] = "starting",
                                         [NODE_INITIALIZED] = "ready"};
    put(r, n->leaving ? "<strong>leaving</strong>" : stages[n->stage]);
    enum kind k = n->node != NULL ? KIND_NODE : KIND_NODE_CLAIM;
    struct span why = page_memory_reason(r->page->memory, &r->a, k, meta_of(n));
    if (why.len == 0)
        return;
    if (span_has_prefix(why, meta_of(n)->name)) /* as every sentence about a node begins */
        why = (struct span){why.ptr + meta_of(n)->name.len, why.len - meta_of(n)->name.len};
    put(r, "<br><small>");
    html_text(r->out, why);
    put(r, "</small>");
}

static void put_node(struct render *r, uint32_t row)
{
    const struct world_node *n = world_node_at(r->v->world, row);
    begin_row(r, "node", (struct span){NULL, 0}, n->name);
    cell(r, "node", "");
    put_name(r, "node", (struct span){NULL, 0}, n->name);
    put_label(r, "pool", n, SYM_NODEPOOL);
    put_bar(r, row, CPU);
    put_bar(r, row, MEMORY);
    put_pods(r, n, row);
    put_label(r, "type", n, SYM_INSTANCE_TYPE);
    put_label(r, "zone", n, SYM_ZONE);
    put_label(r, "capacity", n, SYM_CAPACITY_TYPE);
    number_cell(r, "$/hour", n->price);
    html_price(r->out, n->price);
    number_cell(r, "age", (double)-meta_of(n)->created);
    html_age(r->out, r->v->now - meta_of(n)->created);
    cell(r, "state", "");
    put_node_state(r, n);
    put(r, "</tr>");
}

static void put_nodes(struct render *r)
{
    static const struct column columns[] = {
        {"node", false}, {"pool", false},     {"cpu", true},    {"memory", true}, {"pods", true},
        {"type", false}, {"zone", false},     {"capacity", false}, {"$/hour", true},
        {"age", true},   {"state", false}};
    size_t count = r->v->world != NULL ? world_node_count(r->v->world) : 0;
    size_t shown = count < PAGE_ROWS_MAX ? count : PAGE_ROWS_MAX;
    begin_table(r, "nodes", "Nodes", count, columns, COUNT_OF(columns));
    for (uint32_t row = 0; row < shown; row++)
        put_node(r, row);
    end_table(r, "nodes", shown, count, "No nodes.");
}

/* --- decisions --- */

static void put_decisions(struct render *r)
{
    static const struct column columns[] = {
        {"time (UTC)", true}, {"what", false}, {"decision", false}, {"$/hour", true}, {"id", false}};
    uint32_t count;
    const struct page_entry *e = page_memory_entries(r->page->memory, &r->a, &count);
    begin_table(r, "decisions", "Decisions", count, columns, COUNT_OF(columns));
    for (uint32_t i = 0; i < count; i++) {
        struct span row = arena_printf(&r->a, "%.*s/%llu", SPAN_ARG(e[i].id),
                                       (unsigned long long)e[i].sequence);
        begin_row(r, "decision", (struct span){NULL, 0}, row);
        number_cell(r, "time (UTC)", (double)e[i].at);
        html_clock(r->out, e[i].at);
        cell(r, "what", e[i].warning ? " class=warning" : "");
        html_text(r->out, e[i].subject);
        cell(r, "decision", "");
        html_text(r->out, e[i].sentence);
        number_cell(r, "$/hour", e[i].per_hour);
        if (!isnan(e[i].per_hour))
            html_price(r->out, e[i].per_hour);
        cell(r, "id", "");
        put_name(r, "decision", (struct span){NULL, 0}, e[i].id);
        put(r, "</tr>");
    }
    end_table(r, "decisions", count, count, "Nothing decided yet.");
}

/* --- the whole --- */

static void put_share(struct render *r, const struct tally *t, int column, const char *name)
{
    void (*show)(struct buf *, int64_t) = column == CPU ? html_cpu : html_bytes;
    put(r, "<li><b>");
    show(r->out, t->asked[column]);
    put(r, " of ");
    show(r->out, t->there[column]);
    buf_addf(r->out, "</b> %s asked for, %.0f %%", name,
             share_of(t->asked[column], t->there[column]));
}

static void put_summary(struct render *r, const struct pods *pods)
{
    enum { HOURS_A_MONTH = 730 };
    struct tally t = {0};
    if (r->v->world != NULL)
        t = tally_nodes(r, SYM_NONE);
    buf_addf(r->out, "<ul id=summary><li><b>%u</b> nodes", t.nodes);
    buf_addf(r->out, "<li><b>%zu</b> pods run, <b>%zu</b> wait", pods->running,
             pods->waiting_count);
    put_share(r, &t, CPU, "CPUs");
    put_share(r, &t, MEMORY, "memory");
    put(r, "<li><b>");
    html_price(r->out, t.price);
    buf_addf(r->out, "</b> an hour, $%.0f a month</ul>", t.price * HOURS_A_MONTH);
}

static void put_standing(struct render *r)
{
    struct span standing = page_memory_standing_text(r->page->memory, &r->a);
    put(r, "<p id=standing>");
    if (standing.len != 0) {
        put(r, "This replica ");
        html_text(r->out, standing);
        put(r, ". ");
    }
    put(r, "As of ");
    html_clock(r->out, r->v->now);
    put(r, " UTC.</p>");
}

void page_main(struct page *p, const struct page_view *v, struct buf *out)
{
    struct render r = {.page = p, .v = v, .out = out};
    arena_init(&r.a, 1 << 16);
    put(&r, "<main>");
    put_standing(&r);
    if (v->snapshot == NULL) {
        put(&r, "<p id=empty>The cluster has not been read yet.</p>");
    } else {
        if (v->world != NULL)
            r.held = held_new(&r.a, v->world, v->snapshot, v->places);
        struct pods pods = collect_pods(&r);
        put_summary(&r, &pods);
        put_waiting(&r, &pods);
        put_pools(&r);
        put_nodes(&r);
    }
    put_decisions(&r);
    put(&r, "</main>");
    arena_release(&r.a);
}

void page_html(struct page *p, const struct page_view *v, struct buf *out)
{
    buf_add(out, SPAN("<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
                      "<meta name=viewport content=\"width=device-width, initial-scale=1\">"
                      "<meta name=color-scheme content=\"light dark\">"
                      "<title>Stowage</title><link rel=icon href=\"data:,\">"
                      "<link rel=stylesheet href=\"/page.css\">"
                      "<script src=\"/page.js\" defer></script></head><body>"
                      "<header><h1>Stowage</h1><nav aria-label=Sections><a href=\"#waiting\">waiting</a> "
                      "<a href=\"#pools\">pools</a> <a href=\"#nodes\">nodes</a> "
                      "<a href=\"#decisions\">decisions</a></nav>"
                      "<p id=line role=status>not live</p></header>"
                      "<svg class=defs aria-hidden=true><defs>"
                      "<pattern id=hatch width=4 height=4 patternUnits=userSpaceOnUse>"
                      "<path d=\"M0 4 4 0\" /></pattern>"
                      "<pattern id=dots width=3 height=3 patternUnits=userSpaceOnUse>"
                      "<circle cx=1.5 cy=1.5 r=.8 /></pattern></defs></svg>"));
    page_main(p, v, out);
    buf_add(out, SPAN("</body></html>\n"));
}
