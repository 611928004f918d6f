/* Provider kwok of node groups at an API server: each rule of the contract of providers (spec node-groups 2.2), names, and
 * that nothing is made twice, whenever the process dies. */
#include <stdio.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_groups.h"

#define TEMPLATE(name_, more_)                                                                                          \
    "- apiVersion: v1\n"                                                                                                \
    "  kind: Node\n"                                                                                                    \
    "  metadata:\n"                                                                                                     \
    "    name: of-" name_ "\n"                                                                                          \
    "    labels: {pool: " name_ ", kubernetes.io/hostname: of-" name_ ", kubernetes.io/arch: arm64}\n"                  \
    "    annotations: {example.com/team: blue" more_ "}\n"                                                              \
    "  spec: {podCIDR: 10.0.0.0/24, providerID: 'kind://x', taints: [{key: dedicated, value: x, effect: NoSchedule},"   \
    " {key: node.kubernetes.io/not-ready, effect: NoSchedule}]}\n"                                                      \
    "  status: {capacity: {cpu: 2, memory: 4Gi, pods: 110}, allocatable: {cpu: 1900m, memory: 3Gi, pods: 110}}\n"
#define BOUNDS(min_, max_)                                                                                              \
    ", cluster-autoscaler.kwok.nodegroup/min-count: '" min_ "', cluster-autoscaler.kwok.nodegroup/max-count: '" max_ "'"
#define LIST(items_) "apiVersion: v1\nkind: List\nitems:\n" items_

static const char two_groups[] = LIST(TEMPLATE("a", BOUNDS("1", "5")) TEMPLATE("b", ""));
static const char nobody[] = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: x}}";

/* ---- the desk ---- */

static struct {
    const char *config, *templates;
    bool from_maps; /* it reads ConfigMaps */
    bool out_of_stock;
    enum group_kwok_fate fates[8]; /* of one machine after the other; then they come */
    uint32_t fated;
} shop;

static bool in_stock(void *user, struct span group, int32_t more)
{
    (void)user;
    (void)group;
    (void)more;
    return !shop.out_of_stock;
}

static enum group_kwok_fate fate(void *user, struct span group, struct span node, struct group_error_info *error)
{
    (void)user;
    (void)group;
    (void)node;
    enum group_kwok_fate f = shop.fated < COUNT_OF(shop.fates) ? shop.fates[shop.fated++] : GROUP_KWOK_COMES;
    if (f == GROUP_KWOK_BREAKS)
        *error = (struct group_error_info){INSTANCE_OUT_OF_RESOURCES, SPAN("QuotaExceeded"), SPAN("no quota")};
    return f;
}

