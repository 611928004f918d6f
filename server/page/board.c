/* Versions count the looks that found something new. A reader that has seen version v lacks what came with later ones. The
 * nodes are kept in the order of their names, so that two looks are merged like two sorted lists; a row that the world says
 * did not move, and for which nothing else is planned or said, is not written again. */
#include "server/page/board.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "planner/held.h"
#include "server/page/history.h"
#include "server/page/node_json.h"

struct piece { /* of text, and the version it came with */
    struct buf text;
    uint64_t changed;
};

struct board_node {
    char *name;
    size_t name_len;
    char *json;
    size_t json_len;
    uint64_t changed, said, grouped; /* hashes of the reason, of its group */
    double price;                    /* NAN: not known */
    uint32_t row;                    /* in the world of the last look */
    amount planned[2];
};

struct gone {
    char *name;
    size_t name_len;
    uint64_t changed;
};

struct board {
    struct piece parts[PAGE_PART_COUNT], groups;
    struct board_node *nodes; /* by name */
    uint32_t node_count;
    struct gone gone[BOARD_GONE_MAX]; /* a ring */
    uint64_t gone_count, gone_lost;   /* the version of the last name that is not remembered */
    uint64_t version;                 /* 0: nothing was looked at */
    uint64_t looked_at;               /* board_sources.version */
    mono_ms due;
    const struct snapshot *snapshot; /* of the last look, referred to */
    struct arena scratch;
    struct buf text;
};

struct board *board_new(void)
{
    struct board *b = mem_new(sizeof(*b));
    arena_init(&b->scratch, 0);
    return b;
}

static char *copy(struct span s)
{
    char *bytes = mem_new(s.len + 1);
    if (s.len != 0)
        memcpy(bytes, s.ptr, s.len);
    return bytes;
}

static void node_release(struct board_node *n)
{
    free(n->name);
    free(n->json);
}

static void refer_to(struct board *b, const struct snapshot *s)
{
    struct shared *old = (struct shared *)(uintptr_t)b->snapshot;
    b->snapshot = s;
    if (s != NULL)
        shared_ref((struct shared *)(uintptr_t)s);
    if (old != NULL)
        shared_unref(old);
}

void board_rest(struct board *b)
{
    for (uint32_t i = 0; i < b->node_count; i++)
        node_release(&b->nodes[i]);
    free(b->nodes);
    b->nodes = NULL;
    b->node_count = 0;
    for (size_t i = 0; i < PAGE_PART_COUNT; i++)
        buf_release(&b->parts[i].text);
    buf_release(&b->groups.text);
    for (size_t i = 0; i < BOARD_GONE_MAX; i++)
        free(b->gone[i].name);
    memset(b->gone, 0, sizeof(b->gone));
    b->gone_lost = b->version + 1; /* also for a reader who is only slow */
    buf_release(&b->text);
    arena_clear(&b->scratch);
    refer_to(b, NULL);
    b->looked_at = 0;
    b->due = 0;
}

void board_free(struct board *b)
{
    if (b == NULL)
        return;
    board_rest(b);
    arena_release(&b->scratch);
    free(b);
}

bool board_is_due(const struct board *b, uint64_t version, mono_ms now)
{
    return b->looked_at != version && now >= b->due;
}

void board_took(struct board *b, span_ms took)
{
    span_ms pause = took * BOARD_SHARE;
    b->due += pause > BOARD_PAUSE_MS ? pause - BOARD_PAUSE_MS : 0;
}

/* --- a look --- */

/* Takes b->text over if it is another text than before. */
static bool renew(struct board *b, struct piece *p)
{
    if (p->changed != 0 && span_eq(buf_span(&p->text), buf_span(&b->text)))
        return false;
    struct buf old = p->text;
    p->text = b->text;
    b->text = old;
    p->changed = b->version + 1;
    return true;
}

static bool look_at_parts(struct board *b, const struct board_sources *s)
{
    bool any = false;
    for (int part = 0; part < PAGE_PART_COUNT; part++) {
        buf_clear(&b->text);
        page_part(s->page, (enum page_part)part, &s->view, &b->text);
        any |= renew(b, &b->parts[part]);
    }
    buf_clear(&b->text);
    if (s->view.groups != NULL)
        group_answers_all(s->view.groups, &b->text);
    else
        buf_add(&b->text, SPAN("[]"));
    return renew(b, &b->groups) || any;
}

