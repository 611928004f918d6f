/* Node groups kept by the whole loop: when its passes come, and how a removal goes on when a pod or the API server does not do
 * as it is asked. Scenarios by their numbers in spec node-groups 8. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloud/groups/kwok.h"
#include "tests/sim/support_loop.h"

#define TEMPLATE(name_)                                                                                                 \
    "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: of-" name_ "\n"                                             \
    "    labels: {pool: " name_ ", kubernetes.io/arch: amd64, kubernetes.io/os: linux}\n"                               \
    "    annotations: {cluster-autoscaler.kwok.nodegroup/max-count: '5'}\n"                                             \
    "  status: {capacity: {cpu: 4, memory: 16Gi, pods: 110}, allocatable: {cpu: 4, memory: 16Gi, pods: 110}}\n"
#define LIST(items_) "apiVersion: v1\nkind: List\nitems:\n" items_

static const char one_group[] = LIST(TEMPLATE("a"));
static const char two_groups[] = LIST(TEMPLATE("a") TEMPLATE("b"));
static const char system_namespace[] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n";

enum { PASSES_MAX = 400 };

static struct {
    struct loop loop;
    const char *templates;
    bool a_is_sold_out;
    wall_ms passes[PASSES_MAX]; /* when each was made */
    size_t pass_count;
    const char *stays;       /* a part of the name of pods that are not evicted; or NULL */
    char unmarkable[2][64];  /* Nodes */
    uint32_t unmarked;       /* how often they were not */
    char grace[64];      /* of the last eviction */
} it;

static bool in_stock(void *user, struct span group, int32_t more)
{
    (void)user;
    (void)more;
    return !it.a_is_sold_out || !span_eq(group, SPAN("a"));
}

static struct group_provider *open_groups(struct loop *l)
{
    static const struct group_kwok_text config = {
        SPAN_INIT("readNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\nnodes: {skipTaint: true}\nconfigmap: {name: t}\n"),
        SPAN_INIT("config.yaml")};
    struct arena a;
    struct err err;
    struct group_provider *p = NULL;
    struct group_kwok_options o = {.api = l->api, .templates = {span_of(it.templates), SPAN("templates.yaml")}, .in_stock = in_stock};
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &config, &o.config, &err) || (p = group_kwok_new(&o, &err)) == NULL)
        fail_msg("%s", err.msg);
    arena_release(&a);
    return p;
}

static void note_pass(void *user, const struct groups_told *told)
{
    (void)user;
    (void)told;
    assert_true(it.pass_count < PASSES_MAX);
    it.passes[it.pass_count++] = sim_now(it.loop.sim);
}

static struct sim *begin(const char *templates, void (*set)(struct group_settings *s))
{
    memset(&it, 0, sizeof(it));
    it.templates = templates;
    it.loop.groups = group_settings_default();
    it.loop.groups.answered = note_pass;
    it.loop.open_groups = open_groups;
    it.loop.keeps = it.loop.posts = it.loop.wakes = true;
    if (set != NULL)
        set(&it.loop.groups);
    struct sim *s = new_sim(system_namespace);
    loop_begin(&it.loop, s);
    return s;
}

static void end(void)
{
    loop_end(&it.loop);
}

static size_t nodes_of(struct sim *s, const char *group)
{
    json_t *all = objects_of(s, KIND_NODE), *n;
    size_t i, count = 0;
    json_array_foreach(all, i, n) {
        const char *pool = json_string_value(json_object_get(tree_get(n, "metadata.labels"), "pool"));
        count += pool != NULL && strcmp(pool, group) == 0;
    }
    json_decref(all);
    return count;
}

/* Nodes that are marked to go. */
static size_t marked(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE), *n, *t;
    size_t i, k, count = 0;
    json_array_foreach(all, i, n) {
        json_array_foreach(tree_get(n, "spec.taints"), k, t) {
            count += strcmp(json_string_value(json_object_get(t, "key")), "ToBeDeletedByClusterAutoscaler") == 0;
        }
    }
    json_decref(all);
    return count;
}