static struct group_provider *make(struct group_desk *d)
{
    struct arena a;
    struct err err;
    struct group_kwok_options o = {.api = d->api, .in_stock = in_stock, .fate = fate,
                                   .templates = {span_of(shop.templates), SPAN("templates.yaml")}};
    arena_init(&a, 0);
    if (shop.from_maps) {
        o.config_map = SPAN(GROUP_KWOK_CONFIG_MAP);
        o.maps_ns = SPAN("kube-system");
    } else if (!group_kwok_read(&a, &(struct group_kwok_text){span_of(shop.config), SPAN("config.yaml")}, &o.config, &err))
        fail_msg("%s", err.msg);
    struct group_provider *p = group_kwok_new(&o, &err);
    if (p == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

static const char by_pool[] = "readNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
                              "nodes: {gpuConfig: {gpuLabelKey: gpu, availableGPUTypes: {}}}\nconfigmap: {name: t}\n";

static void begin_with(struct group_desk *d, const char *config, const char *templates, const char *objects)
{
    memset(&shop, 0, sizeof(shop));
    shop.config = config;
    shop.templates = templates;
    *d = (struct group_desk){.make = make};
    group_desk_begin(d, objects);
}

static void begin(struct group_desk *d)
{
    begin_with(d, by_pool, two_groups, nobody);
    group_desk_look(d);
}

static uint32_t count_nodes(struct group_desk *d)
{
    return sim_cluster_count(sim_cluster(d->sim), KIND_NODE);
}

static void expect_size(struct group_desk *d, const char *group, int32_t target, uint32_t nodes)
{
    const struct node_group *g = group_looked(d, group);
    if (g->target != target || g->nodes.count != nodes)
        fail_msg("%s: target %d, %u Nodes; want %d and %u", group, g->target, g->nodes.count, target, nodes);
}

static void expect(enum err_kind got, enum err_kind want, struct group_desk *d, const char *label)
{
    if (got != want)
        fail_msg("%s: %s (%s), want %s", label, err_kind_name(got), d->err.msg, err_kind_name(want));
}

/* ---- the tests ---- */

static void tells_its_groups(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    assert_int_equal(d.groups.groups.count, 2);
    const struct node_group *a = group_named(&d, "a"), *b = group_named(&d, "b");
    assert_int_equal(a->min, 1);
    assert_int_equal(a->max, 5);
    assert_int_equal(b->min, 0);
    assert_int_equal(b->max, 200); /* no annotations */
    assert_true(a->has_target && a->has_machines);
    assert_int_equal(a->target, 0); /* the templates are no machines */
    assert_true(span_eq(sym_text(d.syms, d.groups.gpu_label), SPAN("gpu")));
    const struct node *t = a->template;
    assert_int_equal(resources_get(t->capacity, SYM_CPU), 2000);
    assert_int_equal(resources_get(t->allocatable, SYM_CPU), 1900 - GROUP_KUBE_PROXY_MILLICPU);
    assert_int_equal(sym_pairs_get(t->meta.labels, SYM_ARCH), SYM_ARM64);
    assert_int_equal(t->taints.count, 2); /* dedicated, and the provider's; none that a Node loses again */
    assert_true(span_eq(sym_text(d.syms, t->taints.items[1].key), SPAN("kwok-provider")));
    assert_int_equal(t->taints.items[1].effect, TAINT_NO_SCHEDULE);
    group_desk_end(&d);
}

static void makes_nodes(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    expect(group_resize(&d, "a", 0, 2), ERR_NONE, &d, "two more");
    json_t *n = object_of(d.sim, KIND_NODE, NULL, "a-1");
    assert_non_null(n);
    assert_true(tree_is(n, "spec.providerID", "kwok:a-1"));
    const json_t *annotations = tree_get(n, "metadata.annotations"), *labels = tree_get(n, "metadata.labels");
    assert_string_equal(json_string_value(json_object_get(annotations, "kwok.x-k8s.io/node")), "fake");
    assert_string_equal(json_string_value(json_object_get(annotations, "cluster-autoscaler.kwok.nodegroup/name")), "a");
    assert_string_equal(json_string_value(json_object_get(annotations, "example.com/team")), "blue");
    assert_string_equal(json_string_value(json_object_get(labels, "pool")), "a");
    assert_string_equal(json_string_value(json_object_get(labels, "kubernetes.io/hostname")), "a-1");
    assert_null(tree_get(n, "spec.podCIDR"));
    assert_true(tree_is(n, "status.allocatable.cpu", "1900m"));
    json_t *taints = json_deep_copy(tree_get(n, "spec.taints"));
    const char *keys[] = {"dedicated", "kwok-provider"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(taints, i), "key")), keys[i]);
    assert_string_equal(json_string_value(json_object_get(json_array_get(taints, 1), "value")), "true");
    json_decref(taints);
    json_decref(n);
    expect_size(&d, "a", 2, 2);
    assert_int_equal(count_machines(group_named(&d, "a"), INSTANCE_RUNNING), 2);
    assert_non_null(machine_named(group_named(&d, "a"), "kwok:a-0"));
    expect_size(&d, "b", 0, 0);
    group_desk_end(&d);
}

