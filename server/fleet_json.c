#include "server/fleet_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/doc.h"
#include "base/json.h"
#include "kube/pod.h"
#include "planner/world.h"
#include "server/page/fleet.h"

enum { CPU, MEMORY }; /* the world's first columns */

static const char *const states[FLEET_STATE_COUNT] = {
    [FLEET_READY] = "ready", [FLEET_COMING] = "coming", [FLEET_LEAVING] = "leaving", [FLEET_FOREIGN] = "not ours"};

const char *fleet_state_name(enum fleet_state s)
{
    return states[s];
}

/* --- from the world --- */

static struct span label(const struct symtab *syms, const struct world_node *n, sym key)
{
    sym value = n->node != NULL ? sym_pairs_get(n->node->meta.labels, key) : SYM_NONE;
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, key);
    return value != SYM_NONE ? sym_text(syms, value) : (struct span){NULL, 0};
}

static enum fleet_state state_of(const struct world_node *n)
{
    if (n->leaving)
        return FLEET_LEAVING;
    return n->stage == NODE_UNMANAGED ? FLEET_FOREIGN : n->stage == NODE_INITIALIZED ? FLEET_READY : FLEET_COMING;
}

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct fleet_node *)a)->name, ((const struct fleet_node *)b)->name);
}

/* A place is kept for a while after its pod has come. */
static bool is_awaited(const struct snapshot *s, const struct place *x)
{
    const struct pod *p = s != NULL ? snapshot_find(s, KIND_POD, x->ns, x->pod) : NULL;
    return s == NULL || (p != NULL && p->node == SYM_NONE && span_eq(p->meta.uid, x->uid));
}

/* Nodes are in the order of their names: as many searches as there are places. */
static void count_planned(struct fleet_node *nodes, uint32_t count, const struct places_view *v)
{
    for (uint32_t i = 0; i < v->places->count; i++) {
        struct fleet_node key = {.name = v->places->items[i].target};
        if (!is_awaited(v->snapshot, &v->places->items[i]))
            continue;
        struct fleet_node *n = bsearch(&key, nodes, count, sizeof(*nodes), by_name);
        if (n != NULL)
            n->planned++;
    }
}

/* Nodes of groups are ours, and their price is that of the group where nobody else knows one. */
static void add_groups(struct arena *a, const struct places_view *v, struct fleet_node *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct fleet_node *n = &nodes[i];
        double price;
        if (!v->group_of(v->user, n->name, a, &n->group, &price))
            continue;
        n->price = isnan(n->price) ? price : n->price;
        n->state = n->state == FLEET_FOREIGN ? FLEET_READY : n->state;
    }
}

static void add_nodes(struct arena *a, const struct places_view *v, const struct symtab *syms, struct fleet_view *out)
{
    const struct world *w = v->world;
    uint32_t rows = world_node_count(w), count = 0;
    struct fleet_node *nodes = ARENA_ARRAY(a, struct fleet_node, rows);
    for (uint32_t row = 0; row < rows; row++) {
        const struct world_node *n = world_node_at(w, row);
        if (!fleet_has(w, n))
            continue;
        const amount *asked = world_requested(w, row), *there = world_allocatable(w, row);
        nodes[count++] = (struct fleet_node){
            .name = n->name,
            .pool = label(syms, n, SYM_NODEPOOL),
            .type = label(syms, n, SYM_INSTANCE_TYPE),
            .zone = label(syms, n, SYM_ZONE),
            .capacity_type = label(syms, n, SYM_CAPACITY_TYPE),
            .state = state_of(n),
            .price = n->price,
            .cpu_asked = asked[CPU],
            .cpu_there = there[CPU],
            .memory_asked = asked[MEMORY],
            .memory_there = there[MEMORY],
            .pods = n->pod_count,
        };
        out->running += n->pod_count;
    }
    if (count != 0)
        qsort(nodes, count, sizeof(*nodes), by_name);
    if (v->places != NULL)
        count_planned(nodes, count, v);
    if (v->group_of != NULL)
        add_groups(a, v, nodes, count);
    out->nodes = nodes;
    out->node_count = count;
}

static int by_line(const void *a, const void *b)
{
    return span_cmp(((const struct fleet_line *)a)->name, ((const struct fleet_line *)b)->name);
}

