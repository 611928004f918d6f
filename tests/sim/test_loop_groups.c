/* Node groups kept by the whole loop: an in-memory cluster, its scheduler and controllers, provider kwok of groups, and a
 * Stowage on the virtual clock. Scenarios by their numbers in spec node-groups 8 where they have one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_loop.h"

#define TEMPLATE(name_, cpu_, min_, max_) PRICED(name_, cpu_, min_, max_, "")
#define PRICED(name_, cpu_, min_, max_, price_) SHAPED(name_, cpu_, min_, max_, price_, "pool: " name_)
#define SHAPED(name_, cpu_, min_, max_, price_, labels_)                                                                \
    "- apiVersion: v1\n"                                                                                                \
    "  kind: Node\n"                                                                                                    \
    "  metadata:\n"                                                                                                     \
    "    name: of-" name_ "\n"                                                                                          \
    "    labels: {" labels_ ", kubernetes.io/arch: amd64, kubernetes.io/os: linux}\n"                               \
    "    annotations: {cluster-autoscaler.kwok.nodegroup/min-count: '" min_                                             \
    "', cluster-autoscaler.kwok.nodegroup/max-count: '" max_ "'" price_ "}\n"                                           \
    "  status: {capacity: {cpu: " cpu_ ", memory: 16Gi, pods: 110}, allocatable: {cpu: " cpu_                           \
    ", memory: 16Gi, pods: 110}}\n"
#define LIST(items_) "apiVersion: v1\nkind: List\nitems:\n" items_

static const char wide_group[] = LIST(TEMPLATE("a", "'4'", "0", "20"));
static const char one_group[] = LIST(TEMPLATE("a", "'4'", "0", "5"));
static const char two_groups[] = LIST(TEMPLATE("a", "'4'", "0", "5") TEMPLATE("b", "'8'", "0", "5"));
static const char cheap_group[] = LIST(PRICED("a", "'4'", "0", "5", ", stowage.dev/price: '0.001'"));
static const char large_and_small[] = LIST(PRICED("a", "'8'", "0", "5", ", stowage.dev/price: '0.016'")
                                           PRICED("b", "'2'", "0", "5", ", stowage.dev/price: '0.005'"));
static const char dear_group[] = LIST(PRICED("a", "'4'", "0", "5", ", stowage.dev/price: '50'"));
static const char two_priced[] = LIST(PRICED("a", "'4'", "0", "1", ", stowage.dev/price: '0.002'")
                                      PRICED("b", "'8'", "0", "5", ", stowage.dev/price: '0.003'"));
static const char system_namespace[] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n";

static struct {
    struct loop loop;
    const char *templates;
    bool a_is_sold_out;
    enum group_kwok_fate fate;
    char evicted[64]; /* whose, with how long a grace: "low 60; " */
    wall_ms first_eviction, last_eviction;
} it;

static bool in_stock(void *user, struct span group, int32_t more)
{
    (void)user;
    (void)more;
    return !it.a_is_sold_out || !span_eq(group, SPAN("a"));
}

static enum group_kwok_fate fate(void *user, struct span group, struct span node, struct group_error_info *error)
{
    (void)user;
    (void)node;
    if (!span_eq(group, SPAN("a")))
        return GROUP_KWOK_COMES;
    if (it.fate == GROUP_KWOK_BREAKS)
        *error = (struct group_error_info){INSTANCE_OUT_OF_RESOURCES, SPAN("QuotaExceeded"), SPAN("no quota")};
    return it.fate;
}

static struct group_provider *open_groups(struct loop *l)
{
    static const struct group_kwok_text config = {
        SPAN_INIT("apiVersion: v1alpha1\nreadNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n"
                  "nodes: {skipTaint: true}\nconfigmap: {name: t}\n"),
        SPAN_INIT("config.yaml")};
    struct arena a;
    struct err err;
    struct group_provider *p = NULL;
    struct group_kwok_options o = {.api = l->api, .templates = {span_of(it.templates), SPAN("templates.yaml")},
                                   .in_stock = in_stock, .fate = fate};
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &config, &o.config, &err) || (p = group_kwok_new(&o, &err)) == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

/* A Stowage that keeps these groups, and no NodePools. */
static struct sim *begin_with(const char *templates, void (*set)(struct group_settings *s),
                              struct group_provider *(*open)(struct loop *l))
{
    memset(&it, 0, sizeof(it));
    it.templates = templates;
    it.loop.groups = group_settings_default();
    it.loop.open_groups = open;
    it.loop.keeps = it.loop.posts = true;
    if (set != NULL)
        set(&it.loop.groups);
    struct sim *s = new_sim(system_namespace);
    loop_begin(&it.loop, s);
    return s;
}

static struct sim *begin(const char *templates, void (*set)(struct group_settings *s))
{
    return begin_with(templates, set, open_groups);
}

static void end(void)
{
    loop_end(&it.loop);
}

/* --- what is seen --- */

static size_t nodes_of(struct sim *s, const char *group)
{
    json_t *all = objects_of(s, KIND_NODE), *n;
    size_t i, count = 0;
    json_array_foreach(all, i, n) {
        const char *pool = json_string_value(json_object_get(tree_get(n, "metadata.labels"), "pool"));
        count += group == NULL || (pool != NULL && strcmp(pool, group) == 0);
    }
    json_decref(all);
    return count;
}

static size_t tainted(struct sim *s, const char *key)
{
    json_t *all = objects_of(s, KIND_NODE), *n, *t;
    size_t i, k, count = 0;
    json_array_foreach(all, i, n) {
        json_array_foreach(tree_get(n, "spec.taints"), k, t) {
            count += strcmp(json_string_value(json_object_get(t, "key")), key) == 0;
        }
    }
    json_decref(all);
    return count;
}

#define HARD "ToBeDeletedByClusterAutoscaler"
#define SOFT "DeletionCandidateOfClusterAutoscaler"

static uint32_t told(const char *reason, const char *note)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&it.loop.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, SPAN("event ")) && span_contains(line, span_of(reason)) &&
                 span_contains(line, span_of(note));
    }
    return found;
}

static bool status_has(struct sim *s, const char *text)
{
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-status");
    bool has = map != NULL && strstr(json_string_value(tree_get(map, "data.status")), text) != NULL;
    json_decref(map);
    return has;
}

static void expect_status(struct sim *s, const char *text)
{
    if (status_has(s, text))
        return;
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-status");
    fail_msg("no \"%s\" in:\n%s", text, map != NULL ? json_string_value(tree_get(map, "data.status")) : "(there is none)");
}

/* --- growing --- */

