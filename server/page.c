/* The page is made in one go from a snapshot that does not change meanwhile. Rows carry an id, so
 * that the script can tell what is the same row after an update, and so that one can be linked to. */
#include "server/page.h"

#include <math.h>
#include <stdlib.h>

#include "planner/held.h"
#include "server/html.h"
#include "server/page/fleet.h"
#include "server/page/history.h"
#include "server/page/move_told.h"
#include "server/page/moves.h"

enum { CPU, MEMORY }; /* the world's first columns */

struct page {
    struct page_memory *memory;
    struct history *history;
};

struct page *page_new(void)
{
    struct page *p = mem_new(sizeof(*p));
    p->memory = page_memory_new();
    p->history = history_new();
    return p;
}

void page_free(struct page *p)
{
    if (p == NULL)
        return;
    page_memory_free(p->memory);
    history_free(p->history);
    free(p);
}

void page_decided(struct page *p, const struct decision *d)
{
    page_memory_add(p->memory, d);
}

struct span page_reason(struct page *p, struct arena *a, const struct pod *pod)
{
    return page_memory_reason(p->memory, a, KIND_POD, &pod->meta, true);
}

struct why page_put_off(struct page *p, struct arena *a, const struct pod *pod)
{
    return page_memory_put_off(p->memory, a, &pod->meta);
}

struct span page_drift_paused(struct page *p, struct arena *a, const struct meta *pool)
{
    return page_memory_side(p->memory, a, KIND_NODE_POOL, pool, SPAN("drift"));
}

void page_moved(struct page *p, const struct moves *m)
{
    page_memory_moved(p->memory, m);
}

struct moves page_moves(struct page *p, struct arena *a)
{
    return page_memory_moves(p->memory, a);
}

bool page_explain_move(struct page *p, struct span id, struct buf *out, struct err *err)
{
    return move_told(p->memory, id, out, err);
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

/* --- the last hours --- */

bool page_sample_due(struct page *p, wall_ms now)
{
    return history_is_due(p->history, now);
}

static void add_nodes(struct history_point *point, const struct world *w)
{
    point->nodes = world_node_count(w);
    for (uint32_t row = 0; row < point->nodes; row++) {
        const amount *asked = world_requested(w, row), *there = world_allocatable(w, row);
        double price = world_node_at(w, row)->price;
        point->price += isnan(price) ? 0 : price;
        point->cpu_asked += asked[CPU];
        point->cpu_there += there[CPU];
        point->memory_asked += asked[MEMORY];
        point->memory_there += there[MEMORY];
    }
}

void page_sample(struct page *p, const struct page_view *v)
{
    struct history_point point = {.at = v->now};
    if (v->world == NULL || v->snapshot == NULL)
        return;
    add_nodes(&point, v->world);
    struct snapshot_iter it = snapshot_each(v->snapshot, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;) {
        if (pod_is_terminal(pod))
            continue;
        point.running += pod->node != SYM_NONE;
        point.waiting += pod->node == SYM_NONE;
    }
    history_add(p->history, &point);
}

void page_history_json(struct page *p, struct buf *out)
{
    history_json(p->history, 0, out);
}

/* --- decisions --- */

static void put_decisions(struct render *r)
{
    static const struct render_column columns[] = {
        {"time (UTC)", true}, {"what", false}, {"decision", false}, {"$/hour", true}, {"id", false}};
    uint32_t count;
    const struct page_entry *e = page_memory_entries(r->memory, &r->a, &count);
    render_table(r, "decisions", "Decisions", count, columns, COUNT_OF(columns));
    for (uint32_t i = 0; i < count; i++) {
        struct span row = arena_printf(&r->a, "%.*s/%llu", SPAN_ARG(e[i].id),
                                       (unsigned long long)e[i].sequence);
        render_row(r, "decision", (struct span){NULL, 0}, row);
        render_number(r, "time (UTC)", (double)e[i].at);
        html_clock(r->out, e[i].at);
        render_cell(r, "what", e[i].warning ? " class=warning" : "");
        html_text(r->out, e[i].subject);
        render_cell(r, "decision", "");
        html_text(r->out, e[i].sentence);
        render_number(r, "$/hour", e[i].per_hour);
        if (!isnan(e[i].per_hour))
            html_price(r->out, e[i].per_hour);
        render_cell(r, "id", "");
        render_name(r, "decision", (struct span){NULL, 0}, e[i].id);
        render_put(r, "</tr>");
    }
    render_table_end(r, "decisions", count, count, "Nothing decided yet.");
}

/* --- the whole --- */

static void put_standing(struct render *r)
{
    struct span standing = page_memory_standing_text(r->memory, &r->a);
    render_put(r, "<p id=standing>");
    if (standing.len != 0) {
        render_put(r, "This replica ");
        html_text(r->out, standing);
        render_put(r, ". ");
    }
    render_put(r, "As of ");
    html_clock(r->out, r->v->now);
    render_put(r, " UTC.</p>");
}

void page_main(struct page *p, const struct page_view *v, struct buf *out)
{
    struct render r = {.memory = p->memory, .v = v, .out = out};
    arena_init(&r.a, 1 << 16);
    render_put(&r, "<main>");
    put_standing(&r);
    if (v->snapshot == NULL) {
        render_put(&r, "<p id=empty>The cluster has not been read yet.</p>");
    } else {
        if (v->world != NULL)
            r.held = held_new(&r.a, v->world, v->snapshot, v->places);
        struct waiting_pods pods = waiting_collect(&r);
        fleet_put_summary(&r, &pods);
        waiting_put(&r, &pods);
        fleet_put_pools(&r);
        fleet_put_nodes(&r);
    }
    moves_put(&r);
    put_decisions(&r);
    render_put(&r, "</main>");
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
                      "<a href=\"#moves\">moves</a> <a href=\"#decisions\">decisions</a></nav>"
                      "<p id=line role=status>not live</p></header>"
                      "<svg class=defs aria-hidden=true><defs>"
                      "<pattern id=hatch width=4 height=4 patternUnits=userSpaceOnUse>"
                      "<path d=\"M0 4 4 0\" /></pattern>"
                      "<pattern id=dots width=3 height=3 patternUnits=userSpaceOnUse>"
                      "<circle cx=1.5 cy=1.5 r=.8 /></pattern></defs></svg>"));
    page_main(p, v, out);
    buf_add(out, SPAN("</body></html>\n"));
}