/* Also while no snapshot shows it. */
static void targets_count_at_once(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    d.blind = true;
    expect(group_resize(&d, "a", 0, 3), ERR_NONE, &d, "three");
    expect_size(&d, "a", 3, 0);
    assert_int_equal(count_machines(group_named(&d, "a"), INSTANCE_CREATING), 3);
    expect(group_resize(&d, "a", 0, 3), ERR_CONFLICT, &d, "as if nothing had been");
    expect(group_resize(&d, "a", 3, 4), ERR_NONE, &d, "one more"); /* and under another name */
    expect(group_remove(&d, "a", "kwok:a-1", false), ERR_NONE, &d, "one that no snapshot shows");
    expect_size(&d, "a", 3, 0);
    assert_int_equal(machine_named(group_named(&d, "a"), "kwok:a-1")->state, INSTANCE_DELETING);
    d.blind = false;
    expect_size(&d, "a", 3, 3);
    assert_int_equal(group_named(&d, "a")->machines.count, 3);
    d.blind = true;
    expect(group_remove(&d, "a", "kwok:a-0", false), ERR_NONE, &d, "one that the snapshot goes on showing");
    expect_size(&d, "a", 2, 3);
    assert_int_equal(machine_named(group_named(&d, "a"), "kwok:a-0")->state, INSTANCE_DELETING);
    d.blind = false;
    expect_size(&d, "a", 2, 2);
    assert_int_equal(count_nodes(&d), 2);
    group_desk_end(&d);
}

static void refuses(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    expect(group_resize(&d, "a", 0, 6), ERR_INVALID, &d, "above the maximum");
    expect(group_resize(&d, "c", 0, 1), ERR_INVALID, &d, "no such group");
    assert_int_equal(count_nodes(&d), 0);
    expect(group_resize(&d, "a", 0, 3), ERR_NONE, &d, "three");
    expect(group_resize(&d, "b", 0, 1), ERR_NONE, &d, "one of the other");
    expect_size(&d, "a", 3, 3);
    expect(group_resize(&d, "a", 3, 2), ERR_INVALID, &d, "withdrawing a machine");
    expect(group_resize(&d, "a", 2, 4), ERR_CONFLICT, &d, "somebody resized it");
    expect(group_remove(&d, "a", "kwok:a-0 kwok:a-1 kwok:a-2", false), ERR_INVALID, &d, "below the minimum");
    expect(group_remove(&d, "a", "kwok:a-0 kwok:b-0", false), ERR_INVALID, &d, "another group's, and one's own stays");
    expect(group_remove(&d, "a", "kwok:a-0 kwok://a-1", false), ERR_INVALID, &d, "not an id");
    expect(group_remove(&d, "a", "kwok:a-0 kwok:a-0", false), ERR_INVALID, &d, "one twice");
    expect(group_remove(&d, "c", "kwok:c-0", false), ERR_INVALID, &d, "of no group");
    expect_size(&d, "a", 3, 3);
    assert_int_equal(count_nodes(&d), 4);
    group_desk_end(&d);
}

static void removes(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    expect(group_resize(&d, "a", 0, 4), ERR_NONE, &d, "four");
    expect_size(&d, "a", 4, 4);
    expect(group_remove(&d, "a", "kwok:a-1 kwok:a-2", false), ERR_NONE, &d, "two");
    expect_size(&d, "a", 2, 2);
    assert_true(is_gone(d.sim, KIND_NODE, NULL, "a-1") && is_gone(d.sim, KIND_NODE, NULL, "a-2"));
    expect(group_remove(&d, "a", "kwok:a-1", false), ERR_NONE, &d, "what is gone already");
    expect_size(&d, "a", 2, 2);
    do_request(d.sim, API_DELETE, KIND_NODE, NULL, "a-0", NULL, 200);
    expect(group_remove(&d, "a", "kwok:a-0", false), ERR_NONE, &d, "what a person deleted meanwhile");
    expect_size(&d, "a", 1, 1);
    expect(group_remove(&d, "a", "kwok:a-3", false), ERR_INVALID, &d, "the last one of the minimum");
    expect(group_remove(&d, "a", "kwok:a-3", true), ERR_NONE, &d, "by force");
    expect_size(&d, "a", 0, 0);
    expect(group_resize(&d, "a", 0, 1), ERR_NONE, &d, "one again");
    assert_false(is_gone(d.sim, KIND_NODE, NULL, "a-0")); /* the least name that is free */
    group_desk_end(&d);
}

static void note_kind(void *user, const struct err *err)
{
    *(enum err_kind *)user = err->kind;
}