static void pods_that_fit_nowhere_grow_a_group(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_for(s, 15 * MS_SECOND);
    assert_int_equal(nodes_of(s, NULL), 0);
    expect_status(s, "autoscalerStatus: Running\n");
    expect_status(s, "- name: a\n  health:\n    status: Healthy\n");
    load(s, deployment_yaml("web", 6, "1500m", "")); /* two a node */
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 3);
    assert_int_equal(count_bound(s, "web"), 6);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: setting group a size to 3 instead of 0 (max: 5)"), 1);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group a size set to 3 instead of 0 (max: 5)"), 1);
    assert_int_equal(told("TriggeredScaleUp", "pod triggered scale-up: [{a 0->3 (max: 5)}]"), 6);
    expect_status(s, "    cloudProviderTarget: 3\n    minSize: 0\n    maxSize: 5\n");
    expect_status(s, "        total: 3\n        ready: 3\n");
    end();
}

static void a_group_grows_to_its_maximum_and_says_so(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 14, "1500m", ""));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 5);
    assert_int_equal(count_bound(s, "web"), 10);
    assert_true(told("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached") >= 4);
    end();
}

static void a_group_that_cannot_grow_is_backed_off_and_another_takes_its_place(void **state)
{
    (void)state;
    struct sim *s = begin(two_groups, NULL);
    it.a_is_sold_out = true;
    load(s, deployment_yaml("web", 2, "1500m", "")); /* least waste: one of a */
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(told("FailedToScaleUpGroup", "Scale-up failed for group a: "), 1);
    assert_int_equal(nodes_of(s, "b"), 1);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    expect_status(s, "    status: Backoff\n    backoffInfo:\n      errorCode: \"cloudProviderError\"\n");
    end();
}

static void machines_that_could_not_be_made_are_ended_and_another_group_is_taken(void **state)
{
    (void)state;
    struct sim *s = begin(two_groups, NULL);
    it.fate = GROUP_KWOK_BREAKS;
    load(s, deployment_yaml("web", 2, "1500m", ""));
    run_for(s, 45 * MS_SECOND);
    assert_true(told("ScaleUpFailed", "Failed adding 1 nodes to group a due to OutOfResource.QuotaExceeded; source errors: no quota") >= 1);
    assert_int_equal(told("DeleteUnregistered", ""), 0); /* they are no such */
    assert_int_equal(nodes_of(s, "b"), 1);
    assert_int_equal(count_bound(s, "web"), 2);
    expect_status(s, "    cloudProviderTarget: 0\n"); /* a's */
    end();
}

static void a_machine_that_never_registers_is_ended(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    load(s, deployment_yaml("web", 1, "1500m", ""));
    run_for(s, 10 * MS_MINUTE);
    it.fate = GROUP_KWOK_COMES;
    assert_int_equal(nodes_of(s, NULL), 0);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(told("DeleteUnregistered", "Removed unregistered node "), 0);
    run_for(s, 3 * MS_MINUTE); /* --max-node-provision-time: 15m */
    assert_int_equal(told("DeleteUnregistered", "Removed unregistered node kwok:a-0"), 1);
    assert_int_equal(count_bound(s, "web"), 1);
    end();
}

/* --- places on machines on their way --- */

/* Pods that have their place on this Node, or, without one, on a machine of a group that has not registered: their names,
 * in order. */
static uint32_t planned_on(const char *node, struct buf *names)
{
    struct places *p = (struct places *)share_take(&it.loop.places);
    uint32_t count = 0;
    buf_clear(names);
    for (uint32_t i = 0; p != NULL && i < p->count; i++) {
        const struct place *x = &p->items[i];
        bool there = node == NULL ? span_eq(x->group, SPAN("a")) : x->group.len == 0 && span_eq(x->target, span_of(node));
        if (there)
            buf_addf(names, "%.*s ", SPAN_ARG(x->pod));
        count += there;
    }
    if (p != NULL)
        shared_unref(&p->shared);
    return count;
}

static const char late_node[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: a-0, labels: {pool: a, kubernetes.io/hostname: a-0}, "
    "annotations: {kwok.x-k8s.io/node: fake}}\n"
    "spec: {providerID: 'kwok:a-0', taints: [{key: startup-taint.cluster-autoscaler.kubernetes.io/agent, effect: NoSchedule}]}\n"
    "status: {capacity: {cpu: '4', memory: 16Gi, pods: 110}, allocatable: {cpu: '4', memory: 16Gi, pods: 110}}\n";

static void pods_have_their_places_on_machines_on_their_way(void **state)
{
    (void)state;
    struct buf waiting = {0}, first = {0}, again = {0};
    struct sim *s = begin(one_group, NULL);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    load(s, deployment_yaml("web", 4, "1500m", "")); /* two a node */
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(planned_on(NULL, &waiting), 4);
    run_for(s, 1 * MS_MINUTE); /* whatever passes and plans are made meanwhile */
    assert_int_equal(planned_on(NULL, &again), 4);
    load(s, late_node);
    run_for(s, 1 * MS_SECOND);
    assert_int_equal(planned_on("a-0", &first), 2);
    assert_int_equal(planned_on(NULL, &waiting), 2);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(planned_on("a-0", &again), 2);
    assert_true(span_eq(buf_span(&again), buf_span(&first)));
    assert_int_equal(told("PlannedNode", ""), 0); /* neither unused nor refused: it is not ready */
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", "{\"spec\":{\"taints\":null}}", 200);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(planned_on(NULL, &waiting), 2);
    assert_int_equal(nodes_of(s, "a"), 1);
    buf_release(&waiting);
    buf_release(&first);
    buf_release(&again);
    end();
}

/* What a group grows for a pool's plan has no place for, and neither takes the other's. */
static void places_of_pools_and_of_groups_stand_side_by_side(void **state)
{
    (void)state;
    struct buf names = {0};
    struct sim *s = begin(one_group, NULL);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    load(s, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("only-a", 2, "1500m", ",\"nodeSelector\":{\"pool\":\"a\"}"));
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(planned_on(NULL, &names), 2);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    for (uint32_t i = 0; i < 120; i++) { /* whatever passes and plans are made meanwhile */
        run_for(s, 1 * MS_SECOND);
        assert_int_equal(planned_on(NULL, &names), 2);
    }
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: setting group a size to 1 instead of 0 (max: 5)"), 1);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: setting group a size to 2"), 0);
    buf_release(&names);
    end();
}

/* --- shrinking --- */

static void an_empty_node_goes_when_nobody_has_needed_it_for_long_enough(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 2);
    scale(s, "web", 0);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 2);
    run_for(s, 8 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    run_for(s, 3 * MS_MINUTE); /* --scale-down-unneeded-time and --scale-down-delay-after-add: 10m */
    assert_int_equal(nodes_of(s, "a"), 0);
    assert_int_equal(told("ScaleDownEmpty", "Scale-down: removing empty node "), 2);
    assert_int_equal(told("ScaleDownEmpty", " removed"), 2);
    expect_status(s, "  scaleDown:\n    status: NoCandidates\n");
    end();
}

