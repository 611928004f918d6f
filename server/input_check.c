/* What is read without a mistake, and still not used, or not as a person may think. */
#include <stdlib.h>

#include "kube/node.h"
#include "kube/pod.h"
#include "kube/pool_validate.h"
#include "kube/workload.h"
#include "server/input.h"

/* --- objects set aside --- */

static int by_identity(const void *a, const void *b)
{
    const struct meta *x = *(const void *const *)a, *y = *(const void *const *)b;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

static int by_identity_and_order(const void *a, const void *b)
{
    int order = by_identity(a, b);
    uint32_t x = input_origin(*(const void *const *)a)->order;
    uint32_t y = input_origin(*(const void *const *)b)->order;
    return order != 0 ? order : (x > y) - (x < y);
}

/* The one that was read first is used. */
static void drop_doubles(struct input *o, enum kind kind)
{
    struct input_list *list = &o->kinds[kind];
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(list->items[0]), by_identity_and_order);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        const void *first = list->items[kept - 1];
        if (by_identity(&list->items[i], &first) != 0) {
            list->items[kept++] = list->items[i];
            continue;
        }
        const struct input_origin *here = input_origin(list->items[i]), *there = input_origin(first);
        struct span name = kind_object_name(&o->arena, kind, first);
        input_warn(o, arena_printf(&o->arena, "%s:%u: %.*s: already given at %s:%u, which is used",
                                   here->file, here->line, SPAN_ARG(name), there->file, there->line));
    }
    list->count = kept;
}

/* After the doubles, so that a version that is read wins. */
static void add_old_pools(struct input *o)
{
    struct input_list *list = &o->kinds[KIND_NODE_POOL];
    size_t read = list->count;
    for (size_t i = 0; i < o->old_pools.count; i++)
        if (read == 0 || bsearch(&o->old_pools.items[i], list->items, read, sizeof(list->items[0]),
                                 by_identity) == NULL)
            ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, o->old_pools.items[i]);
    drop_doubles(o, KIND_NODE_POOL);
}

const struct node_pool *input_closed_pool(struct input *o, const struct input_origin *origin,
                                          const struct node_pool *pool, struct span why)
{
    struct node_pool *closed = input_new_object(o, origin, sizeof(*closed));
    struct condition *c = ARENA_ARRAY(&o->arena, struct condition, 2);
    c[0] = (struct condition){.type = SPAN("ValidationSucceeded"),
                              .status = CONDITION_FALSE,
                              .message = why};
    c[1] = (struct condition){.type = SPAN("Ready"), .status = CONDITION_FALSE, .message = why};
    *closed = *pool;
    closed->conditions = (struct conditions){c, 2};
    return closed;
}

static void check_pools(struct input *o, const struct label_rules *rules)
{
    struct input_list *list = &o->kinds[KIND_NODE_POOL];
    for (size_t i = 0; i < list->count; i++) {
        const struct node_pool *pool = list->items[i];
        const struct input_origin *origin = input_origin(pool);
        struct pool_faults found = pool_validate(&o->arena, pool, rules, o->syms);
        for (size_t f = 0; f < found.count; f++)
            input_warn(o, arena_printf(&o->arena,
                                       "%s:%u: NodePool %.*s: %.*s: %.*s; the pool is set aside",
                                       origin->file, origin->line, SPAN_ARG(pool->meta.name),
                                       SPAN_ARG(found.items[f].path),
                                       SPAN_ARG(found.items[f].text)));
        if (found.count != 0)
            list->items[i] =
                input_closed_pool(o, origin, pool, pool_faults_text(&o->arena, found));
    }
}

/* --- what nobody plans --- */

struct owned { /* by whom some pod is controlled */
    struct span ns, name;
};

static int by_owner(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    int order = span_cmp(x->ns, y->ns);
    return order != 0 ? order : span_cmp(x->name, y->name);
}

struct owners_of_pods {
    struct owned *items;
    size_t count, capacity;
};