static void add_pods(struct arena *a, const struct places_view *v, struct fleet_view *out)
{
    struct fleet_line *lines = NULL;
    uint32_t count = 0, capacity = 0;
    struct snapshot_iter it = snapshot_each(v->snapshot, KIND_POD);
    for (const struct pod *p; (p = snapshot_next(&it)) != NULL;) {
        if (!pod_is_pending(p) || pod_is_terminal(p) || p->meta.deleted != 0)
            continue;
        out->waiting++;
        if (v->why == NULL || (v->places != NULL && places_find(v->places, p->meta.uid) != NULL))
            continue;
        struct fleet_line line = {arena_printf(a, "%.*s/%.*s", SPAN_ARG(p->meta.ns), SPAN_ARG(p->meta.name)),
                                  v->why(v->user, a, p)};
        if (line.text.len != 0)
            ARENA_PUSH(a, lines, count, capacity, line);
    }
    if (count != 0)
        qsort(lines, count, sizeof(*lines), by_line);
    out->without = lines;
    out->without_all = count;
    out->without_count = count < FLEET_LINES ? count : FLEET_LINES;
}

static void add_moves(struct arena *a, const struct moves *moves, struct fleet_view *out)
{
    uint32_t count = moves->count < FLEET_LINES ? moves->count : FLEET_LINES;
    struct fleet_line *lines = ARENA_ARRAY(a, struct fleet_line, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct move *m = &moves->items[i];
        struct span text = m->text.len != 0 ? m->text : disruption_reason_label(m->reason);
        lines[i] = (struct fleet_line){m->id, arena_printf(a, "%.*s: %.*s", SPAN_ARG(move_state_name(m->state)),
                                                           SPAN_ARG(text))};
    }
    out->moves = lines;
    out->move_count = count;
    out->move_all = moves->all;
}

void fleet_of(struct arena *a, const struct places_view *v, const struct symtab *syms, struct fleet_view *out)
{
    *out = (struct fleet_view){0};
    if (v->world != NULL)
        add_nodes(a, v, syms, out);
    if (v->snapshot != NULL)
        add_pods(a, v, out);
    if (v->moves != NULL)
        add_moves(a, v->moves, out);
}

/* --- as JSON --- */

static void put_known(struct json *j, const char *key, struct span text)
{
    if (text.len != 0)
        json_put_string(j, key, text);
}

static void put_share(struct json *j, const char *key, int64_t asked, int64_t there)
{
    json_put_object(j, key);
    json_put_int(j, "asked", asked);
    json_put_int(j, "allocatable", there);
    json_object_end(j);
}

static void put_node(struct json *j, const struct fleet_node *n)
{
    json_object_begin(j);
    json_put_string(j, "name", n->name);
    put_known(j, "nodePool", n->pool);
    put_known(j, "nodeGroup", n->group);
    put_known(j, "instanceType", n->type);
    put_known(j, "zone", n->zone);
    put_known(j, "capacityType", n->capacity_type);
    json_put_string(j, "state", span_of(fleet_state_name(n->state)));
    if (!isnan(n->price)) {
        json_key(j, SPAN("price"));
        json_double(j, n->price);
    }
    put_share(j, "milliCPU", n->cpu_asked, n->cpu_there);
    put_share(j, "memoryBytes", n->memory_asked, n->memory_there);
    json_put_int(j, "pods", n->pods);
    json_put_int(j, "planned", n->planned);
    json_object_end(j);
}

static void put_lines(struct json *j, const char *key, const char *name, const struct fleet_line *lines, uint32_t count)
{
    json_put_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(j);
        json_put_string(j, name, lines[i].name);
        json_put_string(j, "message", lines[i].text);
        json_object_end(j);
    }
    json_array_end(j);
}

void fleet_json(struct buf *out, const struct fleet_view *f)
{
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_array(&j, "nodes");
    for (uint32_t i = 0; i < f->node_count; i++)
        put_node(&j, &f->nodes[i]);
    json_array_end(&j);
    json_put_int(&j, "running", f->running);
    json_put_int(&j, "waiting", f->waiting);
    put_lines(&j, "unschedulable", "pod", f->without, f->without_count);
    json_put_int(&j, "unschedulableAll", f->without_all);
    put_lines(&j, "moves", "id", f->moves, f->move_count);
    json_put_int(&j, "movesAll", f->move_all);
    json_object_end(&j);
}