/* Two removals that would each leave the minimum, and together do not: the second is refused. */
static void removals_count_at_once(void **state)
{
    (void)state;
    struct group_desk d;
    enum err_kind kinds[2] = {ERR_INTERNAL, ERR_INTERNAL};
    begin(&d);
    expect(group_resize(&d, "a", 0, 2), ERR_NONE, &d, "two");
    group_desk_look(&d);
    struct span ids[] = {SPAN_INIT("kwok:a-0"), SPAN_INIT("kwok:a-1")};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        d.provider->ops->remove(d.provider, SPAN("a"), &ids[i], 1, false, note_kind, &kinds[i]);
    run_for(d.sim, 5000);
    assert_int_equal(kinds[0], ERR_NONE);
    assert_int_equal(kinds[1], ERR_INVALID);
    expect_size(&d, "a", 1, 1);
    group_desk_end(&d);
}

static void machines_fare_differently(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    shop.out_of_stock = true;
    expect(group_resize(&d, "b", 0, 2), ERR_CAPACITY, &d, "out of stock");
    expect_size(&d, "b", 0, 0);
    shop.out_of_stock = false;
    shop.fates[1] = GROUP_KWOK_FAILS;
    expect(group_resize(&d, "b", 0, 3), ERR_RETRY, &d, "the call fails, and nothing is made");
    expect_size(&d, "b", 0, 0);
    shop.fates[0] = GROUP_KWOK_NEVER_REGISTERS;
    shop.fates[1] = GROUP_KWOK_BREAKS;
    shop.fates[2] = GROUP_KWOK_NEVER_MADE;
    shop.fated = 0;
    expect(group_resize(&d, "b", 0, 4), ERR_NONE, &d, "one of each");
    expect_size(&d, "b", 4, 1);
    const struct node_group *b = group_named(&d, "b");
    assert_int_equal(b->machines.count, 3); /* what was never made is none */
    assert_int_equal(machine_named(b, "kwok:b-0")->state, INSTANCE_CREATING);
    assert_int_equal(machine_named(b, "kwok:b-0")->error.class, INSTANCE_ERROR_NONE);
    assert_int_equal(machine_named(b, "kwok:b-1")->state, INSTANCE_CREATING);
    assert_int_equal(machine_named(b, "kwok:b-1")->error.class, INSTANCE_OUT_OF_RESOURCES);
    assert_true(span_eq(machine_named(b, "kwok:b-1")->error.code, SPAN("QuotaExceeded")));
    expect(group_resize(&d, "b", 4, 2), ERR_INVALID, &d, "only one is no machine yet");
    expect(group_resize(&d, "b", 4, 3), ERR_NONE, &d, "and that is withdrawn");
    expect_size(&d, "b", 3, 1);
    expect(group_remove(&d, "b", "kwok:b-0 kwok:b-1", false), ERR_NONE, &d, "machines without a Node");
    expect_size(&d, "b", 1, 1);
    assert_int_equal(group_named(&d, "b")->machines.count, 1);
    group_desk_end(&d);
}

/* A row that no snapshot bears out does not stay for ever. */
static void forgets_what_others_delete(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    d.blind = true;
    expect(group_resize(&d, "b", 0, 2), ERR_NONE, &d, "two");
    do_request(d.sim, API_DELETE, KIND_NODE, NULL, "b-0", NULL, 200);
    expect_size(&d, "b", 2, 0);
    d.blind = false;
    expect_size(&d, "b", 1, 1); /* b-1, which is newer than b-0 was, is seen */
    expect(group_remove(&d, "b", "kwok:b-1", false), ERR_NONE, &d, "the other");
    expect_size(&d, "b", 0, 0);
    group_desk_end(&d);
}

#define NODE(name_, meta_, id_)                                                                                         \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name_ meta_ "}, spec: {providerID: '" id_ "'}}\n"
#define OF(group_) ", annotations: {kwok.x-k8s.io/node: fake, cluster-autoscaler.kwok.nodegroup/name: " group_ "}"
#define LABELLED(group_) ", labels: {pool: " group_ "}, annotations: {kwok.x-k8s.io/node: fake}"