static uint32_t told(const char *reason, const char *note)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&it.loop.history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, SPAN("event ")) && span_contains(line, span_of(reason)) && span_contains(line, span_of(note));
    }
    return found;
}

/* --- when passes come --- */

/* How long after the one before the last passes came, in seconds: "10 1 1 10 ". */
static const char *gaps(size_t count)
{
    static char text[256];
    size_t at = 0;
    assert_true(it.pass_count > count);
    for (size_t i = it.pass_count - count; i < it.pass_count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%lld ", (long long)((it.passes[i] - it.passes[i - 1] + 500) / MS_SECOND));
    return text;
}

static void run_until_passes(struct sim *s, size_t count)
{
    for (int i = 0; i < 1200 && it.pass_count < count; i++)
        run_for(s, 100);
    assert_true(it.pass_count >= count);
}

static void scenario_1_where_nothing_happens_they_come_at_the_interval(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_until_passes(s, 6);
    assert_string_equal(gaps(4), "10 10 10 10 ");
    end();
}

static void scenario_2_who_did_something_looks_twice_more_at_once(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_until_passes(s, 3);
    run_for(s, 1 * MS_SECOND);
    load(s, deployment_yaml("web", 1, "2500m", ""));
    while (nodes_of(s, "a") == 0)
        run_for(s, 100);
    size_t grew = it.pass_count;
    run_until_passes(s, grew + 4);
    assert_string_equal(gaps(4), "1 1 10 10 ");
    end();
}

static void scenario_3_a_pod_that_waits_brings_one_on_and_then_none(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    run_until_passes(s, 3);
    run_for(s, 3 * MS_SECOND);
    size_t before = it.pass_count;
    load(s, deployment_yaml("huge", 1, "40", "")); /* fits no group */
    run_for(s, 3500); /* it may be looked at when it is 2 s old */
    assert_true(it.pass_count > before);
    assert_true(told("NotTriggerScaleUp", "Insufficient cpu") >= 1);
    run_for(s, 1 * MS_MINUTE);
    assert_string_equal(gaps(3), "10 10 10 "); /* that it goes on waiting is nothing new */
    end();
}

/* --- two groups alike --- */

static void balanced(struct group_settings *s)
{
    static struct span ignored[] = {SPAN_INIT("pool")};
    s->flags.balance_similar = true;
    s->flags.balancing_ignore_labels = (struct spans){ignored, 1};
}

static void scenario_101_when_the_first_of_two_cannot_grow_the_second_waits_for_the_next_pass(void **state)
{
    (void)state;
    struct sim *s = begin(two_groups, balanced);
    it.a_is_sold_out = true;
    load(s, deployment_yaml("web", 2, "2500m", "")); /* one each */
    for (int i = 0; i < 300 && told("FailedToScaleUpGroup", "") == 0; i++)
        run_for(s, 100);
    assert_int_equal(told("FailedToScaleUpGroup", "Scale-up failed for group a: "), 1);
    assert_int_equal(told("ScaledUpGroup", "group b"), 0);
    assert_int_equal(nodes_of(s, "b"), 0);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(nodes_of(s, "b"), 2); /* a is backed off */
    assert_int_equal(told("FailedToScaleUpGroup", ""), 1);
    assert_int_equal(count_bound(s, "web"), 2);
    end();
}

/* --- CapacityQuotas --- */

static void with_quotas(struct group_settings *s)
{
    s->flags.capacity_quotas = true;
}

static void a_quota_bounds_growth_until_it_is_raised(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, with_quotas);
    load(s, "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityQuota\nmetadata: {name: few}\n"
            "spec: {selector: {matchLabels: {pool: a}}, limits: {resources: {nodes: 2}}}\n");
    load(s, deployment_yaml("web", 4, "2500m", "")); /* one a node */
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    assert_true(told("NotTriggerScaleUp", "1 exceeded quota: \"CapacityQuota/few\", resources: nodes") >= 1);
    do_request(s, API_MERGE, KIND_CAPACITY_QUOTA, NULL, "few", "{\"spec\":{\"limits\":{\"resources\":{\"nodes\":3}}}}", 200);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 3);
    do_request(s, API_DELETE, KIND_CAPACITY_QUOTA, NULL, "few", NULL, 200);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 4);
    end();
}