/* --- and back --- */

static uint32_t count_at(struct doc_value v, struct span key)
{
    int64_t n = doc_int64_at(v, key, 0);
    return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static struct span text_at(struct arena *a, struct doc_value v, struct span key)
{
    return arena_dup(a, doc_text_at(v, key));
}

static void read_share(struct doc_value node, struct span key, int64_t *asked, int64_t *there)
{
    struct doc_value share;
    if (!doc_find(node, key, &share) || doc_type(share) != DOC_OBJECT)
        return;
    *asked = doc_int64_at(share, SPAN("asked"), 0);
    *there = doc_int64_at(share, SPAN("allocatable"), 0);
}

static struct fleet_node read_node(struct arena *a, struct doc_value v)
{
    struct fleet_node n = {
        .name = text_at(a, v, SPAN("name")),
        .pool = text_at(a, v, SPAN("nodePool")),
        .group = text_at(a, v, SPAN("nodeGroup")),
        .type = text_at(a, v, SPAN("instanceType")),
        .zone = text_at(a, v, SPAN("zone")),
        .capacity_type = text_at(a, v, SPAN("capacityType")),
        .price = NAN,
        .pods = count_at(v, SPAN("pods")),
        .planned = count_at(v, SPAN("planned")),
    };
    struct span state = doc_text_at(v, SPAN("state"));
    for (size_t s = 0; s < FLEET_STATE_COUNT; s++)
        if (span_eq(state, span_of(states[s])))
            n.state = (enum fleet_state)s;
    struct doc_value price;
    if (doc_find(v, SPAN("price"), &price) && doc_type(price) == DOC_NUMBER)
        doc_double(price, &n.price);
    read_share(v, SPAN("milliCPU"), &n.cpu_asked, &n.cpu_there);
    read_share(v, SPAN("memoryBytes"), &n.memory_asked, &n.memory_there);
    return n;
}

static const struct fleet_line *read_lines(struct arena *a, struct doc_value root, struct span key, struct span name,
                                           uint32_t *count_out)
{
    struct fleet_line *lines = NULL;
    uint32_t count = 0, capacity = 0;
    struct doc_value list;
    if (doc_find(root, key, &list) && doc_type(list) == DOC_ARRAY)
        for (struct doc_iter i = doc_iter_of(list); doc_next(&i);) {
            struct fleet_line line = {text_at(a, i.value, name), text_at(a, i.value, SPAN("message"))};
            ARENA_PUSH(a, lines, count, capacity, line);
        }
    *count_out = count;
    return lines;
}

static bool read_fleet(struct arena *a, struct doc_value root, struct fleet_view *out, struct err *err)
{
    struct fleet_node *nodes = NULL;
    uint32_t count = 0, capacity = 0;
    struct doc_value list;
    *out = (struct fleet_view){.running = count_at(root, SPAN("running")), .waiting = count_at(root, SPAN("waiting"))};
    if (!doc_find(root, SPAN("nodes"), &list) || doc_type(list) != DOC_ARRAY)
        return err_set(err, ERR_INVALID, "the answer has no nodes");
    for (struct doc_iter i = doc_iter_of(list); doc_next(&i);) {
        struct fleet_node n = read_node(a, i.value);
        ARENA_PUSH(a, nodes, count, capacity, n);
    }
    out->nodes = nodes;
    out->node_count = count;
    out->without = read_lines(a, root, SPAN("unschedulable"), SPAN("pod"), &out->without_count);
    out->without_all = count_at(root, SPAN("unschedulableAll"));
    out->moves = read_lines(a, root, SPAN("moves"), SPAN("id"), &out->move_count);
    out->move_all = count_at(root, SPAN("movesAll"));
    return true;
}

bool fleet_decode(struct arena *a, struct span json, struct fleet_view *out, struct err *err)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    bool ok = doc_parse_json(parser, json, &doc, err);
    if (ok && doc_type(doc_root(doc)) != DOC_OBJECT)
        ok = err_set(err, ERR_INVALID, "the answer is no object");
    ok = ok && read_fleet(a, doc_root(doc), out, err);
    doc_parser_free(parser);
    return ok;
}