static void forget_node(struct board *b, struct board_node *n)
{
    struct gone *g = &b->gone[b->gone_count++ % BOARD_GONE_MAX];
    if (g->name != NULL)
        b->gone_lost = g->changed;
    free(g->name);
    *g = (struct gone){n->name, n->name_len, b->version + 1};
    free(n->json);
}

struct look {
    struct board *b;
    const struct board_sources *s;
    const struct world *before; /* whose rows are those of the new one; NULL: they are others */
    const struct held *held;
    bool any;
};

static const struct meta *meta_of(const struct world_node *n)
{
    return n->node != NULL ? &n->node->meta : &n->claim->meta;
}

static bool same_price(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void look_at_group(const struct look *l, const struct world_node *n, struct node_json *x)
{
    double price = NAN;
    if (l->s->view.groups != NULL)
        group_answers_node(l->s->view.groups, n->name, &l->b->scratch, &x->group, &price);
    x->price = isnan(n->price) ? price : n->price;
}

static void look_at_node(struct look *l, struct board_node *n, uint32_t row)
{
    struct board *b = l->b;
    const struct world *w = l->s->view.world;
    const struct world_node *node = world_node_at(w, row);
    const amount *planned = l->held != NULL ? held_at(l->held, row) : NULL;
    struct span reason = page_node_reason(l->s->page, &b->scratch, node->node != NULL ? KIND_NODE : KIND_NODE_CLAIM, meta_of(node));
    struct node_json x = {w, l->s->view.snapshot->syms, row, planned, reason, {NULL, 0}, NAN};
    look_at_group(l, node, &x);
    uint64_t said = reason.len != 0 ? span_hash(reason) : 0, grouped = x.group.len != 0 ? span_hash(x.group) : 0;
    amount held[2] = {planned != NULL ? planned[0] : 0, planned != NULL ? planned[1] : 0};
    bool same = n->json != NULL && l->before != NULL && n->row == row && !world_row_moved(l->before, w, row) && n->said == said &&
                n->grouped == grouped && same_price(n->price, x.price) && n->planned[0] == held[0] && n->planned[1] == held[1];
    n->row = row;
    n->said = said;
    n->grouped = grouped;
    n->price = x.price;
    memcpy(n->planned, held, sizeof(held));
    if (same)
        return;
    buf_clear(&b->text);
    node_json(&b->scratch, &x, &b->text);
    if (n->json != NULL && span_eq((struct span){n->json, n->json_len}, buf_span(&b->text)))
        return;
    free(n->json);
    n->json_len = b->text.len;
    n->json = copy(buf_span(&b->text));
    n->changed = b->version + 1;
    l->any = true;
}

struct named_row {
    struct span name;
    uint32_t row;
};

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct named_row *)a)->name, ((const struct named_row *)b)->name);
}

/* Rows by name; of two of one name, which a claim and somebody else's Node may have, the first. */
static struct named_row *rows_by_name(struct arena *a, const struct world *w, uint32_t *count_out)
{
    uint32_t count = w != NULL ? world_node_count(w) : 0, kept = 0;
    struct named_row *rows = ARENA_ARRAY(a, struct named_row, count + 1);
    for (uint32_t row = 0; row < count; row++)
        rows[row] = (struct named_row){world_node_at(w, row)->name, row};
    if (count != 0)
        qsort(rows, count, sizeof(*rows), by_name);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || !span_eq(rows[kept - 1].name, rows[i].name))
            rows[kept++] = rows[i];
    *count_out = kept;
    return rows;
}

