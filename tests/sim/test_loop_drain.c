/* A drain that waits says for whom. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define KEPT_YAML                                                                                  \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n"           \
    "spec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n"                                \
    "  template:\n    metadata: {labels: {app: web}, annotations: {karpenter.sh/do-not-disrupt: 'true'}}\n" \
    "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 500m}}}]}\n"
#define TWO_KEPT_YAML                                                                              \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n"           \
    "spec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n"                                \
    "  template:\n    metadata: {labels: {app: web}, annotations: {karpenter.sh/do-not-disrupt: 'true'}}\n" \
    "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 500m}}}]}\n"
#define BUDGET_YAML                                                                                \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\n"                                           \
    "metadata: {name: web, namespace: default}\n"                                                  \
    "spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n"

/* A cluster whose one node is to leave, with a pod on it that may not. */
static struct sim *begin(struct loop *l, const char *workload)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, workload);
    load(s, BUDGET_YAML);
    l->keeps = true;
    loop_begin(l, s);
    run_for(s, 40 * MS_SECOND);
    json_t *all = objects_of(s, KIND_NODE_CLAIM);
    assert_int_equal(json_array_size(all), 1);
    buf_clear(&l->history);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL,
               json_string_value(tree_get(json_array_get(all, 0), "metadata.name")), NULL, 200);
    json_decref(all);
    run_for(s, 30 * MS_MINUTE);
    return s;
}

static uint32_t count_events(const struct loop *l, const char *about, const char *note)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&l->history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, SPAN("event ")) && span_contains(line, span_of(about)) &&
                 span_contains(line, span_of(note));
    }
    return found;
}

static uint32_t count_lines(const struct loop *l, const char *want)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&l->history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_eq(line, span_of(want));
    }
    return found;
}

static void expect_waits(const struct loop *l, const char *want)
{
    if (strstr(l->last[DECISION_DRAIN], want) == NULL)
        fail_msg("\"%s\", not \"%s\"", l->last[DECISION_DRAIN], want);
}

/* 217: it waits as long as it takes. */
static void a_pod_that_must_not_be_disrupted_is_named(void **state)
{
    (void)state;
    struct loop l = {0};
    begin(&l, KEPT_YAML);
    assert_int_equal(count_events(&l, "FailedDraining", "Failed to drain node, 1 pods are waiting to be "
                                                        "evicted; pod default/web-"),
                     1);
    assert_int_equal(count_events(&l, "FailedDraining", ""), 1);
    expect_waits(&l, "1 pod waits to be evicted: pod default/web-");
    expect_waits(&l, " has annotation karpenter.sh/do-not-disrupt");
    assert_true(l.measured[MEASURE_PODS_DRAINED] == 0);
    buf_release(&l.history);
    loop_end(&l);
}

/* Writes the name of the pod that is reported to hold the drain. */
static void name_holder(const struct loop *l, char *out, size_t size)
{
    const char *at = strstr(l->last[DECISION_DRAIN], "pod default/");
    assert_non_null(at);
    at += strlen("pod default/");
    const char *end = strstr(at, " has annotation");
    assert_non_null(end);
    snprintf(out, size, "%.*s", (int)(end - at), at);
}

/* 217: each pod that holds the drain is reported, also the second one. */
static void the_next_pod_that_holds_the_drain_is_named(void **state)
{
    (void)state;
    struct loop l = {0};
    char first[64], second[64], note[160];
    struct sim *s = begin(&l, TWO_KEPT_YAML);
    name_holder(&l, first, sizeof(first));
    assert_int_equal(count_events(&l, "FailedDraining", "Failed to drain node, 2 pods are waiting to be evicted; pod "), 1);
    do_request(s, API_DELETE, KIND_POD, "default", first, NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    name_holder(&l, second, sizeof(second));
    assert_string_not_equal(first, second);
    snprintf(note, sizeof(note), "waiting to be evicted; pod default/%s has", second);
    assert_int_equal(count_events(&l, "FailedDraining", note), 1);
    assert_int_equal(count_events(&l, "FailedDraining", ""), 2);
    buf_release(&l.history);
    loop_end(&l);
}

/* 207 */
static void a_budget_that_holds_the_drain_is_named(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, deployment_yaml("web", 1, "500m", ""));
    assert_int_equal(count_events(&l, "FailedDraining", "1 pods are waiting to be evicted; "
                                                        "PodDisruptionBudget default/web allows no eviction"),
                     1);
    assert_true(count_events(&l, "FailedDraining", "evicting pod violates a PDB") != 0);
    expect_waits(&l, "PodDisruptionBudget default/web allows no eviction (1 of 1 must stay)");
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "web", NULL, 200);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1); /* another one */
    assert_int_equal(count_bound(s, "web"), 1);
    assert_string_equal(l.last[DECISION_DRAIN], ""); /* nothing waits any more */
    buf_release(&l.history);
    loop_end(&l);
}

/* A pod bound to a node at once, as a controller that names it would make it. */
static void load_pod_on(struct sim *s, const char *name, const char *node)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\","
             "\"labels\":{\"app\":\"bare\"}},\"spec\":{\"nodeName\":\"%s\",\"terminationGracePeriodSeconds\":1,"
             "\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}",
             name, node);
    load(s, text);
}

/* A cluster with one node, under a pod that may go. */
static struct sim *begin_with_one(struct loop *l, char *node_out, size_t size)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    l->keeps = true;
    loop_begin(l, s);
    run_for(s, 40 * MS_SECOND);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    snprintf(node_out, size, "%s", json_string_value(tree_get(claim, "metadata.name")));
    json_decref(claim);
    return s;
}