/* A step of the clock by an hour does not count as time in which the nodes were not needed. */
static void a_step_of_the_clock_is_no_time_unneeded(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 2);
    loop_step_clock(&it.loop, MS_HOUR);
    run_for(s, 9 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

/* Of ten minutes five in which PodDisruptionBudgets were not seen. */
static void time_in_which_the_view_was_partial_is_no_unneeded_time(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 2);
    sim_client_break_watch(it.loop.api, KIND_DISRUPTION_BUDGET, sim_now(s) + 6 * MS_MINUTE, false);
    run_for(s, 13 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

static void a_node_that_is_needed_again_loses_its_soft_mark(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 2, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 1);
    scale(s, "web", 2);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 0);
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

/* Two nodes of which each is used less than by half. */
static struct sim *begin_sparse_with(const char *more, struct group_provider *(*open)(struct loop *l))
{
    struct sim *s = begin_with(one_group, NULL, open);
    load(s, deployment_yaml("big", 2, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 2);
    if (more != NULL)
        load(s, more);
    load(s, deployment_yaml("web", 2, "900m", "")); /* one beside each */
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    scale(s, "big", 0);
    return s;
}

static struct sim *begin_sparse(const char *more)
{
    return begin_sparse_with(more, open_groups);
}

static void a_node_that_is_used_little_is_drained_and_goes(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    run_for(s, 9 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(told("ScaleDown", "deleting pod for node scale down"), 1);
    assert_int_equal(told("ScaleDown", "removed with drain"), 1);
    assert_int_equal(tainted(s, HARD), 0);
    run_for(s, 30 * MS_MINUTE); /* and stays so */
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

/* Neither marked nor cordoned. */
static void expect_untouched(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE), *n;
    size_t i;
    assert_int_equal(tainted(s, HARD), 0);
    assert_int_equal(json_array_size(all), 2);
    json_array_foreach(all, i, n) {
        assert_false(json_is_true(tree_get(n, "spec.unschedulable")));
    }
    json_decref(all);
}

/* The only taint of a key of each Node that is marked: "value effect timeAdded". */
static void expect_taint(struct sim *s, const char *key, const char *want)
{
    json_t *all = objects_of(s, KIND_NODE), *n, *t;
    size_t i, k, found = 0;
    json_array_foreach(all, i, n) {
        json_array_foreach(tree_get(n, "spec.taints"), k, t) {
            char is[128];
            if (!tree_is(t, "key", key))
                continue;
            snprintf(is, sizeof(is), "%.*s %.*s %.*s", SPAN_ARG(tree_string(t, "value")), SPAN_ARG(tree_string(t, "effect")),
                     SPAN_ARG(tree_string(t, "timeAdded")));
            assert_string_equal(is, want);
            found++;
        }
    }
    assert_int_equal(found, json_array_size(all));
    json_decref(all);
}

/* spec.taints is written as a whole: taints of others come through as they were, tolerationSeconds counts from timeAdded. */
static void taints_of_others_are_kept_as_they_are(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    json_t *all = objects_of(s, KIND_NODE), *n;
    size_t i;
    json_array_foreach(all, i, n) {
        do_request(s, API_MERGE, KIND_NODE, NULL, json_string_value(tree_get(n, "metadata.name")),
                   "{\"spec\":{\"taints\":[{\"key\":\"theirs\",\"value\":\"v\",\"effect\":\"PreferNoSchedule\","
                   "\"timeAdded\":\"2026-01-02T03:00:00Z\"}]}}", 200);
    }
    json_decref(all);
    for (int k = 0; k < 12 * 60 && tainted(s, HARD) == 0; k++)
        run_for(s, 1 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    expect_taint(s, "theirs", "v PreferNoSchedule 2026-01-02T03:00:00Z");
    end();
}

static void a_pod_that_may_not_be_moved_any_more_keeps_the_node(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    run_for(s, 10 * MS_MINUTE);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"
            "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n");
    run_for(s, 3 * MS_MINUTE);
    expect_untouched(s);
    assert_int_equal(told("ScaleDownFailed", "NotEnoughPdb"), 1);
    end();
}

static enum sim_fate refuse(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal);

/* The list that a 410 brings has none of the pods that a node of a group is drained of. */
static void a_drain_does_not_end_by_a_list_without_pods(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = refuse});
    run_for(s, 10 * MS_MINUTE);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    run_for(s, 20 * MS_SECOND);
    sim_client_hide(it.loop.api, KIND_POD, 1);
    sim_client_break_watch(it.loop.api, KIND_POD, sim_now(s) + 1 * MS_SECOND, true);
    run_for(s, 8 * MS_SECOND);
    assert_string_equal(it.loop.last[DECISION_GUARD],
                        "no node is removed: a list showed 2 of 2 pods gone; a second list is asked for");
    assert_int_equal(nodes_of(s, "a"), 2);
    run_for(s, 10 * MS_SECOND);
    assert_string_equal(it.loop.last[DECISION_GUARD], "nodes may be removed again");
    run_for(s, 3 * MS_MINUTE);
    expect_untouched(s);
    end();
}

static enum sim_fate refuse(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    if (r->verb != API_EVICT)
        return SIM_PASS;
    *refusal = (struct sim_refusal){.status = 429, .reason = "TooManyRequests"};
    return SIM_REFUSE;
}

static void an_eviction_that_is_refused_for_two_minutes_keeps_the_node(void **state) /* 151 */
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = refuse});
    run_for(s, 10 * MS_MINUTE);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(tainted(s, HARD), 1);
    assert_int_equal(told("ScaleDownFailed", ""), 0);
    run_for(s, 70 * MS_SECOND);
    assert_int_equal(told("ScaleDownFailed", "could not be evicted within 120 s"), 1);
    expect_untouched(s);
    end();
}

static enum sim_fate note_eviction(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    (void)refusal;
    if (r->verb != API_EVICT)
        return SIM_PASS;
    struct span rest, of = span_cut(r->name, '-', &rest);
    bool sixty = span_contains(r->body, SPAN("\"gracePeriodSeconds\":60")), hundred = span_contains(r->body, SPAN("\"gracePeriodSeconds\":100"));
    size_t at = strlen(it.evicted);
    snprintf(it.evicted + at, sizeof(it.evicted) - at, "%.*s %s; ", SPAN_ARG(of), sixty ? "60" : hundred ? "100" : "?");
    it.first_eviction = at == 0 ? sim_now(it.loop.sim) : it.first_eviction;
    it.last_eviction = sim_now(it.loop.sim);
    return SIM_PASS;
}

/* … or none of the nodes: it goes on with the node once that is seen again. */
static void a_drain_is_not_forgotten_by_a_list_without_nodes(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = refuse});
    run_for(s, 10 * MS_MINUTE);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    run_for(s, 20 * MS_SECOND);
    sim_client_hide(it.loop.api, KIND_NODE, 1);
    sim_client_break_watch(it.loop.api, KIND_NODE, sim_now(s) + 1 * MS_SECOND, true);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(it.loop.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(told("ScaleDownFailed", "could not be evicted within 120 s"), 1);
    expect_untouched(s);
    end();
}