static void expect_quota(struct sim *s, const char *path, const char *want)
{
    json_t *q = object_of(s, KIND_CAPACITY_QUOTA, NULL, "few"), *at = tree_get(q, path);
    char *got = at != NULL ? json_dumps(at, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : strdup("");
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, want %s", path, got, want);
    free(got);
    json_decref(q);
}

static void expect_condition(struct sim *s, const char *type, const char *want)
{
    json_t *q = object_of(s, KIND_CAPACITY_QUOTA, NULL, "few"), *c = tree_condition(q, type);
    char text[256] = "";
    if (c != NULL)
        snprintf(text, sizeof(text), "%.*s %.*s: %.*s", SPAN_ARG(tree_string(c, "status")), SPAN_ARG(tree_string(c, "reason")),
                 SPAN_ARG(tree_string(c, "message")));
    if (strncmp(text, want, strlen(want)) != 0)
        fail_msg("%s: %s, want %s", type, text, want);
    json_decref(q);
}

/* Its status is Cluster Autoscaler's where Stowage does not go by quotas. */
static void a_quota_is_left_alone_without_the_flag(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityQuota\nmetadata: {name: few}\n"
            "spec: {limits: {resources: {nodes: 1}}}\n");
    load(s, deployment_yaml("web", 2, "2500m", "")); /* one a node */
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2);
    expect_quota(s, "status", "");
    end();
}

/* Whose status says whether it counts, and what of it is used. */
static void a_quota_says_how_much_is_used(void **state)
{
    (void)state;
    static const char valid[] = "cluster-autoscaler.kubernetes.io/valid";
    struct sim *s = begin(one_group, with_quotas);
    load(s, "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityQuota\nmetadata: {name: few}\n"
            "spec: {selector: {matchLabels: {pool: a}}, limits: {resources: {nodes: 2, cpu: 20}}}\n");
    run_for(s, 20 * MS_SECOND);
    expect_condition(s, valid, "True ValidationSucceeded: CapacityQuota is valid");
    expect_condition(s, "Reconciled", "True ReconciliationSucceeded: CapacityQuota successfully reconciled");
    expect_quota(s, "status.used.resources", "{\"cpu\":\"0\",\"nodes\":\"0\"}");
    load(s, deployment_yaml("web", 4, "2500m", "")); /* one a node */
    load(s, "apiVersion: v1\nkind: Node\nmetadata: {name: other, labels: {pool: b}}\n"
            "status: {capacity: {cpu: 64}, allocatable: {cpu: 1}}\n"); /* of another pool */
    load(s, "apiVersion: v1\nkind: Node\nmetadata: {name: unreal, labels: {pool: a, type: virtual-kubelet}}\n"
            "status: {capacity: {cpu: 64}, allocatable: {cpu: 1}}\n");
    run_for(s, 1 * MS_MINUTE);
    expect_quota(s, "status.used.resources", "{\"cpu\":\"8\",\"nodes\":\"2\"}");
    do_request(s, API_MERGE, KIND_CAPACITY_QUOTA, NULL, "few",
               "{\"spec\":{\"limits\":{\"resources\":{\"cpu\":null,\"memory\":\"1Ti\"}}}}", 200);
    run_for(s, 20 * MS_SECOND);
    expect_quota(s, "status.used.resources", "{\"memory\":\"32Gi\",\"nodes\":\"2\"}");
    expect_quota(s, "status.observedGeneration", "2");
    do_request(s, API_MERGE, KIND_CAPACITY_QUOTA, NULL, "few",
               "{\"spec\":{\"selector\":{\"matchExpressions\":[{\"key\":\"pool\",\"operator\":\"Is\",\"values\":[\"a\"]}]}}}", 200);
    run_for(s, 1 * MS_MINUTE);
    expect_condition(s, valid, "False ValidationFailed: spec.selector: ");
    expect_condition(s, "Reconciled", "False ReconciliationFailed: Validation failed");
    expect_quota(s, "status.used.resources", "{\"memory\":\"32Gi\",\"nodes\":\"2\"}"); /* as it was */
    assert_int_equal(nodes_of(s, "a"), 5); /* one that is unreal: nothing is bounded any more */
    json_t *before = object_of(s, KIND_CAPACITY_QUOTA, NULL, "few");
    run_for(s, 10 * MS_MINUTE);
    json_t *after = object_of(s, KIND_CAPACITY_QUOTA, NULL, "few");
    assert_true(json_equal(before, after)); /* it is not written again */
    json_decref(before);
    json_decref(after);
    end();
}

