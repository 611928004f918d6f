#include "server/page/fleet.h"

#include <math.h>
#include <stdlib.h>

#include "planner/explain/pools.h"
#include "server/html.h"

enum { CPU, MEMORY };

/* --- sums --- */

static const struct meta *meta_of(const struct world_node *n)
{
    return n->node != NULL ? &n->node->meta : &n->claim->meta;
}

bool fleet_has(const struct world *w, const struct world_node *n)
{
    return n->node != NULL || world_find_node(w, n->name) < 0;
}

struct fleet_sums fleet_sum(const struct page_view *v, sym pool)
{
    struct fleet_sums t = {0};
    for (uint32_t row = 0; v->world != NULL && row < world_node_count(v->world); row++) {
        const struct world_node *n = world_node_at(v->world, row);
        if (!fleet_has(v->world, n) || (pool != SYM_NONE && sym_pairs_get(meta_of(n)->labels, SYM_NODEPOOL) != pool))
            continue;
        t.nodes++;
        t.ready += n->stage == NODE_INITIALIZED || n->stage == NODE_UNMANAGED;
        double price = page_node_price(v, n);
        t.price += isnan(price) ? 0 : price;
        for (int c = CPU; c <= MEMORY; c++) {
            t.asked[c] += world_requested(v->world, row)[c];
            t.there[c] += world_allocatable(v->world, row)[c];
        }
    }
    return t;
}

/* --- pools --- */

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
    struct fleet_sums t = {0};
    if (name != SYM_NONE)
        t = fleet_sum(r->v, name);
    render_row(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    render_cell(r, "pool", "");
    render_name(r, "nodepool", (struct span){NULL, 0}, p->meta.name);
    render_number(r, "nodes", t.nodes);
    html_count(r->out, t.nodes);
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
    if (r->v->snapshot != NULL) {
        struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_NODE_POOL);
        for (const struct node_pool *p; (p = snapshot_next(&it)) != NULL;)
            ARENA_PUSH(&r->a, pools, count, capacity, p);
    }
    if (count != 0)
        qsort(pools, count, sizeof(pools[0]), by_pool_name);
    size_t shown = count < PAGE_ROWS_MAX ? count : PAGE_ROWS_MAX;
    render_table(r, "pools", "Pools", count, columns, COUNT_OF(columns));
    for (size_t i = 0; i < shown; i++)
        put_pool(r, pools[i]);
    render_table_end(r, "pools", shown, count, "No NodePool: Stowage has nothing to buy from.");
}

/* --- in all --- */

static double share_of(amount part, amount whole)
{
    double f = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    return f < 0 ? 0 : f > 100 ? 100 : f;
}

static void put_share(struct render *r, const struct fleet_sums *t, int column, const char *name)
{
    void (*show)(struct buf *, int64_t) = column == CPU ? html_cpu : html_bytes;
    buf_addf(r->out, "<li><b>%.0f %%</b> of %s asked for: ", share_of(t->asked[column], t->there[column]), name);
    show(r->out, t->asked[column]);
    render_put(r, " of ");
    show(r->out, t->there[column]);
}

static void put_count(struct render *r, uint64_t n, const char *what)
{
    render_put(r, "<li><b>");
    html_count(r->out, n);
    buf_addf(r->out, "</b> %s", what);
}

void fleet_put_summary(struct render *r)
{
    struct fleet_sums t = fleet_sum(r->v, SYM_NONE);
    uint64_t running = 0, waiting = 0;
    struct snapshot_iter it = snapshot_each(r->v->snapshot, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;)
        if (!pod_is_terminal(p))
            *(p->node != SYM_NONE ? &running : &waiting) += 1;
    render_put(r, "<ul id=figures><li><b>");
    html_price(r->out, t.price);
    render_put(r, "</b> an hour, $");
    html_count(r->out, (uint64_t)round(t.price * HOURS_A_MONTH));
    render_put(r, " a month");
    put_share(r, &t, CPU, "CPU");
    put_share(r, &t, MEMORY, "memory");
    put_count(r, t.nodes, t.nodes == 1 ? "node" : "nodes");
    put_count(r, running, running == 1 ? "pod runs" : "pods run");
    put_count(r, waiting, waiting == 1 ? "pod waits" : "pods wait");
    render_put(r, "</ul>");
}