/* It is marked already; its pods stay until PodDisruptionBudgets are seen again. */
static void no_drain_begins_by_a_list_without_budgets(void **state)
{
    (void)state;
    struct sim *s = begin_sparse("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"
                                 "spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n");
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = note_eviction});
    run_for(s, 10 * MS_MINUTE);
    for (int i = 0; i < 600 && tainted(s, HARD) == 0; i++)
        run_for(s, 100);
    sim_client_hide(it.loop.api, KIND_DISRUPTION_BUDGET, 1);
    sim_client_break_watch(it.loop.api, KIND_DISRUPTION_BUDGET, sim_now(s) + 100, true);
    run_for(s, 9 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    assert_string_equal(it.evicted, "");
    run_for(s, 2 * MS_MINUTE);
    assert_string_not_equal(it.evicted, "");
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

static void in_two_turns(struct group_settings *s)
{
    static const struct drain_turn turns[] = {{0, 60}, {1000, 100}};
    s->drain_turns = (struct drain_turns){turns, 2};
}

static void scenario_164_the_less_important_leave_first(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, in_two_turns);
    load(s, deployment_yaml("big", 2, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    load(s, deployment_yaml("high", 2, "900m", ",\"priority\":2000,\"terminationGracePeriodSeconds\":900")); /* one beside each */
    run_for(s, 10 * MS_SECOND);
    load(s, deployment_yaml("low", 2, "400m", ",\"priority\":500,\"terminationGracePeriodSeconds\":900"));
    run_for(s, 10 * MS_SECOND);
    scale(s, "big", 0);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = note_eviction});
    run_for(s, 14 * MS_MINUTE);
    assert_string_equal(it.evicted, "low 60; high 100; ");
    assert_true(it.last_eviction > it.first_eviction); /* it has gone by then */
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(count_bound(s, "low") + count_bound(s, "high"), 4);
    end();
}

static void a_new_leader_takes_marks_of_another_off(void **state)
{
    (void)state;
    struct sim *s = begin_sparse(NULL);
    run_for(s, 10 * MS_MINUTE + 20 * MS_SECOND);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    loop_stop(&it.loop);
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 0);
    assert_int_equal(told("ClusterAutoscalerCleanup", ""), 1);
    run_for(s, 9 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2); /* timers begin anew */
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

/* An API server that does not write so many times what becomes of a Node. */
static uint32_t unwritten;

static enum sim_fate refuse_marks(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    if (r->verb != API_MERGE || r->kind != KIND_NODE || unwritten == 0)
        return SIM_PASS;
    unwritten--;
    *refusal = (struct sim_refusal){.status = 500, .reason = "InternalError"};
    return SIM_REFUSE;
}

static struct group_provider *open_refusing(struct loop *l)
{
    static const struct sim_faults faults = {.before = refuse_marks};
    sim_client_set_faults(l->api, &faults);
    return open_groups(l);
}