static void knows_its_machines(void **state)
{
    (void)state;
    static const struct {
        const char *label, *node;
        uint32_t machines;
    } rows[] = {
        {"by annotation", NODE("x", OF("b"), "kwok:x"), 1},
        {"by label", NODE("x", LABELLED("b"), "kwok:x"), 1},
        {"not a NodeClaim's", NODE("x", LABELLED("b"), "kwok://x"), 0},
        {"not a real one", NODE("x", ", labels: {pool: b}", "aws:///x"), 0},
        {"not one that kwok does not keep", NODE("x", ", labels: {pool: b}", "kwok:x"), 0},
        {"not another's id", NODE("x", OF("b"), "kwok:y"), 0},
        {"one that ends is there", NODE("x", OF("b") ", finalizers: [example.com/x], deletionTimestamp: '2026-01-02T03:00:00Z'", "kwok:x"), 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct group_desk d;
        begin_with(&d, by_pool, two_groups, rows[i].node);
        const struct node_group *b = group_looked(&d, "b");
        if (b->machines.count != rows[i].machines)
            fail_msg("%s: %u machines", rows[i].label, b->machines.count);
        bool ends = strstr(rows[i].node, "deletionTimestamp") != NULL;
        if (b->target != (int32_t)rows[i].machines - ends || count_machines(b, INSTANCE_DELETING) != ends)
            fail_msg("%s: target %d", rows[i].label, b->target);
        group_desk_end(&d);
    }
}

/* A name that another's Node has is passed over. */
static void names(void **state)
{
    (void)state;
    struct group_desk d;
    begin_with(&d, by_pool, LIST(TEMPLATE("Big_One", "")),
               NODE("big-one-0", "", "aws:///i-1") NODE("big-one-1", OF("other"), "kwok:big-one-1")
                   NODE("big-one-3", OF("Big_One"), "kwok:big-one-3"));
    group_desk_look(&d);
    expect(group_resize(&d, "Big_One", 1, 3), ERR_NONE, &d, "two more");
    assert_false(is_gone(d.sim, KIND_NODE, NULL, "big-one-2"));
    assert_false(is_gone(d.sim, KIND_NODE, NULL, "big-one-4"));
    expect_size(&d, "Big_One", 3, 3);
    assert_int_equal(count_nodes(&d), 5);
    group_desk_end(&d);
}

static void gives_up(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    d.err = (struct err){0};
    uint64_t id = d.provider->ops->resize(d.provider, SPAN("a"), 0, 3, group_done_desk, &d);
    d.provider->ops->cancel(d.provider, id);
    group_answered(&d);
    expect(d.err.kind, ERR_CANCELLED, &d, "a cancelled one");
    expect_size(&d, "a", 0, 0);
    d.provider->ops->cancel(d.provider, id); /* of one that has ended: nothing */
    expect(group_resize(&d, "a", 0, 2), ERR_NONE, &d, "the next");
    group_desk_look(&d);
    struct span one = SPAN("kwok:a-0");
    id = d.provider->ops->remove(d.provider, SPAN("a"), &one, 1, false, group_done_desk, &d);
    d.provider->ops->cancel(d.provider, id);
    group_answered(&d);
    expect(d.err.kind, ERR_CANCELLED, &d, "a removal that is cancelled");
    expect_size(&d, "a", 2, 2);
    group_desk_end(&d);
}

/* ---- what ConfigMaps say ---- */

#define MAP(name_, key_, text_)                                                                                         \
    "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"" name_                             \
    "\", \"namespace\": \"kube-system\"}, \"data\": {\"" key_ "\": \"" text_ "\"}}"
#define BY_POOL "readNodesFrom: configmap\\nnodegroups: {fromNodeLabelKey: pool}\\n"
#define CONFIG_MAP(text_) MAP("kwok-provider-config", "config", text_)
#define GOOD_CONFIG CONFIG_MAP(BY_POOL "nodes: {gpuConfig: {gpuLabelKey: gpu, availableGPUTypes: {}}}\\nconfigmap: {name: t, key: x}")
#define NODE_TEXT(name_, pool_)                                                                                         \
    "---\\n{apiVersion: v1, kind: Node, metadata: {name: " name_ ", labels: {pool: " pool_                              \
    "}}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 110}}}\\n"
#define GOOD_TEMPLATES MAP("t", "templates", NODE_TEXT("x", "a") NODE_TEXT("z", "b"))

static void begin_from_maps(struct group_desk *d, const char *objects)
{
    memset(&shop, 0, sizeof(shop));
    shop.from_maps = true;
    *d = (struct group_desk){.make = make};
    group_desk_begin(d, objects);
}

static void put_map(struct group_desk *d, const char *name, const char *body)
{
    if (!is_gone(d->sim, KIND_CONFIG_MAP, "kube-system", name))
        do_request(d->sim, API_DELETE, KIND_CONFIG_MAP, "kube-system", name, NULL, 200);
    do_request(d->sim, API_CREATE, KIND_CONFIG_MAP, "kube-system", NULL, body, 201);
}

static bool look(struct group_desk *d, struct err *err)
{
    run_for(d->sim, 2000);
    if (d->snapshot == NULL) {
        store_publish(d->store, sim_now(d->sim));
        d->snapshot = (struct snapshot *)share_take(store_share(d->store));
    }
    arena_clear(&d->arena);
    return d->provider->ops->look(d->provider, d->snapshot, &d->arena, d->syms, &d->groups, err);
}

/* The look after what was wrong has been found says so, and begins to read anew. */
static void expect_unread(struct group_desk *d, enum err_kind kind, const char *text)
{
    struct err err = {0};
    look(d, &err);
    if (look(d, &err) || err.kind != kind || strstr(err.msg, text) == NULL)
        fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(err.kind), err.msg, text);
}

