#include "server/page/node_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "planner/pods/pod_workload.h"

enum { CPU, MEMORY }; /* the world's first columns */

struct heap { /* pods of one workload */
    uint64_t key;
    struct pod_workload who;
    uint32_t pods;
    amount cpu, memory;
};

static uint64_t key_of(const struct pod_workload *w)
{
    return (span_hash(w->kind) * 31 + span_hash(w->ns)) * 31 + span_hash(w->name);
}

static struct heap *heap_of(struct heap *heaps, uint32_t *count, const struct pod_workload *who)
{
    uint64_t key = key_of(who);
    for (uint32_t i = 0; i < *count; i++)
        if (heaps[i].key == key && span_eq(heaps[i].who.name, who->name))
            return &heaps[i];
    heaps[*count] = (struct heap){.key = key, .who = *who};
    return &heaps[(*count)++];
}

/* What fills most of the node comes first; names decide between equals, so that nothing moves for nothing. */
static int by_room(const void *x, const void *y)
{
    const struct heap *a = x, *b = y;
    if (a->cpu != b->cpu)
        return a->cpu > b->cpu ? -1 : 1;
    if (a->memory != b->memory)
        return a->memory > b->memory ? -1 : 1;
    int c = span_cmp(a->who.ns, b->who.ns);
    if (c == 0)
        c = span_cmp(a->who.name, b->who.name);
    return c != 0 ? c : span_cmp(a->who.kind, b->who.kind);
}

static void put_heaps(struct json *j, struct arena *a, const struct node_json *x, const struct world_node *n)
{
    struct heap *heaps = ARENA_ARRAY(a, struct heap, n->pod_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->pod_count; i++) {
        struct pod_workload who = pod_workload(n->pods[i], NULL, x->syms);
        struct heap *h = heap_of(heaps, &count, &who);
        const amount *asks = world_class_requests(x->world, (int32_t)n->pod_classes[i]);
        h->pods++;
        h->cpu += asks[CPU];
        h->memory += asks[MEMORY];
    }
    if (count != 0)
        qsort(heaps, count, sizeof(*heaps), by_room);
    json_put_array(j, "w");
    for (uint32_t i = 0; i < count; i++) {
        json_array_begin(j);
        json_text(j, arena_printf(a, "%.*s %.*s/%.*s", SPAN_ARG(heaps[i].who.kind), SPAN_ARG(heaps[i].who.ns),
                                  SPAN_ARG(heaps[i].who.name)));
        json_int(j, heaps[i].pods);
        json_int(j, heaps[i].cpu);
        json_int(j, heaps[i].memory);
        json_array_end(j);
    }
    json_array_end(j);
}

static void put_text(struct json *j, const char *key, struct span text)
{
    if (text.len != 0)
        json_put_string(j, key, text);
}

static void put_label(struct json *j, const char *key, const struct node_json *x, const struct world_node *n, sym label)
{
    sym value = n->node != NULL ? sym_pairs_get(n->node->meta.labels, label) : SYM_NONE;
    if (value == SYM_NONE && n->claim != NULL)
        value = sym_pairs_get(n->claim->meta.labels, label);
    if (value != SYM_NONE)
        put_text(j, key, sym_text(x->syms, value));
}

static void put_room(struct json *j, const char *key, const struct node_json *x, int column)
{
    const amount *kept = world_daemons_expected(x->world, x->row);
    json_put_array(j, key);
    json_int(j, world_requested(x->world, x->row)[column]);
    json_int(j, world_allocatable(x->world, x->row)[column]);
    json_int(j, x->planned != NULL ? x->planned[column] : 0);
    json_int(j, kept != NULL ? kept[column] : 0);
    json_array_end(j);
}

static const char *state_of(const struct node_json *x, const struct world_node *n)
{
    static const char *const stages[] = {[NODE_UNMANAGED] = "not ours",
                                         [NODE_LAUNCHING] = "launching",
                                         [NODE_REGISTERED] = "starting",
                                         [NODE_INITIALIZED] = "ready"};
    if (n->leaving)
        return "leaving";
    return stages[n->stage == NODE_UNMANAGED && x->group.len != 0 ? NODE_INITIALIZED : n->stage];
}

void node_json(struct arena *scratch, const struct node_json *x, struct buf *out)
{
    const struct world_node *n = world_node_at(x->world, x->row);
    const struct meta *meta = n->node != NULL ? &n->node->meta : &n->claim->meta;
    struct json j = JSON_TO(out);
    json_object_begin(&j);
    json_put_string(&j, "n", n->name);
    put_label(&j, "p", x, n, SYM_NODEPOOL);
    put_text(&j, "g", x->group);
    put_label(&j, "t", x, n, SYM_INSTANCE_TYPE);
    put_label(&j, "z", x, n, SYM_ZONE);
    put_label(&j, "c", x, n, SYM_CAPACITY_TYPE);
    json_put_string(&j, "s", span_of(state_of(x, n)));
    if (!isnan(x->price)) {
        json_key(&j, SPAN("$"));
        json_double(&j, x->price);
    }
    json_put_int(&j, "a", meta->created);
    put_room(&j, "cpu", x, CPU);
    put_room(&j, "mem", x, MEMORY);
    put_heaps(&j, scratch, x, n);
    put_text(&j, "r", x->reason);
    json_object_end(&j);
}
