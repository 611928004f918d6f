#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check/check.h"

void cluster_init(struct cluster *c)
{
    *c = (struct cluster){.options = {.ready_when_unstated = true, .reserved_capacity = true},
                          .plan_options = {.search = SEARCH_GREEDY}};
    arena_init(&c->arena, 0);
    c->syms = kube_symtab_new();
}

void cluster_release(struct cluster *c)
{
    plan_free(c->plan);
    world_free(c->world);
    symtab_unref(c->syms);
    arena_release(&c->arena);
}

static struct span member(struct doc_value object, const char *key)
{
    struct doc_value v;
    if (!doc_find(object, span_of(key), &v))
        return (struct span){0};
    enum doc_type t = doc_type(v);
    return t == DOC_STRING || t == DOC_NUMBER ? doc_text(v) : (struct span){0};
}

static struct doc_iter members(struct doc_value object, const char *key)
{
    struct doc_value v;
    if (!doc_find(object, span_of(key), &v))
        return (struct doc_iter){0};
    return doc_iter_of(v);
}

/* --- instance types --- */

static struct resources read_resources(struct cluster *c, struct doc_value from, const char *key)
{
    struct resources r = {0};
    struct doc_value map;
    if (!doc_find(from, span_of(key), &map))
        return r;
    for (struct doc_iter i = doc_iter_of(map); doc_next(&i);) {
        struct err err;
        amount value;
        bool cpu = span_eq(i.key, SPAN("cpu"));
        if (!quantity_parse(doc_text(i.value), cpu ? 1000 : 1, &value, &err))
            fail_msg("%s", err.msg);
        *resources_at(&c->arena, &r, sym_intern(c->syms, i.key)) = value;
    }
    return r;
}

static void require(struct cluster *c, struct requirements *r, struct span key, struct span values)
{
    struct expression e = {.key = sym_intern(c->syms, key), .op = OP_IN};
    if (span_eq(values, SPAN("!"))) {
        e.op = OP_DOES_NOT_EXIST;
    } else {
        uint32_t capacity = 0;
        while (values.len != 0)
            ARENA_PUSH(&c->arena, e.values.items, e.values.count, capacity,
                       sym_intern(c->syms, span_cut(values, ',', &values)));
    }
    struct requirement x = requirement_of(&c->arena, c->syms, &e);
    requirements_add(&c->arena, r, &x, c->syms);
}

static struct offering read_offering(struct cluster *c, struct doc_value v)
{
    struct doc_value x;
    struct offering o = {.available = true};
    require(c, &o.requirements, SPAN("topology.kubernetes.io/zone"), member(v, "zone"));
    require(c, &o.requirements, SPAN("karpenter.sh/capacity-type"), member(v, "capacity"));
    if (member(v, "reservation").len != 0)
        require(c, &o.requirements, c->catalogue.reservation_id_label, member(v, "reservation"));
    if (doc_find(v, SPAN("price"), &x))
        assert_true(doc_double(x, &o.price));
    if (doc_find(v, SPAN("available"), &x))
        o.available = doc_bool(x);
    if (doc_find(v, SPAN("reservations"), &x))
        assert_true(doc_int64(x, &o.reservation_capacity));
    o.has_capacity_override = doc_find(v, SPAN("override"), &x);
    o.capacity_override = read_resources(c, v, "override");
    return o;
}

static void read_type(struct cluster *c, struct doc_value v, struct instance_type *t)
{
    t->name = arena_dup(&c->arena, member(v, "name"));
    t->name_sym = sym_intern(c->syms, t->name);
    t->capacity = read_resources(c, v, "resources");
    t->overhead = read_resources(c, v, "overhead");
    require(c, &t->requirements, SPAN("node.kubernetes.io/instance-type"), t->name);
    for (struct doc_iter i = members(v, "labels"); i.value.doc != NULL && doc_next(&i);)
        require(c, &t->requirements, i.key, doc_text(i.value));
    uint32_t capacity = 0, pools = 0, limits = 0;
    for (struct doc_iter i = members(v, "offerings"); i.value.doc != NULL && doc_next(&i);)
        ARENA_PUSH(&c->arena, t->offerings, t->offering_count, capacity, read_offering(c, i.value));
    for (struct doc_iter i = members(v, "volumeLimits"); i.value.doc != NULL && doc_next(&i);) {
        struct volume_limit l = {.driver = sym_intern(c->syms, i.key)};
        assert_true(doc_int64(i.value, &l.count));
        ARENA_PUSH(&c->arena, t->volume_limits, t->volume_limit_count, limits, l);
    }
    for (struct doc_iter i = members(v, "nodePools"); i.value.doc != NULL && doc_next(&i);)
        ARENA_PUSH(&c->arena, t->node_pools.items, t->node_pools.count, pools,
                   arena_dup(&c->arena, doc_text(i.value)));
    instance_type_finish(&c->arena, t, c->syms);
}

static int type_order(const void *a, const void *b)
{
    return span_cmp(((const struct instance_type *)a)->name, ((const struct instance_type *)b)->name);
}