/* Also the Deployment of a ReplicaSet web-5f6d8, which is web. */
static struct owners_of_pods owners_of_pods(struct input *o)
{
    struct owners_of_pods found = {0};
    const struct input_list *pods = &o->kinds[KIND_POD];
    for (size_t i = 0; i < pods->count; i++) {
        const struct pod *p = pods->items[i];
        const struct owner *by = meta_controller(&p->meta);
        if (by == NULL)
            continue;
        struct owned one = {p->meta.ns, by->name};
        ARENA_PUSH(&o->arena, found.items, found.count, found.capacity, one);
        while (one.name.len != 0 && one.name.ptr[one.name.len - 1] != '-')
            one.name.len--;
        if (span_eq(sym_text(o->syms, by->kind), SPAN("ReplicaSet")) && one.name.len-- != 0)
            ARENA_PUSH(&o->arena, found.items, found.count, found.capacity, one);
    }
    if (found.count != 0)
        qsort(found.items, found.count, sizeof(found.items[0]), by_owner);
    return found;
}

static bool lacks_pods(const struct controller *c, const struct owners_of_pods *owners)
{
    const struct owned key = {c->meta.ns, c->meta.name};
    if ((c->has_replicas && c->replicas == 0) || meta_controller(&c->meta) != NULL)
        return false;
    return owners->count == 0 || bsearch(&key, owners->items, owners->count,
                                         sizeof(owners->items[0]), by_owner) == NULL;
}

/* Only pods are planned: a person who gives a Deployment alone would be told that nothing waits. */
static void warn_of_workloads(struct input *o)
{
    static const enum kind kinds[] = {KIND_DEPLOYMENT, KIND_REPLICA_SET, KIND_STATEFUL_SET};
    if (o->kinds[KIND_CAPACITY_BUFFER].count != 0)
        return; /* there for the buffers to point at */
    struct owners_of_pods owners = owners_of_pods(o);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        const struct input_list *list = &o->kinds[kinds[k]];
        size_t lacking = 0;
        for (size_t i = 0; i < list->count; i++)
            lacking += lacks_pods(list->items[i], &owners);
        if (lacking != 0)
            input_warn(o, arena_printf(&o->arena,
                                       "%zu %s%s no pods in the input; only pods are planned",
                                       lacking, kind_info(kinds[k])->name,
                                       lacking == 1 ? " has" : "s have"));
    }
}

struct span input_unseen(struct input *o)
{
    const struct input_list *pods = &o->kinds[KIND_POD];
    size_t unseen = 0;
    for (size_t i = 0; i < pods->count; i++)
        unseen += pod_is_unseen(pods->items[i]);
    if (unseen == 0)
        return (struct span){NULL, 0};
    return arena_printf(&o->arena,
                        "%zu pod%s without a node %s not planned: no scheduler has looked at %s; "
                        "--all-unbound plans %s",
                        unseen, unseen == 1 ? "" : "s", unseen == 1 ? "was" : "were",
                        unseen == 1 ? "it" : "them", unseen == 1 ? "it" : "them");
}

/* --- the whole --- */

void input_gates(struct input *o, const struct gates *gates)
{
    const struct {
        enum kind kind;
        const char *gate;
        bool on;
    } gated[] = {{KIND_NODE_OVERLAY, "NodeOverlay", gates->node_overlay},
                 {KIND_CAPACITY_BUFFER, "CapacityBuffer", gates->capacity_buffer}};
    for (size_t i = 0; i < COUNT_OF(gated); i++) {
        size_t count = o->kinds[gated[i].kind].count;
        if (gated[i].on || count == 0)
            continue;
        input_warn(o, arena_printf(&o->arena,
                                    "%zu %s%s without effect: the gate is off; "
                                    "--feature-gates %s=true turns it on",
                                    count, kind_info(gated[i].kind)->name, count == 1 ? "" : "s",
                                    gated[i].gate));
        o->kinds[gated[i].kind].count = 0;
    }
}

void input_check_plan(struct input *o, const struct label_rules *rules)
{
    check_pools(o, rules);
    warn_of_workloads(o);
}

void input_check(struct input *o)
{
    for (enum kind kind = 0; kind < KIND_STORED_COUNT; kind++)
        drop_doubles(o, kind);
    add_old_pools(o);
    if (o->passed_over != 0)
        input_warn(o, arena_printf(&o->arena, "%u object%s of other kinds passed over (%.*s)",
                                    o->passed_over, o->passed_over == 1 ? "" : "s",
                                    SPAN_ARG(o->passed_over_kinds)));
}
