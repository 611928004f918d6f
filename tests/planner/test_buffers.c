/* How many virtual pods a CapacityBuffer has, and what they are (spec api 8). */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/plan/plan_places.h"
#include "planner/columns.h"
#include "planner/places.h"

#define BUFFER(name_, spec_)                                                                       \
    "---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: " name_ \
    ", uid: u-" name_ "}\nspec: {" spec_ "}\n"
#define TEMPLATE(resources_)                                                                       \
    "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {metadata: {labels: "  \
    "{app: x}}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], " \
    "containers: [{name: c, resources: {requests: {" resources_ "}}}]}}\n"
#define ONE_CPU TEMPLATE("cpu: 1")
#define FROM_TEMPLATE "podTemplateRef: {name: t}"
#define POOL                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: " \
    "{spec: {nodeClassRef: {group: g, kind: k, name: c}}}}\n"
#define FAKE                                                                                       \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: given, annotations: "                        \
    "{karpenter.sh/capacity-buffer-fake-pod: \"true\"}}\nspec: {containers: [{name: c}]}\n"

static const struct {
    const char *label, *objects;
    uint32_t want;
    const char *why; /* NULL: no fault */
} rows[] = {
    {"limits hold replicas down", ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 10, limits: {cpu: 3}"),
     3, NULL},
    {"limits alone", TEMPLATE("cpu: 2") BUFFER("b", FROM_TEMPLATE ", limits: {cpu: 10}"), 5, NULL},
    {"the least of two limits", TEMPLATE("cpu: 1, memory: 1Gi")
     BUFFER("b", FROM_TEMPLATE ", replicas: 10, limits: {cpu: 8, memory: 2Gi}"), 2, NULL},
    {"limits on what the pods do not ask for",
     ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 4, limits: {memory: 1Gi}"), 4, NULL},
    {"limits smaller than one pod", ONE_CPU BUFFER("b", FROM_TEMPLATE ", limits: {cpu: 500m}"), 0,
     NULL},
    {"a share without a workload is nothing", ONE_CPU BUFFER("b", FROM_TEMPLATE ", percentage: 50"),
     0, NULL},
    {"two buffers", ONE_CPU BUFFER("a", FROM_TEMPLATE ", replicas: 1")
     BUFFER("b", FROM_TEMPLATE ", replicas: 2"), 3, NULL},
    {"the pods are in the input", FAKE ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 2"), 0, NULL},
    {"a template of another namespace", "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: t, namespace: "
     "other}\ntemplate: {spec: {containers: [{name: c}]}}\n" BUFFER("b", FROM_TEMPLATE ", replicas: 2"), 0,
     "there is no PodTemplate t"},
    {"no template", BUFFER("b", FROM_TEMPLATE ", replicas: 2"), 0, "there is no PodTemplate t"},
    {"no reference", BUFFER("b", "replicas: 2"), 0,
     "Neither podTemplateRef nor scalableRef is set"},
    {"no workload", BUFFER("b", "scalableRef: {kind: ReplicaSet, name: w}, replicas: 2"), 0,
     "there is no ReplicaSet w"},
    {"a kind that is not known", BUFFER("b", "scalableRef: {kind: Job, name: w}, replicas: 2"), 0,
     "scalableRef names Job, not a Deployment, ReplicaSet or StatefulSet of apps"},
    {"more than anybody means", ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 2000000000"), 0,
     "it asks for 2000000000 pods; all buffers may have 100000 together"},
};

static void build(struct cluster *c, const char *objects)
{
    cluster_init(c);
    cluster_types_c0(c);
    cluster_add(c, objects);
    c->options.capacity_buffer = c->options.buffer_pods_given = true;
    cluster_plan_unchecked(c); /* the check knows only the pods given */
}

static void how_many(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        build(&c, rows[i].objects);
        const struct buffers *b = &c.world->buffers;
        if (b->count != rows[i].want)
            fail_msg("%s: %u pods, not %u", rows[i].label, b->count, rows[i].want);
        struct span why = b->answer_count != 0 ? b->answers[0].why : (struct span){NULL, 0};
        if (!span_eq(why, span_of(rows[i].why != NULL ? rows[i].why : "")))
            fail_msg("%s: %.*s", rows[i].label, SPAN_ARG(why));
        cluster_release(&c);
    }
}

static void what_they_are(void **state)
{
    (void)state;
    struct cluster c;
    build(&c, ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 1"));
    assert_int_equal(c.world->buffers.count, 1);
    const struct pod *p = c.world->buffers.pods[0];
    assert_true(span_eq(p->meta.name, SPAN("capacity-buffer-b-1")));
    assert_true(span_eq(p->meta.ns, SPAN("default")));
    assert_true(span_eq(p->meta.uid, SPAN("u-b-1")));
    assert_int_equal(p->priority, INT32_MIN);
    assert_int_equal(p->node, SYM_NONE);
    assert_int_equal(p->volumes.count, 0);
    assert_int_equal(p->meta.labels.count, 1);
    assert_true(pod_is_pending(p));
    assert_true(p->is_virtual);
    assert_int_equal(c.plan->waiting, 1);
    cluster_release(&c);
}

/* In a cluster anybody can write an annotation: it makes nothing of other people's buffers. */
static void an_annotation_does_not_speak_for_all(void **state)
{
    (void)state;
    struct cluster c;
    build(&c, FAKE ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 2"));
    c.options.buffer_pods_given = false;
    cluster_plan_unchecked(&c);
    assert_int_equal(c.world->buffers.count, 2);
    cluster_release(&c);
}

/* Nobody keeps a place for a virtual pod. */
static void no_places_are_kept(void **state)
{
    (void)state;
    struct cluster c;
    build(&c, POOL ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 2"));
    assert_int_equal(c.plan->claim_count, 1);
    assert_int_equal(c.plan->claims[0].pod_count, 2);
    struct places *p = places_of_plan(c.plan, NULL, 0);
    assert_int_equal(p->count, 0);
    places_destroy(&p->shared);
    struct arena a;
    arena_init(&a, 0);
    assert_int_equal(places_planned_text(&a, c.world, c.plan->claims[0].pods, c.plan->claims[0].pod_count).len, 0);
    arena_release(&a);
    cluster_release(&c);
}

static void nothing_without_the_gate(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, ONE_CPU BUFFER("b", FROM_TEMPLATE ", replicas: 1"));
    assert_int_equal(cluster_plan(&c)->waiting, 0);
    cluster_release(&c);
}

/* Shares of ten replicas; the tests' own reader takes no templates of workloads, so they are given here. */
static void shares(void **state)
{
    (void)state;
    static const struct {
        int32_t percentage, replicas, scale;
        uint32_t want;
    } cases[] = {{20, 5, 10, 5}, {80, 5, 10, 8}, {5, -1, 3, 1}, {0, -1, 10, 0}, {50, -1, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a;
        arena_init(&a, 0);
        struct symtab *syms = kube_symtab_new();
        struct pod template = {.phase = POD_PENDING};
        struct controller w = {.meta = {.ns = SPAN("x"), .name = SPAN("w")}, .has_replicas = true,
                               .replicas = cases[i].scale, .template = &template};
        struct capacity_buffer b = {.meta = {.ns = SPAN("x"), .name = SPAN("b")},
                                    .has_scalable = true, .scalable_kind = SPAN("Deployment"),
                                    .scalable_name = SPAN("w"),
                                    .has_percentage = true, .percentage = cases[i].percentage,
                                    .has_replicas = cases[i].replicas >= 0,
                                    .replicas = cases[i].replicas};
        const struct controller *workloads[] = {&w};
        const struct capacity_buffer *buffers[] = {&b};
        static const struct world_options options;
        struct world_input in = {.options = &options, .deployments = workloads, .deployment_count = 1,
                                 .buffers = buffers, .buffer_count = 1};
        uint32_t got = buffers_resolve(&a, syms, &in).count;
        if (got != cases[i].want)
            fail_msg("%d %% of %d: %u pods, not %u", cases[i].percentage, cases[i].scale, got,
                     cases[i].want);
        symtab_unref(syms);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many),
        cmocka_unit_test(what_they_are),
        cmocka_unit_test(an_annotation_does_not_speak_for_all),
        cmocka_unit_test(no_places_are_kept),
        cmocka_unit_test(nothing_without_the_gate),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
