/* What is planned of pods that say more than is planned for, and of resources that nothing has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "kube/object_bounds.h"
#include "planner/columns.h"
#include "support_cluster.h"

static struct span numbered(struct buf *b, const char *before, unsigned first, unsigned count, const char *after)
{
    for (unsigned i = 0; i < count; i++)
        buf_addf(b, "%s%u%s", before, first + i, after);
    return buf_span(b);
}

/* A pod of 1 CPU in YAML, bound or not, with further resources and tolerations, each of which has its number. */
static void add_pod(struct cluster *c, const char *name, const char *spec, unsigned first, unsigned resources, unsigned tolerations)
{
    struct buf b = {0};
    buf_addf(&b, "kind: Pod\napiVersion: v1\nmetadata: {name: %s, namespace: default, uid: %s}\nspec:\n  %s\n"
                 "  schedulerName: default-scheduler\n  containers:\n"
                 "  - {name: c, resources: {requests: {cpu: 1", name, name, spec);
    numbered(&b, ", example.com/r", first, resources, ": 1");
    buf_addf(&b, "}}}\n  tolerations: [");
    numbered(&b, "{operator: Exists, key: k", 0, tolerations, "}, ");
    buf_addf(&b, "]\nstatus:\n  phase: Pending\n"
                 "  conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]\n");
    cluster_add(c, b.ptr);
    buf_release(&b);
}

#define POOL                                                                                                        \
    "kind: NodePool\napiVersion: karpenter.sh/v1\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: "        \
    "{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n"                                             \
    "status: {conditions: [{type: Ready, status: \"True\"}]}\n"

static const char SUPPLY[] = POOL "---\nkind: InstanceTypes\nitems:\n"
                                  "- {name: small, resources: {cpu: 4, memory: 8Gi, pods: 10, example.com/r7: 4},"
                                  " offerings: [{zone: z1, capacity: on-demand, price: 0.1}]}\n";

static void open_cluster(struct cluster *c)
{
    cluster_init(c);
    cluster_add(c, SUPPLY);
}

static const char *why(struct cluster *c, const char *pod)
{
    const struct plan_unschedulable *failed = cluster_failed(c, pod);
    assert_non_null(failed);
    struct span text = why_text(&c->arena, &failed->why);
    return arena_printf(&c->arena, "%.*s%c", SPAN_ARG(text), '\0').ptr;
}

static void test_pending_pod_beyond_the_bound_is_left_out_with_its_reason(void **state)
{
    struct cluster c;
    (void)state;
    open_cluster(&c);
    add_pod(&c, "fits", "priority: 0", 0, 0, OBJECT_LIST_MAX);
    add_pod(&c, "huge", "priority: 0", 0, 0, OBJECT_LIST_MAX + 1);
    cluster_plan(&c);
    assert_null(cluster_failed(&c, "fits"));
    assert_string_equal(why(&c, "huge"), "is left out: spec.tolerations has 1001 entries; Stowage plans objects with at most "
                                         "1000 in one list. Fix: state fewer entries");
    cluster_release(&c);
}

static void test_bound_pod_beyond_the_bound_holds_its_room(void **state)
{
    struct cluster c;
    (void)state;
    open_cluster(&c);
    cluster_add(&c, "kind: Node\napiVersion: v1\nmetadata: {name: one}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10},\n"
                    "  conditions: [{type: Ready, status: \"True\"}]}\n");
    add_pod(&c, "huge", "nodeName: one", 0, 0, OBJECT_LIST_MAX + 1);
    cluster_plan(&c);
    int32_t row = world_find_node(c.world, SPAN("one"));
    assert_int_equal(world_node_at(c.world, (uint32_t)row)->pod_count, 1);
    assert_int_equal(world_requested(c.world, (uint32_t)row)[0], 1000);
    cluster_release(&c);
}