static void reads_config_maps(void **state)
{
    (void)state;
    struct group_desk d;
    begin_from_maps(&d, "---\n" GOOD_CONFIG "\n---\n" GOOD_TEMPLATES);
    group_desk_look(&d);
    assert_int_equal(d.groups.groups.count, 2);
    assert_int_equal(resources_get(group_named(&d, "b")->template->capacity, SYM_CPU), 2000);
    assert_true(span_eq(sym_text(d.syms, d.groups.gpu_label), SPAN("gpu")));
    expect(group_resize(&d, "a", 0, 2), ERR_NONE, &d, "two more");
    expect_size(&d, "a", 2, 2);
    /* What has been read holds. */
    put_map(&d, "t", MAP("t", "templates", NODE_TEXT("z", "c")));
    expect_size(&d, "a", 2, 2);
    assert_null(group_named(&d, "c"));
    group_desk_restart(&d);
    group_desk_look(&d);
    assert_non_null(group_named(&d, "c"));
    group_desk_end(&d);
}

static void takes_the_clusters_nodes(void **state)
{
    (void)state;
    struct group_desk d;
    begin_from_maps(&d, "---\n" CONFIG_MAP("readNodesFrom: cluster\\nnodegroups: {fromNodeLabelKey: pool}") "\n"
                            NODE("x", ", labels: {pool: a}", "aws:///x"));
    group_desk_look(&d);
    assert_int_equal(d.groups.groups.count, 1);
    group_desk_end(&d);
}

/* Whatever is wrong, it is said, and as soon as it is right there are groups. */
static void waits_for_config_maps(void **state)
{
    (void)state;
    struct group_desk d;
    begin_from_maps(&d, nobody);
    expect_unread(&d, ERR_NOT_FOUND, "reading ConfigMap kube-system/kwok-provider-config: ");
    put_map(&d, "kwok-provider-config", MAP("kwok-provider-config", "other", "x"));
    expect_unread(&d, ERR_INVALID, "ConfigMap kube-system/kwok-provider-config: has no key \"config\"; write the configuration there");
    put_map(&d, "kwok-provider-config", CONFIG_MAP("readNodesFrom: nowhere"));
    expect_unread(&d, ERR_INVALID, "ConfigMap kube-system/kwok-provider-config, key config: readNodesFrom: \"nowhere\"");
    put_map(&d, "kwok-provider-config", GOOD_CONFIG);
    expect_unread(&d, ERR_NOT_FOUND, "reading ConfigMap kube-system/t: ");
    put_map(&d, "t", MAP("t", "templates", "[x"));
    expect_unread(&d, ERR_INVALID, "ConfigMap kube-system/t, key templates");
    put_map(&d, "t", MAP("t", "templates", NODE_TEXT("x", "a")
                             "---\\n{apiVersion: v1, kind: Node, metadata: {name: z, labels: {pool: b}}}\\n"));
    struct err err;
    look(&d, &err);
    group_desk_look(&d);
    assert_int_equal(d.groups.groups.count, 1);
    const struct span *asides;
    assert_int_equal(d.provider->ops->asides(d.provider, &asides), 1);
    if (!span_contains(asides[0], SPAN("ConfigMap kube-system/t, key templates, line 4: Node z of group b: ")))
        fail_msg("%.*s", SPAN_ARG(asides[0]));
    group_desk_end(&d);
}

