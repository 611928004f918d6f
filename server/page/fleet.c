#include "server/page/fleet.h"

#include <math.h>
#include <stdlib.h>

#include "planner/explain/pools.h"
#include "planner/held.h"
#include "server/html.h"

enum { CPU, MEMORY };

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
        struct span name = sym_text(render_syms(r), limit->name);
        amount used = resources_get(p->status_resources, limit->name);
        if (i != 0)
            render_put(r, ", ");
        quantity_put(r->out, name, used);
        render_put(r, " of ");
        quantity_put(r->out, name, limit->value);
        render_put(r, " ");
        html_text(r->out, name);
    }
    if (p->limits.count == 0)
        render_put(r, "none");
}

static void put_pool_state(struct render *r, const struct node_pool *p)
{
    const struct condition *ready = conditions_find(p->conditions, SPAN("Ready"));
    const struct condition *valid = conditions_find(p->conditions, SPAN("ValidationSucceeded"));
    if (p->meta.deleted != 0)
        render_put(r, "is being deleted");
    else if (valid != NULL && valid->status == CONDITION_FALSE) {
        render_put(r, "<strong>set aside</strong>: ");
        html_text(r->out, valid->message);
    } else if (ready == NULL || ready->status != CONDITION_TRUE) {
        render_put(r, "<strong>not ready</strong>");
        struct span why = pool_not_ready(p);
        if (why.len != 0) {
            render_put(r, ": ");
            html_text(r->out, why);
        }
    } else
        render_put(r, "ready");
}