/* Of a thousand that one pod names, a column has that which some type has; the pod cannot be placed and says why. */
static void test_resources_that_nothing_has_take_no_column(void **state)
{
    struct cluster c;
    (void)state;
    open_cluster(&c);
    add_pod(&c, "modest", "priority: 0", 7, 1, 0);
    add_pod(&c, "asks", "priority: 0", 5000, 3, 0);
    add_pod(&c, "wide", "priority: 0", 0, OBJECT_LIST_MAX - 1, 0); /* and CPU */
    cluster_plan(&c);
    assert_null(cluster_failed(&c, "modest"));
    assert_string_equal(why(&c, "wide"), "asks for example.com/r0, which no node and no instance type has");
    assert_non_null(cluster_failed(&c, "asks"));
    assert_int_equal(c.world->resource_count, 4 + 1 + 3); /* what modest asks for, and what asks does */
    cluster_release(&c);
}

/* However many pods ask for a little that nothing has. */
static void test_columns_are_bounded_for_all_pods_together(void **state)
{
    struct cluster c;
    (void)state;
    open_cluster(&c);
    add_pod(&c, "modest", "priority: 0", 7, 1, 0);
    for (unsigned i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%u", i);
        add_pod(&c, name, "priority: 0", 100 + 16 * i, 16, 0);
    }
    cluster_plan(&c);
    assert_null(cluster_failed(&c, "modest"));
    assert_int_equal(c.world->resource_count, 4 + 1 + 128);
    cluster_release(&c);
}

/* A node that brings what was left out: the world is built anew, and the pod fits. */
static void test_node_that_has_what_was_left_out_is_no_delta(void **state)
{
    struct cluster c;
    (void)state;
    open_cluster(&c);
    add_pod(&c, "wide", "priority: 0", 100, 40, 0);
    cluster_plan(&c);
    struct resource has = {sym_intern(c.syms, SPAN("example.com/r120")), 1};
    struct node plain = {.meta.name = SPAN("plain")}, rich = {.meta.name = SPAN("rich"), .capacity = {&has, 1}};
    const struct node *one = &rich;
    assert_true(world_leaves_out(c.world, rich.capacity));
    assert_false(world_leaves_out(c.world, plain.capacity));
    assert_null(world_delta(c.world, &(struct world_change){.nodes = &one, .node_count = 1}));
    cluster_release(&c);
}

/* What a claim asks of its node is a set of all its pods' keys, made anew with each: it has an end. */
static void test_a_claim_has_an_end_to_its_keys(void **state)
{
    struct cluster c;
    (void)state;
    cluster_init(&c);
    cluster_add(&c, "kind: InstanceTypes\nitems:\n- {name: large, resources: {cpu: 64, memory: 64Gi, pods: 100},"
                    " offerings: [{zone: z1, capacity: on-demand, price: 0.1}]}\n");
    cluster_add(&c, POOL);
    for (unsigned i = 0; i < 12; i++) {
        struct buf spec = {0};
        char name[16];
        snprintf(name, sizeof(name), "p%u", i);
        buf_addf(&spec, "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                        "[{matchExpressions: [");
        numbered(&spec, "{operator: DoesNotExist, key: k", i * OBJECT_LIST_MAX, OBJECT_LIST_MAX, "}, ");
        buf_addf(&spec, "]}]}}}");
        add_pod(&c, name, spec.ptr, 0, 0, 0);
        buf_release(&spec);
    }
    assert_int_equal(cluster_plan(&c)->claim_count, 3);
    assert_null(cluster_failed(&c, "p11"));
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pending_pod_beyond_the_bound_is_left_out_with_its_reason),
        cmocka_unit_test(test_bound_pod_beyond_the_bound_holds_its_room),
        cmocka_unit_test(test_resources_that_nothing_has_take_no_column),
        cmocka_unit_test(test_columns_are_bounded_for_all_pods_together),
        cmocka_unit_test(test_a_claim_has_an_end_to_its_keys),
        cmocka_unit_test(test_node_that_has_what_was_left_out_is_no_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