/* The reply comes when nobody is there any more. */
static void goes_while_it_reads(void **state)
{
    (void)state;
    struct group_desk d;
    begin_from_maps(&d, "---\n" GOOD_CONFIG "\n---\n" GOOD_TEMPLATES);
    struct group_provider *p = make(&d);
    p->ops->free(p);
    group_desk_look(&d);
    group_desk_end(&d);
}

/* ---- what goes wrong on the way ---- */

static struct {
    uint64_t at;
    enum sim_fate before, after;
    struct sim_refusal refusal;
} fault;

static enum sim_fate before(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)r;
    if (number == fault.at && fault.before == SIM_REFUSE)
        *refusal = fault.refusal;
    return number == fault.at ? fault.before : SIM_PASS;
}

static enum sim_fate after(void *user, uint64_t number, const struct api_request *r)
{
    (void)user;
    (void)r;
    return number == fault.at ? fault.after : SIM_PASS;
}

static void set_fault(struct group_desk *d, uint64_t at, enum sim_fate first, enum sim_fate then)
{
    fault.at = at;
    fault.before = first;
    fault.after = then;
    fault.refusal = (struct sim_refusal){500, "InternalError", "etcd is tired", 0};
    sim_client_set_faults(d->api, &(struct sim_faults){NULL, before, after});
}

static void go_on(struct group_desk *d, int32_t to)
{
    for (int i = 0; i < 4; i++) {
        if (sim_client_dead(d->api))
            group_desk_restart(d);
        const struct node_group *g = group_looked(d, "a");
        if (g->target == to)
            return;
        if (g->target < to)
            group_resize(d, "a", g->target, to);
        else
            group_remove(d, "a", i % 2 == 0 ? "kwok:a-0 kwok:a-2" : "kwok:a-2 kwok:a-0", false);
    }
    fail_msg("the size is not reached");
}

/* Whatever write is lost, refused or the process's last: the size is reached, and there are never more machines. */
static void survives(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        enum sim_fate before, after;
    } rows[] = {
        {"refused", SIM_REFUSE, SIM_PASS},        {"lost before", SIM_LOSE, SIM_PASS},
        {"lost after", SIM_PASS, SIM_LOSE},       {"killed before", SIM_KILL, SIM_PASS},
        {"killed after", SIM_PASS, SIM_KILL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint64_t at = 1; at <= 6; at++) {
            struct group_desk d;
            begin(&d);
            set_fault(&d, at, rows[i].before, rows[i].after);
            go_on(&d, 4);
            if (count_nodes(&d) != 4)
                fail_msg("%s at %u: %u Nodes", rows[i].label, (unsigned)at, count_nodes(&d));
            go_on(&d, 2);
            if (count_nodes(&d) != 2)
                fail_msg("%s at %u: %u Nodes are left", rows[i].label, (unsigned)at, count_nodes(&d));
            group_desk_end(&d);
        }
}

/* A part that fails says so, and only what came to be counts. */
static void counts_parts(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    set_fault(&d, 2, SIM_REFUSE, SIM_PASS);
    expect(group_resize(&d, "a", 0, 3), ERR_RETRY, &d, "one of three is refused");
    assert_non_null(strstr(d.err.msg, "etcd is tired"));
    expect_size(&d, "a", 2, 2);
    set_fault(&d, 5, SIM_REFUSE, SIM_PASS); /* writes go on being counted */
    expect(group_resize(&d, "a", 2, 3), ERR_NONE, &d, "the third");
    group_desk_look(&d);
    expect(group_remove(&d, "a", "kwok:a-0 kwok:a-1", false), ERR_RETRY, &d, "one of two deletions is refused");
    expect_size(&d, "a", 2, 2);
    group_desk_end(&d);
}