static void put_pool(struct render *r, const struct node_pool *p)
{
    sym name = sym_find(render_syms(r), p->meta.name);
    struct tally t = {0};
    if (name != SYM_NONE && r->v->world != NULL)
        t = tally_nodes(r, name);
    render_row(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    render_cell(r, "pool", "");
    render_name(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    render_number(r, "nodes", t.nodes);
    buf_addf(r->out, "%u", t.nodes);
    if (t.ready != t.nodes)
        buf_addf(r->out, " (%u ready)", t.ready);
    render_cell(r, "limits used", "");
    put_limits(r, p);
    render_number(r, "weight", p->weight);
    buf_addf(r->out, "%d", (int)p->weight);
    render_number(r, "$/hour", t.price);
    html_price(r->out, t.price);
    render_cell(r, "state", "");
    put_pool_state(r, p);
    render_put(r, "</tr>");
}

static int by_pool_name(const void *x, const void *y)
{
    const struct node_pool *a = *(const struct node_pool *const *)x;
    const struct node_pool *b = *(const struct node_pool *const *)y;
    return span_cmp(a->meta.name, b->meta.name);
}

void fleet_put_pools(struct render *r)
{
    static const struct render_column columns[] = {{"pool", false},  {"nodes", true}, {"limits used", false},
                                            {"weight", true}, {"$/hour", true}, {"state", false}};
    const struct node_pool **pools = NULL;
    size_t count = 0, capacity = 0;
    struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_NODE_POOL);
    for (const struct node_pool *p; (p = snapshot_next(&it)) != NULL;)
        ARENA_PUSH(&r->a, pools, count, capacity, p);
    if (count != 0)
        qsort(pools, count, sizeof(pools[0]), by_pool_name);
    size_t shown = count < PAGE_ROWS_MAX ? count : PAGE_ROWS_MAX;
    render_table(r, "pools", "Pools", count, columns, COUNT_OF(columns));
    for (size_t i = 0; i < shown; i++)
        put_pool(r, pools[i]);
    render_table_end(r, "pools", shown, count, "No NodePool: Stowage has nothing to buy from.");
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
    render_number(r, label, x1);
    show(r->out, asked);
    render_put(r, " of ");
    show(r->out, there);
    if (planned != 0) {
        render_put(r, ", ");
        show(r->out, planned);
        render_put(r, " planned");
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
    render_cell(r, column, "");
    sym value = sym_pairs_get(meta_of(n)->labels, key);
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, key);
    html_text(r->out, sym_text(render_syms(r), value));
}

static void put_pods(struct render *r, const struct world_node *n, uint32_t row)
{
    const struct pod *const *pods = world_node_pods(r->v->world, row);
    render_number(r, "pods", n->pod_count);
    if (n->pod_count == 0) {
        render_put(r, "0");
        return;
    }
    render_list(r, n->pod_count, (struct span){NULL, 0});
    uint32_t shown = 0;
    while (shown < n->pod_count && render_list_pod(r, pods[shown], shown, false))
        shown++;
    render_list_end(r, shown, n->pod_count);
}

static void put_node_state(struct render *r, const struct world_node *n)
{
    static const char *const stages[] = {[NODE_UNMANAGED] = "not ours",
                                         [NODE_LAUNCHING] = "launching",
                                         [NODE_REGISTERED] = "starting",
                                         [NODE_INITIALIZED] = "ready"};
    render_put(r, n->leaving ? "<strong>leaving</strong>" : stages[n->stage]);
    enum kind k = n->node != NULL ? KIND_NODE : KIND_NODE_CLAIM;
    struct span why = page_memory_reason(r->memory, &r->a, k, meta_of(n), false);
    if (why.len == 0)
        return;
    render_put(r, "<br><small>");
    html_text(r->out, why);
    render_put(r, "</small>");
}

static void put_node(struct render *r, uint32_t row)
{
    const struct world_node *n = world_node_at(r->v->world, row);
    render_row(r, "node", (struct span){NULL, 0}, n->name);
    render_cell(r, "node", "");
    render_name(r, "node", (struct span){NULL, 0}, n->name);
    put_label(r, "pool", n, SYM_NODEPOOL);
    put_bar(r, row, CPU);
    put_bar(r, row, MEMORY);
    put_pods(r, n, row);
    put_label(r, "type", n, SYM_INSTANCE_TYPE);
    put_label(r, "zone", n, SYM_ZONE);
    put_label(r, "capacity", n, SYM_CAPACITY_TYPE);
    render_number(r, "$/hour", n->price);
    html_price(r->out, n->price);
    render_number(r, "age", (double)-meta_of(n)->created);
    html_age(r->out, r->v->now - meta_of(n)->created);
    render_cell(r, "state", "");
    put_node_state(r, n);
    render_put(r, "</tr>");
}

void fleet_put_nodes(struct render *r)
{
    static const struct render_column columns[] = {
        {"node", false}, {"pool", false},     {"cpu", true},    {"memory", true}, {"pods", true},
        {"type", false}, {"zone", false},     {"capacity", false}, {"$/hour", true},
        {"age", true},   {"state", false}};
    size_t count = r->v->world != NULL ? world_node_count(r->v->world) : 0;
    size_t shown = count < PAGE_ROWS_MAX ? count : PAGE_ROWS_MAX;
    render_table(r, "nodes", "Nodes", count, columns, COUNT_OF(columns));
    for (uint32_t row = 0; row < shown; row++)
        put_node(r, row);
    render_table_end(r, "nodes", shown, count, "No nodes.");
}

/* --- in all --- */

static void put_share(struct render *r, const struct tally *t, int column, const char *name)
{
    void (*show)(struct buf *, int64_t) = column == CPU ? html_cpu : html_bytes;
    render_put(r, "<li><b>");
    show(r->out, t->asked[column]);
    render_put(r, " of ");
    show(r->out, t->there[column]);
    buf_addf(r->out, "</b> %s asked for, %.0f %%", name,
             share_of(t->asked[column], t->there[column]));
}

void fleet_put_summary(struct render *r, const struct waiting_pods *pods)
{
    struct tally t = {0};
    if (r->v->world != NULL)
        t = tally_nodes(r, SYM_NONE);
    buf_addf(r->out, "<ul id=summary><li><b>%u</b> nodes", t.nodes);
    buf_addf(r->out, "<li><b>%zu</b> pods run, <b>%zu</b> wait", pods->running,
             pods->waiting_count);
    put_share(r, &t, CPU, "CPUs");
    put_share(r, &t, MEMORY, "memory");
    render_put(r, "<li><b>");
    html_price(r->out, t.price);
    buf_addf(r->out, "</b> an hour, $%.0f a month</ul>", t.price * HOURS_A_MONTH);
}