static bool look_at_nodes(struct board *b, const struct board_sources *s)
{
    uint32_t count, old = 0;
    const struct world *before = b->snapshot != NULL ? b->snapshot->derived : NULL, *now = s->view.world;
    struct named_row *rows = rows_by_name(&b->scratch, now, &count);
    struct board_node *nodes = mem_new((count + 1) * sizeof(*nodes));
    struct look l = {.b = b, .s = s};
    if (now != NULL)
        l.held = held_new(&b->scratch, now, s->view.snapshot, s->view.places);
    if (now != NULL && before != NULL && world_same_rows(before, now))
        l.before = before;
    for (uint32_t i = 0; i < count; i++) {
        int c = 1;
        for (; old < b->node_count; old++) {
            c = span_cmp((struct span){b->nodes[old].name, b->nodes[old].name_len}, rows[i].name);
            if (c >= 0)
                break;
            forget_node(b, &b->nodes[old]);
            l.any = true;
        }
        if (old < b->node_count && c == 0)
            nodes[i] = b->nodes[old++];
        else
            nodes[i] = (struct board_node){.name = copy(rows[i].name), .name_len = rows[i].name.len};
        look_at_node(&l, &nodes[i], rows[i].row);
    }
    for (; old < b->node_count; old++) {
        forget_node(b, &b->nodes[old]);
        l.any = true;
    }
    free(b->nodes);
    b->nodes = nodes;
    b->node_count = count;
    return l.any;
}

void board_look(struct board *b, const struct board_sources *s, mono_ms now)
{
    arena_clear(&b->scratch);
    bool any = look_at_parts(b, s);
    any |= look_at_nodes(b, s);
    refer_to(b, s->view.snapshot);
    if (any)
        b->version++;
    b->looked_at = s->version;
    b->due = now + BOARD_PAUSE_MS;
}

/* --- telling --- */

static void event(struct buf *out, const char *name)
{
    buf_addf(out, "event: %s\ndata: ", name);
}

static void tell_parts(const struct board *b, uint64_t seen, struct buf *out)
{
    for (int part = 0; part < PAGE_PART_COUNT; part++) {
        const struct piece *p = &b->parts[part];
        if (p->changed <= seen)
            continue;
        event(out, "part");
        struct json j = JSON_TO(out);
        json_object_begin(&j);
        json_put_string(&j, "name", span_of(page_part_name((enum page_part)part)));
        json_put_string(&j, "html", buf_span(&p->text));
        json_object_end(&j);
        buf_add(out, SPAN("\n\n"));
    }
    if (b->groups.changed <= seen)
        return;
    event(out, "groups");
    buf_add(out, buf_span(&b->groups.text));
    buf_add(out, SPAN("\n\n"));
}

static void put_gone(const struct board *b, uint64_t seen, struct json *j)
{
    json_put_array(j, "gone");
    uint64_t from = b->gone_count > BOARD_GONE_MAX ? b->gone_count - BOARD_GONE_MAX : 0;
    for (uint64_t i = from; seen != 0 && i < b->gone_count; i++) {
        const struct gone *g = &b->gone[i % BOARD_GONE_MAX];
        if (g->name != NULL && g->changed > seen)
            json_text(j, (struct span){g->name, g->name_len});
    }
    json_array_end(j);
}

/* A node that went and came again is among both: those that are gone are taken off first. */
static void tell_nodes(const struct board *b, uint64_t seen, struct buf *out)
{
    event(out, "nodes");
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    put_gone(b, seen, &j);
    json_put_array(&j, "nodes");
    for (uint32_t i = 0; i < b->node_count; i++)
        if (b->nodes[i].changed > seen)
            json_raw(&j, (struct span){b->nodes[i].json, b->nodes[i].json_len});
    json_array_end(&j);
    json_object_end(&j);
    buf_add(out, SPAN("\n\n"));
}

static void tell_history(struct page *page, struct board_reader *r, struct buf *out)
{
    uint64_t newest = page_history_newest(page);
    if (newest == r->history)
        return;
    event(out, "history");
    page_history_json(page, r->history, out);
    buf_add(out, SPAN("\n\n"));
    r->history = newest;
}

void board_tell(struct board *b, struct page *page, struct board_reader *r, struct buf *out)
{
    if (b->version == 0)
        return;
    if (r->seen != 0 && r->seen < b->gone_lost)
        *r = (struct board_reader){0};
    if (r->seen == 0)
        buf_add(out, SPAN("event: begin\ndata: {}\n\n"));
    tell_history(page, r, out);
    if (r->seen == b->version)
        return;
    tell_parts(b, r->seen, out);
    tell_nodes(b, r->seen, out);
    r->seen = b->version;
}