static int sym_order(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

static void read_types(struct cluster *c, struct doc_value root)
{
    static const sym known[] = {SYM_NODEPOOL, SYM_ZONE, SYM_REGION, SYM_INSTANCE_TYPE, SYM_ARCH,
                                SYM_OS, SYM_CAPACITY_TYPE, SYM_WINDOWS_BUILD};
    static const struct span domain = SPAN_INIT("karpenter.sh");
    struct catalogue *k = &c->catalogue;
    uint32_t capacity = 0, types = 0;
    *k = (struct catalogue){.domains = &domain, .domain_count = 1};
    k->reservation_id_label = arena_dup(&c->arena, member(root, "reservationIDLabel"));
    if (k->reservation_id_label.len != 0)
        ARENA_PUSH(&c->arena, k->well_known.items, k->well_known.count, capacity,
                   sym_intern(c->syms, k->reservation_id_label));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        ARENA_PUSH(&c->arena, k->well_known.items, k->well_known.count, capacity, known[i]);
    for (struct doc_iter i = members(root, "wellKnown"); i.value.doc != NULL && doc_next(&i);)
        ARENA_PUSH(&c->arena, k->well_known.items, k->well_known.count, capacity,
                   sym_intern(c->syms, doc_text(i.value)));
    qsort(k->well_known.items, k->well_known.count, sizeof(sym), sym_order);
    for (struct doc_iter i = members(root, "items"); i.value.doc != NULL && doc_next(&i);) {
        struct instance_type t = {0};
        read_type(c, i.value, &t);
        ARENA_PUSH(&c->arena, k->items, k->count, types, t);
    }
    qsort(k->items, k->count, sizeof(*k->items), type_order);
}

/* --- objects --- */

static void add_object(struct cluster *c, struct doc_value root)
{
    if (span_eq(member(root, "kind"), SPAN("InstanceTypes"))) {
        read_types(c, root);
        return;
    }
    enum kind k = kind_find(member(root, "apiVersion"), member(root, "kind"));
    if (k >= KIND_STORED_COUNT)
        fail_msg("unknown kind %.*s", SPAN_ARG(member(root, "kind")));
    const struct schema *schema = kind_info(k)->schema;
    void *object = arena_alloc(&c->arena, schema->size);
    struct err err;
    if (!decode_one(&c->arena, c->syms, root, schema, object, &err))
        fail_msg("%s", err.msg);
    struct meta *m = object; /* first in every kind */
    if (kind_info(k)->namespaced && m->ns.len == 0)
        m->ns = SPAN("default");
    if (m->uid.len == 0)
        m->uid = arena_printf(&c->arena, "%s/%.*s/%.*s", kind_info(k)->name, SPAN_ARG(m->ns),
                              SPAN_ARG(m->name));
    struct cluster_list *l = &c->kinds[k];
    ARENA_PUSH(&c->arena, l->items, l->count, l->capacity, object);
}

void cluster_add(struct cluster *c, const char *yaml)
{
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    struct span text = span_of(yaml);
    while (doc_parse_yaml(parser, text, &at, &doc, &err))
        add_object(c, doc_root(doc));
    if (err.kind != ERR_NONE)
        fail_msg("%s", err.msg);
    doc_parser_free(parser);
}

static void add_fake(struct buf *b, const char *name, unsigned cpu, unsigned memory, unsigned pods,
                     const char *arch, const char *os, const char *more)
{
    static const char *const offers[][2] = {{"spot", "test-zone-1"}, {"spot", "test-zone-2"},
        {"on-demand", "test-zone-1"}, {"on-demand", "test-zone-2"}, {"on-demand", "test-zone-3"}};
    bool large = cpu > 4 && memory > 8, gpu = more[0] != '\0';
    double price = 0.1 * cpu + 0.1 * memory * 1073741824.0 / 1e9 + (gpu ? 1 : 0);
    buf_addf(b, "- {name: %s, resources: {cpu: %u, memory: %uGi, pods: %u%s}, ", name, cpu, memory,
             pods, more);
    buf_addf(b, "overhead: {cpu: 100m, memory: 10Mi}, labels: {kubernetes.io/arch: %s, "
                "kubernetes.io/os: \"%s\", size: %s, special: \"%s\", integer: \"%u\", "
                "topology.kubernetes.io/zone: \"test-zone-1,test-zone-2,test-zone-3\", "
                "karpenter.sh/capacity-type: \"spot,on-demand\"}, offerings: [",
             arch, os, large ? "large" : "small", large ? "optional" : "!", cpu);
    for (size_t i = 0; i < COUNT_OF(offers); i++)
        buf_addf(b, "%s{capacity: %s, zone: %s, price: %.9f}", i != 0 ? ", " : "", offers[i][0],
                 offers[i][1], price);
    buf_addf(b, "]}\n");
}

static const char TYPES_HEAD[] =
    "kind: InstanceTypes\nwellKnown: [size, special, integer]\nitems:\n";

void cluster_types_c0(struct cluster *c)
{
    static const char os[] = "linux,windows,darwin";
    struct buf b = {0};
    buf_addf(&b, "%s", TYPES_HEAD);
    add_fake(&b, "default-instance-type", 4, 4, 5, "amd64", os, "");
    add_fake(&b, "small-instance-type", 2, 2, 5, "amd64", os, "");
    add_fake(&b, "gpu-vendor-instance-type", 4, 4, 5, "amd64", os, ", fake.com/vendor-a: 2");
    add_fake(&b, "gpu-vendor-b-instance-type", 4, 4, 5, "amd64", os, ", fake.com/vendor-b: 2");
    add_fake(&b, "arm-instance-type", 16, 128, 5, "arm64", "linux,windows,darwin,ios", "");
    add_fake(&b, "single-pod-instance-type", 4, 4, 1, "amd64", os, "");
    cluster_add(c, b.ptr);
    buf_release(&b);
}

void cluster_types_c1(struct cluster *c, unsigned count)
{
    struct buf b = {0};
    buf_addf(&b, "%s", TYPES_HEAD);
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "fake-it-%u", i);
        add_fake(&b, name, i + 1, 2 * (i + 1), 10 * (i + 1), "amd64", "linux,windows,darwin", "");
    }
    cluster_add(c, b.ptr);
    buf_release(&b);
}