/* What an earlier process made, and this one has not seen, is not made once more. */
static void meets_its_own(void **state)
{
    (void)state;
    struct group_desk d;
    begin(&d);
    expect(group_resize(&d, "a", 0, 2), ERR_NONE, &d, "two");
    group_desk_restart(&d);
    sim_client_break_watch(d.api, KIND_NODE, sim_now(d.sim) + 60000, false);
    store_list_begin(d.store, KIND_NODE);
    store_list_end(d.store, KIND_NODE);
    expect_size(&d, "a", 0, 0);
    expect(group_resize(&d, "a", 0, 3), ERR_NONE, &d, "three");
    assert_int_equal(count_nodes(&d), 3);
    expect_size(&d, "a", 3, 0);
    run_for(d.sim, 70000);
    expect_size(&d, "a", 3, 3);
    group_desk_end(&d);
}

/* ---- the cluster's Nodes as templates ---- */

static void learns_from_the_cluster(void **state)
{
    (void)state;
    static const char real[] =
        "---\n{apiVersion: v1, kind: Node, metadata: {name: w1, labels: {pool: a, kubernetes.io/hostname: w1}},"
        " spec: {providerID: 'aws:///i-1', taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule},"
        " {key: dedicated, effect: NoExecute}]}, status: {capacity: {cpu: 8, memory: 8Gi, pods: 20},"
        " allocatable: {cpu: 7, memory: 7Gi, pods: 20}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: w2, labels: {pool: b}, annotations:"
        " {cluster-autoscaler.kwok.nodegroup/min-count: two}}, spec: {providerID: 'aws:///i-2'}}\n";
    const struct span *asides;
    struct group_desk d;
    begin_with(&d, "readNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: pool}\nnodes: {skipTaint: true}\n", "", real);
    const struct node_group *a = group_looked(&d, "a");
    assert_int_equal(d.groups.groups.count, 1);
    assert_int_equal(a->target, 0); /* a real Node is a template, and no machine */
    assert_int_equal(d.provider->ops->asides(d.provider, &asides), 1);
    assert_true(span_has_prefix(asides[0], SPAN("Node w2 of group b: annotation ")));
    assert_int_equal(a->template->taints.count, 1); /* its own lasting one: the provider's is skipped */
    assert_int_equal(resources_get(a->template->allocatable, SYM_CPU), 7000 - GROUP_KUBE_PROXY_MILLICPU);
    expect(group_resize(&d, "a", 0, 1), ERR_NONE, &d, "one");
    expect_size(&d, "a", 1, 1);
    do_request(d.sim, API_DELETE, KIND_NODE, NULL, "w1", NULL, 200);
    expect(group_remove(&d, "a", "kwok:a-0", false), ERR_NONE, &d, "and none");
    expect_size(&d, "a", 0, 0); /* a group once found stays */
    group_desk_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_its_groups),
        cmocka_unit_test(makes_nodes),
        cmocka_unit_test(targets_count_at_once),
        cmocka_unit_test(refuses),
        cmocka_unit_test(removes),
        cmocka_unit_test(removals_count_at_once),
        cmocka_unit_test(machines_fare_differently),
        cmocka_unit_test(forgets_what_others_delete),
        cmocka_unit_test(knows_its_machines),
        cmocka_unit_test(names),
        cmocka_unit_test(gives_up),
        cmocka_unit_test(survives),
        cmocka_unit_test(counts_parts),
        cmocka_unit_test(meets_its_own),
        cmocka_unit_test(learns_from_the_cluster),
        cmocka_unit_test(reads_config_maps),
        cmocka_unit_test(takes_the_clusters_nodes),
        cmocka_unit_test(waits_for_config_maps),
        cmocka_unit_test(goes_while_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