static void a_mark_that_cannot_be_taken_off_at_once_is_later(void **state)
{
    (void)state;
    unwritten = 0;
    struct sim *s = begin_sparse_with(NULL, open_refusing);
    run_for(s, 10 * MS_MINUTE + 20 * MS_SECOND);
    for (int i = 0; i < 60 && tainted(s, HARD) == 0; i++)
        run_for(s, 1 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    loop_stop(&it.loop);
    unwritten = 2;
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(tainted(s, HARD), 1);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(unwritten, 0);
    assert_int_equal(tainted(s, HARD), 0);
    assert_int_equal(told("ClusterAutoscalerCleanup", ""), 1);
    end();
}

/* --- health --- */

static void nobody_may_be_unready(struct group_settings *s)
{
    s->flags.ok_unready_count = 0;
    s->flags.max_unready_percentage = 0;
}

/* Scenario 12. */
static void a_cluster_of_unready_nodes_is_told_to_be_unhealthy(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, nobody_may_be_unready);
    load(s, deployment_yaml("web", 1, "1500m", ""));
    run_for(s, 16 * MS_MINUTE); /* --max-node-startup-time: 15m */
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(told("ClusterUnhealthy", ""), 0);
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0",
               "{\"spec\":{\"taints\":[{\"key\":\"startup-taint.cluster-autoscaler.kubernetes.io/x\",\"effect\":\"NoSchedule\"}]}}", 200);
    load(s, deployment_yaml("more", 2, "3500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_true(told("ClusterUnhealthy", "Cluster is unhealthy") >= 1);
    expect_status(s, "  health:\n    status: Unhealthy\n");
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

/* --- the status ConfigMap --- */

static void a_status_map_that_was_deleted_comes_back(void **state) /* 26 */
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_for(s, 15 * MS_SECOND);
    expect_status(s, "autoscalerStatus: Running\n");
    do_request(s, API_DELETE, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-status", NULL, 200);
    assert_false(status_has(s, ""));
    run_for(s, 30 * MS_SECOND);
    expect_status(s, "autoscalerStatus: Running\n");
    end();
}

/* Who ends by its own will leaves nothing that says that all is well, and only who wrote it takes it away. */
static void the_status_map_goes_with_who_wrote_it(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_for(s, MS_MINUTE);
    expect_status(s, "autoscalerStatus: Running\n");
    reconciler_lead(it.loop.reconciler, false);
    run_for(s, MS_MINUTE);
    reconciler_leave(it.loop.reconciler);
    run_for(s, MS_SECOND);
    expect_status(s, "autoscalerStatus: Running\n"); /* another leads by now */
    reconciler_lead(it.loop.reconciler, true);
    run_for(s, MS_MINUTE);
    do_request(s, API_DELETE, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-status", NULL, 200);
    do_request(s, API_CREATE, KIND_CONFIG_MAP, "kube-system", NULL,
               "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"cluster-autoscaler-status\"}, "
               "\"data\": {\"status\": \"another's\"}}", 201);
    reconciler_leave(it.loop.reconciler);
    run_for(s, MS_SECOND);
    expect_status(s, "another's");
    run_for(s, MS_MINUTE);
    expect_status(s, "autoscalerStatus: Running\n");
    reconciler_leave(it.loop.reconciler);
    run_for(s, MS_SECOND / 10);
    loop_stop(&it.loop);
    assert_false(status_has(s, ""));
    end();
}

/* Lines of the status that say when. */
static struct span times_in(struct sim *s, struct arena *a, const char *which)
{
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-status");
    struct buf out = {0};
    assert_non_null(map);
    for (struct span rest = span_of(json_string_value(tree_get(map, "data.status"))), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        if (span_contains(line, span_of(which)))
            buf_addf(&out, "%.*s\n", SPAN_ARG(line));
    }
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    json_decref(map);
    return text;
}

static void words_that_stay_keep_their_time(void **state) /* 27 */
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    struct arena a;
    arena_init(&a, 0);
    run_for(s, 15 * MS_SECOND);
    struct span since = times_in(s, &a, "lastTransitionTime"), looked = times_in(s, &a, "lastProbeTime");
    run_for(s, 30 * MS_SECOND);
    assert_true(since.len != 0 && span_eq(times_in(s, &a, "lastTransitionTime"), since));
    assert_true(looked.len != 0 && !span_eq(times_in(s, &a, "lastProbeTime"), looked));
    arena_release(&a);
    end();
}

static void without_status(struct group_settings *s)
{
    s->write_status = false;
}

/* Events about a kind of object. */
static uint32_t posted(struct sim *s, const char *kind)
{
    json_t *all = objects_of(s, KIND_EVENT), *e;
    uint32_t count = 0;
    size_t i;
    json_array_foreach(all, i, e) {
        const char *about = json_string_value(tree_get(e, "regarding.kind"));
        count += about != NULL && strcmp(about, kind) == 0;
    }
    json_decref(all);
    return count;
}

static void without_it_only_pods_and_nodes_are_told(void **state) /* 28 */
{
    (void)state;
    struct sim *s = begin(one_group, without_status);
    load(s, deployment_yaml("web", 1, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_false(status_has(s, ""));
    assert_int_equal(posted(s, "ConfigMap"), 0);
    assert_true(posted(s, "Pod") != 0);
    end();
    s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 1, "1500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_true(posted(s, "ConfigMap") != 0);
    end();
}

/* --- soft marks --- */

static void ten_are_marked_in_a_pass_in_a_cooldown_too(void **state) /* 158, 161 */
{
    (void)state;
    struct sim *s = begin(wide_group, NULL);
    load(s, deployment_yaml("web", 12, "3500m", ""));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 12);
    scale(s, "web", 0);
    for (int i = 0; i < 120 && tainted(s, SOFT) == 0; i++)
        run_for(s, 500);
    assert_int_equal(tainted(s, SOFT), 10);
    run_for(s, 12 * MS_SECOND);
    assert_int_equal(tainted(s, SOFT), 12);
    assert_int_equal(tainted(s, HARD), 0); /* --scale-down-delay-after-add */
    end();
}

static const char marked_stranger[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: other}\nspec: {taints: [{key: DeletionCandidateOfClusterAutoscaler, value: "
    "'1', effect: PreferNoSchedule}]}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 110}, allocatable: {cpu: 4, memory: 8Gi, "
    "pods: 110}, conditions: [{type: Ready, status: 'True'}]}\n";

static void no_soft_marks(struct group_settings *s)
{
    s->soft_taints = 0;
}

static void without_soft_marks_those_of_before_go_from_all_nodes(void **state) /* 160 */
{
    (void)state;
    struct sim *s = begin(one_group, no_soft_marks);
    load(s, marked_stranger);
    load(s, deployment_yaml("web", 1, "3500m", ",\"nodeSelector\":{\"pool\":\"a\"}"));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(tainted(s, SOFT), 0);
    assert_int_equal(nodes_of(s, "a"), 1);
    scale(s, "web", 0);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 0);
    end();
}

static void with_them_nodes_of_no_group_are_let_alone(void **state) /* 182 */
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, marked_stranger);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 1);
    end();
}

/* --- on the way out --- */

/* One empty node, marked to be deleted just now. */
static struct sim *begin_leaving(const char *annotation)
{
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 1, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    if (annotation != NULL)
        do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", annotation, 200);
    run_for(s, 9 * MS_MINUTE);
    for (int i = 0; i < 600 && tainted(s, HARD) == 0; i++)
        run_for(s, 500);
    assert_int_equal(tainted(s, HARD), 1);
    return s;
}

static void a_pod_that_comes_to_an_empty_node_meanwhile_keeps_it(void **state) /* 150 */
{
    (void)state;
    struct sim *s = begin_leaving(NULL);
    load(s, "apiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: default}\n"
            "spec: {nodeName: a-0, containers: [{name: c, image: none, resources: {requests: {cpu: 100m}}}]}\n");
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(tainted(s, HARD), 0);
    assert_int_equal(told("ScaleDownFailed", ""), 1);
    end();
}

#define DELAYED(value) "{\"metadata\":{\"annotations\":{\"delay-deletion.cluster-autoscaler.kubernetes.io/x\":" value "}}}"

static void an_annotation_delays_an_end_until_it_is_taken_off(void **state) /* 155 */
{
    (void)state;
    struct sim *s = begin_leaving(DELAYED("\"true\""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", DELAYED("null"), 200);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

static void or_for_two_minutes(void **state) /* 155 */
{
    (void)state;
    struct sim *s = begin_leaving(DELAYED("\"true\""));
    run_for(s, 115 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

static void believe_soft_taints(struct group_settings *s)
{
    s->candidate_ttl = 30 * MS_MINUTE;
}

/* Scenario 166. */
static void a_soft_taint_says_since_when_after_a_restart(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, believe_soft_taints);
    load(s, deployment_yaml("web", 1, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    scale(s, "web", 0);
    run_for(s, 8 * MS_MINUTE);
    assert_int_equal(tainted(s, SOFT), 1);
    loop_stop(&it.loop);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

/* --- what nodes were --- */

static const char *learned_of(json_t *map)
{
    return map != NULL ? json_string_value(tree_get(map, "data.templates")) : "";
}

static uint64_t writes_of_learned(struct sim *s)
{
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates");
    uint64_t version = map != NULL ? strtoull(json_string_value(tree_get(map, "metadata.resourceVersion")), NULL, 10) : 0;
    json_decref(map);
    return version;
}

/* A group of one node, on which somebody puts a label that the group's template does not have, has shrunk to nothing and
 * Stowage has been started anew: for whom does it grow? */
static struct sim *begin_shrunk(void (*set)(struct group_settings *s), enum group_kwok_fate fate)
{
    struct sim *s = begin(one_group, set);
    load(s, deployment_yaml("web", 1, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", "{\"metadata\":{\"labels\":{\"rack\":\"r1\"}}}", 200);
    run_for(s, 2 * MS_MINUTE);
    scale(s, "web", 0);
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 0);
    loop_stop(&it.loop);
    loop_start(&it.loop);
    it.fate = fate;
    load(s, deployment_yaml("picky", 1, "1500m", ",\"nodeSelector\":{\"rack\":\"r1\"}"));
    run_for(s, 1 * MS_MINUTE);
    return s;
}

/* Scenario 34, over a restart. */
static void a_group_that_shrank_to_nothing_is_known_by_its_nodes(void **state)
{
    (void)state;
    struct buf names = {0};
    struct sim *s = begin_shrunk(NULL, GROUP_KWOK_NEVER_REGISTERS);
    assert_int_equal(told("TriggeredScaleUp", "pod triggered scale-up: [{a 0->1 (max: 5)}]"), 2);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: setting group a size to 2"), 0);
    assert_int_equal(planned_on(NULL, &names), 1);
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates");
    if (strstr(learned_of(map), "a: {") == NULL || strstr(learned_of(map), "\"rack\":\"r1\"") == NULL ||
        strstr(learned_of(map), "hostname") != NULL)
        fail_msg("%s", learned_of(map));
    json_decref(map);
    buf_release(&names);
    end();
}

/* The next node has no such label: when it has been ready for a minute that is what is known, and no other is bought. */
static void a_label_that_does_not_come_again_is_not_believed_twice(void **state)
{
    (void)state;
    struct sim *s = begin_shrunk(NULL, GROUP_KWOK_COMES);
    assert_int_equal(nodes_of(s, "a"), 1);
    run_for(s, 30 * MS_MINUTE);
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates");
    assert_null(strstr(learned_of(map), "rack"));
    assert_int_equal(nodes_of(s, "a"), 0);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group a size set to 1 instead of 0 (max: 5)"), 2);
    json_decref(map);
    end();
}

static void go_by_the_provider(struct group_settings *s)
{
    s->flags.as_upstream = true;
}

static void greedy_knows_it_by_its_provider(void **state)
{
    (void)state;
    struct sim *s = begin_shrunk(go_by_the_provider, GROUP_KWOK_COMES);
    assert_int_equal(nodes_of(s, "a"), 0);
    assert_int_equal(writes_of_learned(s), 0);
    end();
}

static void what_is_known_already_is_not_written_again(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("web", 3, "2500m", ""));
    run_for(s, 3 * MS_MINUTE);
    uint64_t first = writes_of_learned(s);
    assert_true(first != 0);
    scale(s, "web", 2);
    run_for(s, 20 * MS_MINUTE);
    loop_stop(&it.loop);
    loop_start(&it.loop);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    assert_int_equal(writes_of_learned(s), first);
    do_request(s, API_DELETE, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates", NULL, 200); /* by a hand */
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", "{\"metadata\":{\"labels\":{\"rack\":\"r1\"}}}", 200);
    run_for(s, 1 * MS_MINUTE);
    assert_true(writes_of_learned(s) > first);
    do_request(s, API_DELETE, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates", NULL, 200); /* and another's there */
    do_request(s, API_CREATE, KIND_CONFIG_MAP, "kube-system", NULL,
               "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"stowage-node-group-templates\"}, "
               "\"data\": {}}", 201);
    do_request(s, API_MERGE, KIND_NODE, NULL, "a-0", "{\"metadata\":{\"labels\":{\"rack\":\"r2\"}}}", 200);
    run_for(s, 1 * MS_MINUTE);
    json_t *map = object_of(s, KIND_CONFIG_MAP, "kube-system", "stowage-node-group-templates");
    assert_non_null(json_object_get(tree_get(map, "data"), "templates"));
    json_decref(map);
    end();
}

/* --- beside NodePools --- */

static void what_a_pool_has_a_place_for_no_group_grows_for(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(nodes_of(s, "a"), 0);
    load(s, deployment_yaml("only-a", 2, "1500m", ",\"nodeSelector\":{\"pool\":\"a\"}"));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(count_bound(s, "only-a"), 2);
    end();
}

static struct sim *begin_beside_a_pool(const char *templates)
{
    struct sim *s = begin(templates, NULL);
    load(s, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

/* What it costs decides, as it does in `plan`; and what was decided is not decided anew while its machines come. */
static void a_group_that_is_cheaper_grows_in_the_place_of_a_pool(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(cheap_group);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(nodes_of(s, "a"), 2);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_int_equal(told("FailedScheduling", ""), 0);
    load(s, deployment_yaml("more", 12, "1500m", "")); /* three nodes of the group are left: six of them */
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_bound(s, "more"), 12);
    assert_int_equal(nodes_of(s, "a"), 5);
    assert_true(count_objects(s, KIND_NODE_CLAIM) != 0);
    end();
}

/* Eight of the ten fill a machine of one group, the others one of another: five of that would be cheaper a pod than two of the
 * first, and dearer than one of each. */
static void expect_parted(struct sim *s)
{
    load(s, deployment_yaml("web", 10, "900m", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 10);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(nodes_of(s, "b"), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    end();
}

static void a_workload_is_parted_where_that_is_cheapest(void **state)
{
    (void)state;
    expect_parted(begin_beside_a_pool(large_and_small));
    expect_parted(begin(large_and_small, NULL));
}

static void a_group_that_is_dearer_does_not(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(dear_group);
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(nodes_of(s, "a"), 0);
    end();
}

static void a_pod_whose_group_cannot_grow_goes_to_the_pool(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(cheap_group);
    it.a_is_sold_out = true;
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 4);
    assert_int_equal(nodes_of(s, "a"), 0);
    assert_true(count_objects(s, KIND_NODE_CLAIM) != 0);
    end();
}

/* While its machine is on its way nobody buys it another node. */
static void who_waits_for_a_machine_of_a_group_has_no_node_bought(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(cheap_group);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    struct buf names = {0};
    load(s, deployment_yaml("web", 4, "1500m", ""));
    run_for(s, 20 * MS_SECOND);
    for (uint32_t i = 0; i < 120; i++) {
        run_for(s, 1 * MS_SECOND);
        assert_int_equal(planned_on(NULL, &names), 4);
        assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    }
    buf_release(&names);
    end();
}

#define WISHES(name_, wish_)                                                                                            \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " name_ "}\nspec: {replicas: 2, selector: {matchLabels: {app: "  \
    name_ "}}, template: {metadata: {labels: {app: " name_ "}, annotations: {stowage.dev/prefer: " wish_ "}}, spec: {"      \
    "containers: [{name: c, image: i, resources: {requests: {cpu: 1500m, memory: 64Mi}}}]}}}\n"

/* Without any price. */
static void what_a_pod_prefers_comes_before_prices(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(one_group);
    load(s, WISHES("here", "groups"));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "here"), 2);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    load(s, WISHES("there", "pools"));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "there"), 2);
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

static void several_groups_grow_in_one_pass(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(two_priced);
    load(s, deployment_yaml("web", 6, "1900m", "")); /* two on one of a, four on one of b */
    run_for(s, 8 * MS_SECOND);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group a size set to 1 instead of 0"), 1);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group b size set to 1 instead of 0"), 1);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 6);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    end();
}

#define ZONED(name_, cpu_)                                                                                              \
    SHAPED(name_, cpu_, "0", "5", "", "pool: " name_ ", of: groups, topology.kubernetes.io/zone: test-zone-" name_)
#define APART(app_) TERM("podAntiAffinity", app_)
#define TOGETHER(app_) TERM("podAffinity", app_)
#define TERM(kind_, app_)                                                                                                \
    ",\"affinity\":{\"" kind_ "\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":"                     \
    "\"topology.kubernetes.io/zone\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app_ "\"}}}]}}"
#define IN_POOL ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"general\"}"
#define IN_POOL_A ",\"nodeSelector\":{\"karpenter.sh/nodepool\":\"general\",\"topology.kubernetes.io/zone\":\"test-zone-a\"}"
#define IN_GROUP ",\"nodeSelector\":{\"of\":\"groups\"}"
#define IN_GROUP_A ",\"nodeSelector\":{\"of\":\"groups\",\"topology.kubernetes.io/zone\":\"test-zone-a\"}"
static const char zoned_groups[] = LIST(ZONED("a", "'4'") ZONED("b", "'8'")); /* the first is the tighter one */

static size_t in_zone(struct sim *s, enum kind k, const char *path, const char *zone)
{
    json_t *all = objects_of(s, k), *x;
    size_t i, count = 0;
    json_array_foreach(all, i, x) {
        const char *is = json_string_value(json_object_get(tree_get(x, path), "topology.kubernetes.io/zone"));
        count += is != NULL && strcmp(is, zone) == 0;
    }
    json_decref(all);
    return count;
}

/* Its Node is not there for an hour, and its zone is known. */
static void a_group_knows_of_whom_the_pools_have_bought_for(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(zoned_groups);
    do_request(s, API_MERGE, KIND_KWOK_NODE_CLASS, NULL, "default", "{\"spec\":{\"nodeRegistrationDelay\":\"1h\"}}", 200);
    load(s, deployment_yaml("db", 1, "1500m", IN_POOL_A));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_int_equal(count_bound(s, "db"), 0);
    load(s, deployment_yaml("apart", 1, "1500m", IN_GROUP APART("db")));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(in_zone(s, KIND_NODE, "metadata.labels", "test-zone-b"), 1);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_bound(s, "apart"), 1);
    load(s, deployment_yaml("beside", 1, "1500m", IN_GROUP TOGETHER("db")));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(in_zone(s, KIND_NODE, "metadata.labels", "test-zone-a"), 1);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    end();
}

/* The machine never registers, and its zone is that of its group. */
static void pools_know_of_whom_a_group_grows_for(void **state)
{
    (void)state;
    struct sim *s = begin_beside_a_pool(zoned_groups);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    load(s, deployment_yaml("db", 1, "1500m", IN_GROUP_A));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group a size set to 1 instead of 0"), 1);
    load(s, deployment_yaml("apart", 1, "1500m", IN_POOL APART("db")));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_bound(s, "apart"), 1);
    assert_int_equal(in_zone(s, KIND_NODE, "metadata.labels", "test-zone-b"), 1);
    load(s, deployment_yaml("beside", 1, "1500m", IN_POOL TOGETHER("db")));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(in_zone(s, KIND_NODE, "metadata.labels", "test-zone-a"), 1);
    end();
}

/* It could go to the pool, which came when a group had been asked for it already. */
static void who_waits_for_a_machine_of_a_group_counts_once(void **state)
{
    (void)state;
    struct sim *s = begin(zoned_groups, NULL);
    it.fate = GROUP_KWOK_NEVER_REGISTERS;
    load(s, node_class_yaml());
    load(s, deployment_yaml("db", 1, "1500m", ""));
    load(s, deployment_yaml("apart", 1, "1500m", IN_POOL APART("db")));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(told("ScaledUpGroup", "Scale-up: group a size set to 1 instead of 0"), 1);
    load(s, pool_yaml("general", "", ""));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_bound(s, "apart"), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_int_equal(in_zone(s, KIND_NODE, "metadata.labels", "test-zone-b"), 1);
    end();
}

/* --- priorities --- */

static void by_priority(struct group_settings *s)
{
    s->flags.expanders[0] = EXPANDER_PRIORITY;
    s->flags.expander_count = 1;
}

static const char *priorities(const char *text)
{
    static char yaml[512];
    snprintf(yaml, sizeof(yaml),
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-autoscaler-priority-expander, namespace: kube-system}\n"
             "data: {priorities: \"%s\"}\n",
             text);
    return yaml;
}

static void priorities_are_read_live(void **state)
{
    (void)state;
    struct sim *s = begin(two_groups, by_priority);
    load(s, priorities("10: ['a']\\n50: ['b']\\n"));
    load(s, deployment_yaml("one", 1, "3500m", ""));
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(nodes_of(s, "b"), 1);
    do_request(s, API_MERGE, KIND_CONFIG_MAP, "kube-system", "cluster-autoscaler-priority-expander",
               "{\"data\":{\"priorities\":\"50: ['a']\\n10: ['b']\\n\"}}", 200);
    load(s, deployment_yaml("two", 2, "3500m", "")); /* one of them beside the first */
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(nodes_of(s, "b"), 1);
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

/* An API server that lets nobody read ConfigMaps. */
static struct {
    const struct api_ops *whole;
    struct api_ops ops;
} forbidding;

static uint64_t send_but_that(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct api_result forbidden = {.status = 403, .reason = SPAN("Forbidden"), .retry_after_s = -1};
    if (r->verb != API_GET || r->kind != KIND_CONFIG_MAP)
        return forbidding.whole->send(api, r, done, user);
    err_set(&forbidden.err, ERR_FORBIDDEN, "configmaps is forbidden");
    done(user, &forbidden);
    return 1;
}

static struct group_provider *open_forbidden(struct loop *l)
{
    struct group_provider *p = open_groups(l);
    forbidding.whole = l->api->ops;
    forbidding.ops = *l->api->ops;
    forbidding.ops.send = send_but_that;
    l->api->ops = &forbidding.ops;
    return p;
}

static void config_maps_that_cannot_be_read_stop_nothing(void **state)
{
    (void)state;
    struct sim *s = begin_with(two_groups, by_priority, open_forbidden);
    load(s, deployment_yaml("one", 1, "3500m", ""));
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_bound(s, "one"), 1);
    assert_int_equal(writes_of_learned(s), 0);         /* what is there is not known */
    assert_int_equal(it.loop.decided[DECISION_FAIL], 2); /* each once */
    assert_non_null(strstr(it.loop.last[DECISION_FAIL], "cluster-autoscaler-priority-expander cannot be read"));
    end();
}

/* --- CapacityBuffers, where there are no NodePools --- */

#define BUFFER(spec_)                                                                                                   \
    "{\"apiVersion\":\"autoscaling.x-k8s.io/v1beta1\",\"kind\":\"CapacityBuffer\",\"metadata\":{\"name\":\"b\"},\"spec\":{" spec_ "}}"
#define OF_TEMPLATE "\"podTemplateRef\":{\"name\":\"t\"}"
#define OF_WEB "\"scalableRef\":{\"apiGroup\":\"apps\",\"kind\":\"Deployment\",\"name\":\"web\"}"

static struct sim *begin_buffered(const char *templates)
{
    memset(&it, 0, sizeof(it));
    it.templates = templates;
    it.loop.groups = group_settings_default();
    it.loop.open_groups = open_groups;
    it.loop.keeps = it.loop.posts = true;
    it.loop.world.capacity_buffer = true;
    struct sim *s = new_sim(system_namespace);
    load(s, "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"metadata\":{\"name\":\"t\"},\"template\":{\"spec\":{\"containers\":"
            "[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}}");
    loop_begin(&it.loop, s);
    return s;
}

static void expect_provisioning(struct sim *s, const char *status, const char *reason)
{
    json_t *b = object_of(s, KIND_CAPACITY_BUFFER, "default", "b");
    json_t *c = tree_condition(b, "Provisioning");
    if (c == NULL || !span_eq(tree_string(c, "status"), span_of(status)) || !span_eq(tree_string(c, "reason"), span_of(reason)))
        fail_msg("Provisioning is %.*s %.*s, not %s %s", SPAN_ARG(tree_string(c, "status")), SPAN_ARG(tree_string(c, "reason")),
                 status, reason);
    json_decref(b);
}

static void scenario_173_room_that_is_taken_is_made_anew(void **state)
{
    (void)state;
    struct sim *s = begin_buffered(one_group);
    load(s, BUFFER(OF_TEMPLATE ",\"replicas\":2"));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    expect_provisioning(s, "True", "FakePodsInjected");
    assert_int_equal(told("TriggeredScaleUp", "pod triggered scale-up: [{a 0->2 (max: 5)}]"), 1); /* of the buffer */
    load(s, deployment_yaml("web", 1, "3", ""));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 1);
    assert_int_equal(nodes_of(s, "a"), 3);
    run_for(s, 20 * MS_MINUTE); /* two of them are empty, and kept */
    assert_int_equal(nodes_of(s, "a"), 3);
    do_request(s, API_DELETE, KIND_CAPACITY_BUFFER, "default", "b", NULL, 200);
    run_for(s, 12 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    end();
}

static void scenario_174_a_share_of_a_workload(void **state)
{
    (void)state;
    struct sim *s = begin_buffered(LIST(TEMPLATE("a", "'4'", "0", "20")));
    load(s, deployment_yaml("web", 11, "3", ""));
    load(s, BUFFER(OF_WEB ",\"percentage\":20"));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 11);
    assert_int_equal(nodes_of(s, "a"), 14);
    end();
}

static void room_that_no_group_has_is_told_of_the_buffer(void **state)
{
    (void)state;
    struct sim *s = begin_buffered(one_group);
    load(s, BUFFER(OF_TEMPLATE ",\"replicas\":7"));
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 5);
    assert_true(told("NotTriggerScaleUp", "1 max node group size reached") >= 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_fit_nowhere_grow_a_group),
        cmocka_unit_test(a_group_grows_to_its_maximum_and_says_so),
        cmocka_unit_test(a_group_that_cannot_grow_is_backed_off_and_another_takes_its_place),
        cmocka_unit_test(machines_that_could_not_be_made_are_ended_and_another_group_is_taken),
        cmocka_unit_test(a_machine_that_never_registers_is_ended),
        cmocka_unit_test(pods_have_their_places_on_machines_on_their_way),
        cmocka_unit_test(places_of_pools_and_of_groups_stand_side_by_side),
        cmocka_unit_test(an_empty_node_goes_when_nobody_has_needed_it_for_long_enough),
        cmocka_unit_test(time_in_which_the_view_was_partial_is_no_unneeded_time),
        cmocka_unit_test(a_step_of_the_clock_is_no_time_unneeded),
        cmocka_unit_test(a_node_that_is_needed_again_loses_its_soft_mark),
        cmocka_unit_test(a_node_that_is_used_little_is_drained_and_goes),
        cmocka_unit_test(taints_of_others_are_kept_as_they_are),
        cmocka_unit_test(a_pod_that_may_not_be_moved_any_more_keeps_the_node),
        cmocka_unit_test(an_eviction_that_is_refused_for_two_minutes_keeps_the_node),
        cmocka_unit_test(a_drain_does_not_end_by_a_list_without_pods),
        cmocka_unit_test(a_drain_is_not_forgotten_by_a_list_without_nodes),
        cmocka_unit_test(no_drain_begins_by_a_list_without_budgets),
        cmocka_unit_test(scenario_164_the_less_important_leave_first),
        cmocka_unit_test(a_new_leader_takes_marks_of_another_off),
        cmocka_unit_test(a_mark_that_cannot_be_taken_off_at_once_is_later),
        cmocka_unit_test(a_cluster_of_unready_nodes_is_told_to_be_unhealthy),
        cmocka_unit_test(a_status_map_that_was_deleted_comes_back),
        cmocka_unit_test(the_status_map_goes_with_who_wrote_it),
        cmocka_unit_test(words_that_stay_keep_their_time),
        cmocka_unit_test(without_it_only_pods_and_nodes_are_told),
        cmocka_unit_test(ten_are_marked_in_a_pass_in_a_cooldown_too),
        cmocka_unit_test(without_soft_marks_those_of_before_go_from_all_nodes),
        cmocka_unit_test(with_them_nodes_of_no_group_are_let_alone),
        cmocka_unit_test(a_pod_that_comes_to_an_empty_node_meanwhile_keeps_it),
        cmocka_unit_test(an_annotation_delays_an_end_until_it_is_taken_off),
        cmocka_unit_test(or_for_two_minutes),
        cmocka_unit_test(a_soft_taint_says_since_when_after_a_restart),
        cmocka_unit_test(a_group_that_shrank_to_nothing_is_known_by_its_nodes),
        cmocka_unit_test(a_label_that_does_not_come_again_is_not_believed_twice),
        cmocka_unit_test(greedy_knows_it_by_its_provider),
        cmocka_unit_test(what_is_known_already_is_not_written_again),
        cmocka_unit_test(what_a_pool_has_a_place_for_no_group_grows_for),
        cmocka_unit_test(a_group_that_is_cheaper_grows_in_the_place_of_a_pool),
        cmocka_unit_test(a_workload_is_parted_where_that_is_cheapest),
        cmocka_unit_test(a_group_that_is_dearer_does_not),
        cmocka_unit_test(a_pod_whose_group_cannot_grow_goes_to_the_pool),
        cmocka_unit_test(who_waits_for_a_machine_of_a_group_has_no_node_bought),
        cmocka_unit_test(what_a_pod_prefers_comes_before_prices),
        cmocka_unit_test(several_groups_grow_in_one_pass),
        cmocka_unit_test(a_group_knows_of_whom_the_pools_have_bought_for),
        cmocka_unit_test(pools_know_of_whom_a_group_grows_for),
        cmocka_unit_test(who_waits_for_a_machine_of_a_group_counts_once),
        cmocka_unit_test(priorities_are_read_live),
        cmocka_unit_test(config_maps_that_cannot_be_read_stop_nothing),
        cmocka_unit_test(scenario_173_room_that_is_taken_is_made_anew),
        cmocka_unit_test(scenario_174_a_share_of_a_workload),
        cmocka_unit_test(room_that_no_group_has_is_told_of_the_buffer),
    };
    return cmocka_run_group_tests_name("loop_groups", tests, NULL, NULL);
}