void cluster_shuffle(struct cluster *c, uint64_t seed)
{
    for (size_t k = 0; k < COUNT_OF(c->kinds); k++)
        for (size_t i = c->kinds[k].count; i > 1; i--) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t j = (size_t)(seed >> 33) % i;
            const void *swap = c->kinds[k].items[i - 1];
            c->kinds[k].items[i - 1] = c->kinds[k].items[j];
            c->kinds[k].items[j] = swap;
        }
}

struct world_input cluster_input(const struct cluster *c)
{
    struct world_input in = {
        .syms = c->syms, .options = &c->options, .catalogue = &c->catalogue};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        world_input_take(&in, k, c->kinds[k].items, c->kinds[k].count);
    return in;
}

static void remove_nodes(struct cluster *c)
{
    c->plan_options.removed = c->removed_rows;
    c->plan_options.removed_count = 0;
    for (uint32_t i = 0; i < COUNT_OF(c->removed) && c->removed[i].len != 0; i++)
        for (uint32_t row = 0; row < world_node_count(c->world); row++)
            if (span_eq(world_node_at(c->world, row)->name, c->removed[i]))
                c->removed_rows[c->plan_options.removed_count++] = row;
}

const struct plan *cluster_plan_unchecked(struct cluster *c)
{
    plan_free(c->plan);
    world_free(c->world);
    struct world_input in = cluster_input(c);
    c->world = world_build(&in);
    remove_nodes(c);
    c->plan = plan_solve(c->world, &c->plan_options);
    plan_tell(c->plan);
    return c->plan;
}

const struct plan *cluster_plan(struct cluster *c)
{
    struct err err = {.kind = ERR_NONE};
    if (!check_plan(c, cluster_plan_unchecked(c), &err))
        fail_msg("the plan breaks a rule: %s", err.msg);
    return c->plan;
}

/* --- the plan in words --- */

static void put_pod(struct buf *b, const struct pod *p)
{
    if (!span_eq(p->meta.ns, SPAN("default")))
        buf_addf(b, "%.*s/", SPAN_ARG(p->meta.ns));
    buf_add(b, p->meta.name);
}

struct span cluster_summary(struct cluster *c)
{
    struct buf b = {0};
    const struct plan *p = c->plan;
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct plan_claim *n = &p->claims[i];
        buf_addf(&b, "%.*s %.*s/%u:", SPAN_ARG(n->name),
                 SPAN_ARG(n->type_count != 0 ? n->types[0]->name : SPAN("-")), n->type_count);
        for (uint32_t k = 0; k < n->pod_count; k++) {
            buf_add_char(&b, ' ');
            put_pod(&b, n->pods[k]);
        }
        buf_add_char(&b, '\n');
    }
    for (uint32_t i = 0; i < p->node_count; i++) {
        buf_addf(&b, "node %.*s:", SPAN_ARG(world_node_at(c->world, p->nodes[i].row)->name));
        for (uint32_t k = 0; k < p->nodes[i].pod_count; k++) {
            buf_add_char(&b, ' ');
            put_pod(&b, p->nodes[i].pods[k]);
        }
        buf_add_char(&b, '\n');
    }
    for (uint32_t i = 0; i < p->unschedulable_count; i++) {
        put_pod(&b, p->unschedulable[i].pod);
        buf_addf(&b, " %s\n", unschedulable_name(p->unschedulable[i].reason));
    }
    struct span text = arena_dup(&c->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

const struct plan_unschedulable *cluster_failed(const struct cluster *c, const char *pod)
{
    for (uint32_t i = 0; i < c->plan->unschedulable_count; i++)
        if (span_eq(c->plan->unschedulable[i].pod->meta.name, span_of(pod)))
            return &c->plan->unschedulable[i];
    return NULL;
}
