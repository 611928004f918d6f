/* The page is made in one go from a snapshot that does not change meanwhile. Rows carry an id, so
 * that the script can tell what is the same row after an update, and so that one can be linked to. */
#include "server/page.h"

#include <math.h>
#include <stdlib.h>

#include "server/html.h"
#include "server/page/fleet.h"
#include "server/page/history.h"
#include "server/page/move_told.h"
#include "server/page/moves.h"
#include "server/page/waiting.h"

extern const char page_html_text[];
extern const size_t page_html_text_len;

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

struct span page_node_reason(struct page *p, struct arena *a, enum kind k, const struct meta *node)
{
    return page_memory_reason(p->memory, a, k, node, false);
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

double page_node_price(const struct page_view *v, const struct world_node *n)
{
    return isnan(n->price) && v->groups != NULL ? group_answers_price(v->groups, n->name) : n->price;
}

/* --- the last hours --- */

bool page_sample_due(struct page *p, wall_ms now)
{
    return history_is_due(p->history, now);
}

void page_sample(struct page *p, const struct page_view *v)
{
    if (v->world == NULL || v->snapshot == NULL)
        return;
    struct fleet_sums t = fleet_sum(v, SYM_NONE);
    struct history_point point = {.at = v->now,
                                  .price = t.price,
                                  .cpu_asked = t.asked[CPU],
                                  .cpu_there = t.there[CPU],
                                  .memory_asked = t.asked[MEMORY],
                                  .memory_there = t.there[MEMORY],
                                  .nodes = t.nodes};
    struct snapshot_iter it = snapshot_each(v->snapshot, KIND_POD);
    for (const struct pod *pod; (pod = snapshot_next(&it)) != NULL;) {
        if (pod_is_terminal(pod))
            continue;
        point.running += pod->node != SYM_NONE;
        point.waiting += pod->node == SYM_NONE;
    }
    history_add(p->history, &point);
}

void page_history_json(struct page *p, uint64_t seen, struct buf *out)
{
    history_json(p->history, seen, out);
}

uint64_t page_history_newest(struct page *p)
{
    return history_newest(p->history);
}

/* --- decisions --- */

/* Leads to what it is about: its row, or what explains it. */
static void put_about(struct render *r, const struct page_entry *e)
{
    static const struct {
        enum kind kind;
        const char *word;
    } known[] = {{KIND_POD, "pod"}, {KIND_NODE, "node"}, {KIND_NODE_CLAIM, "node"}, {KIND_NODE_POOL, "nodepool"}};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (e->about.kind == known[i].kind && e->about.name.len != 0)
            render_name(r, known[i].word, e->about.ns, e->about.name);
}

static void put_decision(struct render *r, const struct page_entry *e)
{
    struct span row = arena_printf(&r->a, "%.*s/%llu", SPAN_ARG(e->id), (unsigned long long)e->sequence);
    render_row(r, "decision", (struct span){NULL, 0}, row);
    render_number(r, "time (UTC)", (double)e->at);
    html_clock(r->out, e->at);
    render_cell(r, "what", e->warning ? " class=warning" : "");
    html_text(r->out, e->subject);
    render_cell(r, "of", "");
    put_about(r, e);
    render_cell(r, "decision", "");
    html_text(r->out, e->sentence);
    render_number(r, "$/hour", e->per_hour);
    if (!isnan(e->per_hour))
        html_price(r->out, e->per_hour);
    render_cell(r, "id", "");
    render_name(r, "move", (struct span){NULL, 0}, e->id);
    render_put(r, "</tr>");
}

static void put_decisions(struct render *r)
{
    static const struct render_column columns[] = {{"time (UTC)", true}, {"what", false},   {"of", false},
                                                   {"decision", false},  {"$/hour", true}, {"id", false}};
    uint32_t count;
    const struct page_entry *e = page_memory_entries(r->memory, &r->a, &count);
    render_table(r, "decisions", "Decisions", count, columns, COUNT_OF(columns));
    for (uint32_t i = 0; i < count; i++)
        put_decision(r, &e[i]);
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
    if (!r->live) {
        render_put(r, "As of ");
        html_clock(r->out, r->v->now);
        render_put(r, " UTC.");
    }
    render_put(r, "</p>");
    if (r->v->snapshot == NULL)
        render_put(r, "<p id=empty>The cluster has not been read yet.</p>");
    else
        fleet_put_summary(r);
}

static void put_waiting(struct render *r)
{
    struct waiting_pods pods = {NULL, 0, 0, 0};
    if (r->v->snapshot != NULL)
        pods = waiting_collect(r);
    waiting_put(r, &pods);
}

static const struct {
    const char *name;
    void (*put)(struct render *r);
} parts[PAGE_PART_COUNT] = {[PAGE_PART_SUMMARY] = {"summary", put_standing},
                            [PAGE_PART_WAITING] = {"waiting", put_waiting},
                            [PAGE_PART_MOVES] = {"moves", moves_put},
                            [PAGE_PART_POOLS] = {"pools", fleet_put_pools},
                            [PAGE_PART_DECISIONS] = {"decisions", put_decisions}};

const char *page_part_name(enum page_part part)
{
    return parts[part].name;
}

static void put_part(struct page *p, enum page_part part, const struct page_view *v, bool live, struct buf *out)
{
    struct render r = {.memory = p->memory, .v = v, .live = live, .out = out};
    arena_init(&r.a, 1 << 16);
    parts[part].put(&r);
    arena_release(&r.a);
}

void page_part(struct page *p, enum page_part part, const struct page_view *v, struct buf *out)
{
    put_part(p, part, v, true, out);
}

/* server/page/page.html, in which {{name}} stands for a part. */
void page_html(struct page *p, const struct page_view *v, struct buf *out)
{
    struct span rest = {page_html_text, page_html_text_len};
    while (rest.len != 0) {
        const char *at = memmem(rest.ptr, rest.len, "{{", 2);
        size_t plain = at != NULL ? (size_t)(at - rest.ptr) : rest.len;
        buf_add(out, (struct span){rest.ptr, plain});
        rest = (struct span){rest.ptr + plain, rest.len - plain};
        if (at == NULL)
            break;
        struct span name = span_cut((struct span){rest.ptr + 2, rest.len - 2}, '}', &rest);
        rest = (struct span){rest.ptr + 1, rest.len - 1};
        for (int part = 0; part < PAGE_PART_COUNT; part++)
            if (span_eq(name, span_of(parts[part].name)))
                put_part(p, (enum page_part)part, v, false, out);
    }
}