/* 209: who is not there any more is not asked for again. */
static void a_pod_that_is_gone_is_asked_for_once(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin_with_one(&l, node, sizeof(node));
    load_pod_on(s, "once", node);
    run_for(s, 5 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_POD, sim_now(s) + 40 * MS_SECOND, false);
    do_request(s, API_DELETE, KIND_POD, "default", "once", NULL, 200);
    run_for(s, 3 * MS_SECOND);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, node, NULL, 200);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_lines(&l, "karpenter_nodes_eviction_requests_total code=404 1"), 1);
    run_for(s, 40 * MS_SECOND);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    loop_end(&l);
}

/* 209, 210: what we know of is gone, and another of its name is there, whom nobody has told to go. */
static void a_pod_of_the_same_name_is_not_evicted(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin_with_one(&l, node, sizeof(node));
    load_pod_on(s, "twin", node);
    run_for(s, 5 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_POD, sim_now(s) + 40 * MS_SECOND, false);
    do_request(s, API_DELETE, KIND_POD, "default", "twin", NULL, 200);
    run_for(s, 3 * MS_SECOND);
    assert_true(is_gone(s, KIND_POD, "default", "twin"));
    load_pod_on(s, "twin", node);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, node, NULL, 200);
    run_for(s, 20 * MS_SECOND);
    json_t *twin = object_of(s, KIND_POD, "default", "twin");
    assert_non_null(twin);
    assert_null(tree_get(twin, "metadata.deletionTimestamp"));
    json_decref(twin);
    assert_int_equal(count_lines(&l, "karpenter_nodes_eviction_requests_total code=409 1"), 1); /* nor asked for again */
    run_for(s, 40 * MS_SECOND); /* it is seen, and told */
    assert_true(is_gone(s, KIND_POD, "default", "twin"));
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    loop_end(&l);
}

static bool is_fenced(struct sim *s, const char *name)
{
    json_t *node = object_of(s, KIND_NODE, NULL, name), *taint;
    size_t i;
    bool found = false;
    json_array_foreach(tree_get(node, "spec.taints"), i, taint)
        found |= tree_is(taint, "key", "karpenter.sh/disrupted");
    json_decref(node);
    return found;
}

/* The taint of an empty node was written, and not yet seen by who bound a pod. */
static void a_node_onto_which_a_pod_slips_is_given_back(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin_with_one(&l, node, sizeof(node));
    scale(s, "web", 0);
    for (int i = 0; i < 6000 && !is_fenced(s, node); i++)
        run_for(s, 10);
    assert_true(is_fenced(s, node));
    load_pod_on(s, "slips", node);
    run_for(s, 30 * MS_SECOND);
    assert_false(is_fenced(s, node));
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, node), *pod = object_of(s, KIND_POD, "default", "slips");
    assert_non_null(claim);
    assert_non_null(pod);
    assert_null(tree_get(claim, "metadata.deletionTimestamp"));
    assert_null(tree_get(pod, "metadata.deletionTimestamp"));
    json_decref(claim);
    json_decref(pod);
    loop_end(&l);
}

/* 219: the scheduler may not have seen the taint yet: whom it binds in the first seconds is told to go like the others. */
static void a_machine_stays_for_five_seconds_after_the_taint(void **state)
{
    (void)state;
    struct loop l = {0};
    char node[64];
    struct sim *s = begin_with_one(&l, node, sizeof(node));
    scale(s, "web", 0);
    run_for(s, 3 * MS_SECOND);
    buf_clear(&l.history);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, node, NULL, 200);
    run_for(s, 4 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, NULL, node);
    assert_false(tree_condition_is(claim, "Drained", "True"));
    json_decref(claim);
    load_pod_on(s, "late", node);
    run_for(s, 20 * MS_SECOND);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    assert_int_equal(count_events(&l, "event Evicted late", ""), 1);
    loop_end(&l);
}

static enum sim_fate refuse_evictions(void *user, uint64_t number, const struct api_request *r,
                                      struct sim_refusal *refusal)
{
    uint32_t *left = user;
    (void)number;
    if (r->verb != API_EVICT || *left == 0)
        return SIM_PASS;
    (*left)--;
    *refusal = (struct sim_refusal){429, "TooManyRequests", "Too many requests, please try again later.", 1};
    return SIM_REFUSE;
}

/* 207: both are 429; the one says something of the pod, and is told to people, the other does not. */
static void a_busy_server_is_no_budget(void **state)
{
    (void)state;
    uint32_t refused = 3;
    struct loop l = {.faults = {.user = &refused, .before = refuse_evictions}};
    char node[64];
    struct sim *s = begin_with_one(&l, node, sizeof(node));
    buf_clear(&l.history);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, node, NULL, 200);
    run_for(s, MS_MINUTE);
    assert_int_equal(refused, 0);
    assert_int_equal(count_events(&l, "FailedDraining", "violates a PDB"), 0);
    assert_true(is_gone(s, KIND_NODE, NULL, node));
    assert_int_equal(count_bound(s, "web"), 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_that_is_gone_is_asked_for_once),
        cmocka_unit_test(a_pod_of_the_same_name_is_not_evicted),
        cmocka_unit_test(a_machine_stays_for_five_seconds_after_the_taint),
        cmocka_unit_test(a_node_onto_which_a_pod_slips_is_given_back),
        cmocka_unit_test(a_busy_server_is_no_budget),
        cmocka_unit_test(a_pod_that_must_not_be_disrupted_is_named),
        cmocka_unit_test(the_next_pod_that_holds_the_drain_is_named),
        cmocka_unit_test(a_budget_that_holds_the_drain_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