/* --- draining --- */

static enum sim_fate refuse(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    (void)user;
    (void)number;
    if (r->verb == API_EVICT) {
        struct span rest, key = SPAN("\"gracePeriodSeconds\":");
        for (rest = r->body; rest.len >= key.len && !span_has_prefix(rest, key); rest.ptr++, rest.len--)
            ;
        if (rest.len >= key.len)
            snprintf(it.grace, sizeof(it.grace), "%d", atoi(rest.ptr + key.len));
    }
    if (r->verb == API_EVICT && it.stays != NULL && span_contains(r->name, span_of(it.stays))) {
        *refusal = (struct sim_refusal){.status = 429, .reason = "TooManyRequests"};
        return SIM_REFUSE;
    }
    bool marks = r->verb == API_MERGE && r->kind == KIND_NODE && span_contains(r->body, SPAN("ToBeDeletedByClusterAutoscaler"));
    for (size_t i = 0; i < COUNT_OF(it.unmarkable) && marks; i++) {
        if (!span_eq(r->name, span_of(it.unmarkable[i])))
            continue;
        it.unmarked++;
        *refusal = (struct sim_refusal){.status = 500, .reason = "InternalError"};
        return SIM_REFUSE;
    }
    return SIM_PASS;
}

/* Two nodes of which each is used less than by half, by a pod of "web", until one of them is marked to go. */
static struct sim *begin_draining(const char *more, const char *grace)
{
    struct sim *s = begin(one_group, NULL);
    char spec[64];
    if (more != NULL)
        load(s, more);
    load(s, deployment_yaml("big", 2, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 2);
    snprintf(spec, sizeof(spec), ",\"terminationGracePeriodSeconds\":%s", grace);
    load(s, deployment_yaml("web", 2, "900m", spec));
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    scale(s, "big", 0);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = refuse});
    run_for(s, 9 * MS_MINUTE);
    for (int i = 0; i < 1200 && marked(s) == 0; i++)
        run_for(s, 100);
    assert_int_equal(marked(s), 1);
    return s;
}

/* Who holds on to his life, by a finalizer, as no grace ends. */
static void hold_on(struct sim *s, const char *app)
{
    json_t *all = objects_of(s, KIND_POD), *p;
    size_t i;
    json_array_foreach(all, i, p) {
        const char *of = json_string_value(json_object_get(tree_get(p, "metadata.labels"), "app"));
        if (of != NULL && strcmp(of, app) == 0)
            do_request(s, API_MERGE, KIND_POD, "default", json_string_value(tree_get(p, "metadata.name")),
                       "{\"metadata\":{\"finalizers\":[\"example.com/never\"]}}", 200);
    }
    json_decref(all);
}

static void scenarios_152_and_153_a_pod_has_ten_minutes_and_keeps_the_node_if_it_stays(void **state)
{
    (void)state;
    struct sim *s = begin_draining(NULL, "3600");
    hold_on(s, "web");
    run_for(s, 30 * MS_SECOND);
    assert_string_equal(it.grace, "600");
    run_for(s, 590 * MS_SECOND);
    assert_int_equal(marked(s), 1);
    assert_int_equal(told("ScaleDownFailed", ""), 0);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(told("ScaleDownFailed", "is still there 630 s after its eviction"), 1);
    assert_int_equal(marked(s), 0);
    assert_int_equal(nodes_of(s, "a"), 2);
    end();
}

static const char agent[] = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\n"
                            "spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, "
                            "spec: {containers: [{name: c, image: none, resources: {requests: {cpu: 100m}}}]}}}\n";

/* It is asked to go, and not waited for. */
static void scenarios_154_and_200_a_pod_of_a_daemon_set_keeps_no_node(void **state)
{
    (void)state;
    struct sim *s = begin_draining(agent, "0");
    it.stays = "agent";
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(told("ScaleDownFailed", ""), 0);
    assert_int_equal(count_bound(s, "web"), 2);
    end();
}

/* Where pods of the app are. */
static void note_nodes(struct sim *s, const char *app, char (*out)[64], size_t count)
{
    json_t *all = objects_of(s, KIND_POD), *p;
    size_t i, seen = 0;
    json_array_foreach(all, i, p) {
        const char *of = json_string_value(json_object_get(tree_get(p, "metadata.labels"), "app"));
        if (of != NULL && strcmp(of, app) == 0 && seen < count)
            snprintf(out[seen++], sizeof(*out), "%s", json_string_value(tree_get(p, "spec.nodeName")));
    }
    json_decref(all);
    assert_int_equal(seen, count);
}

static void scenario_199_a_node_that_cannot_be_marked_stays_and_the_empty_ones_go(void **state)
{
    (void)state;
    struct sim *s = begin(one_group, NULL);
    load(s, deployment_yaml("big", 5, "2500m", ""));
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 5);
    load(s, deployment_yaml("web", 2, "900m", ",\"affinity\":{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
                            "[{\"weight\":100,\"podAffinityTerm\":{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":"
                            "{\"matchLabels\":{\"app\":\"web\"}}}}]}}"));
    run_for(s, 10 * MS_SECOND);
    note_nodes(s, "web", it.unmarkable, 2);
    assert_string_not_equal(it.unmarkable[0], it.unmarkable[1]);
    sim_client_set_faults(it.loop.api, &(struct sim_faults){.before = refuse});
    scale(s, "big", 0);
    run_for(s, 9 * MS_MINUTE);
    for (int k = 0; k < 1200 && it.unmarked == 0; k++)
        run_for(s, 100);
    assert_true(it.unmarked != 0);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(nodes_of(s, "a"), 2);
    assert_int_equal(told("ScaleDownFailed", ""), 1);
    memset(it.unmarkable, 0, sizeof(it.unmarkable));
    run_for(s, 9 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 2); /* it was not unneeded while it was to go: its ten minutes begin anew */
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(nodes_of(s, "a"), 1);
    assert_int_equal(marked(s), 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenario_1_where_nothing_happens_they_come_at_the_interval),
        cmocka_unit_test(scenario_2_who_did_something_looks_twice_more_at_once),
        cmocka_unit_test(scenario_3_a_pod_that_waits_brings_one_on_and_then_none),
        cmocka_unit_test(scenario_101_when_the_first_of_two_cannot_grow_the_second_waits_for_the_next_pass),
        cmocka_unit_test(a_quota_bounds_growth_until_it_is_raised),
        cmocka_unit_test(a_quota_says_how_much_is_used),
        cmocka_unit_test(a_quota_is_left_alone_without_the_flag),
        cmocka_unit_test(scenarios_152_and_153_a_pod_has_ten_minutes_and_keeps_the_node_if_it_stays),
        cmocka_unit_test(scenarios_154_and_200_a_pod_of_a_daemon_set_keeps_no_node),
        cmocka_unit_test(scenario_199_a_node_that_cannot_be_marked_stays_and_the_empty_ones_go),
    };
    return cmocka_run_group_tests_name("loop_groups_rounds", tests, NULL, NULL);
}
