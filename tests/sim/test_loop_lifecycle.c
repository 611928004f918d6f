/* NodeClaims and Nodes from launch to end: scenarios of spec disruption 20.11 to 20.14, by their numbers, that the tables
 * of tests/reconciler/ cannot show. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define PDB(name)                                                                                                       \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " name ", namespace: default}\n"                \
    "spec: {minAvailable: 0, selector: {matchLabels: {app: web}}}\n"

static struct sim *begin(struct loop *l, const char *more, int pods)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", more));
    load(s, deployment_yaml("web", pods, "500m", ""));
    l->keeps = true;
    loop_begin(l, s);
    run_for(s, 60 * MS_SECOND);
    return s;
}

static void end(struct loop *l)
{
    loop_end(l);
}

static const char *name_of(json_t *object)
{
    return json_string_value(tree_get(object, "metadata.name"));
}

/* 208: the eviction API refuses a pod that two budgets select; who else stands there goes. */
static void a_pod_of_two_budgets_holds_the_drain_alone(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 30 * MS_SECOND);
    load(s, PDB("one"));
    load(s, PDB("two"));
    json_t *node = only(s, KIND_NODE);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_pods(s, "web", name_of(node)), 1);
    assert_int_equal(count_pods(s, "other", name_of(node)), 0);
    assert_true(span_contains(buf_span(&l.history), SPAN("eviction does not support multiple PDBs (Pod=default/web")));
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "two", NULL, 200);
    run_for(s, 2 * MS_MINUTE);
    assert_true(is_gone(s, KIND_NODE, "", name_of(node)));
    assert_int_equal(count_bound(s, "web"), 1);
    json_decref(node);
    end(&l);
}

/* 218, 223 */
static void what_a_node_that_leaves_wears(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, ",\"terminationGracePeriod\":\"1h\"", 1);
    load(s, PDB("one"));
    do_request(s, API_MERGE, KIND_DISRUPTION_BUDGET, "default", "one", "{\"spec\":{\"minAvailable\":1}}", 200);
    json_t *node = only(s, KIND_NODE), *taint;
    size_t i, taints = 0;
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name_of(node), NULL, 200);
    run_for(s, 30 * MS_SECOND);
    json_t *claim = object_of(s, KIND_NODE_CLAIM, "", name_of(node));
    json_t *until = json_incref(tree_get(claim, "metadata.annotations"));
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"terminationGracePeriod\":\"1s\"}}}}", 200);
    run_for(s, 5 * MS_MINUTE);
    json_t *later = object_of(s, KIND_NODE_CLAIM, "", name_of(node)), *leaving = object_of(s, KIND_NODE, "", name_of(node));
    assert_non_null(json_object_get(until, "karpenter.sh/nodeclaim-termination-timestamp"));
    assert_true(json_equal(until, tree_get(later, "metadata.annotations")));
    json_array_foreach(tree_get(leaving, "spec.taints"), i, taint)
        taints += tree_is(taint, "key", "karpenter.sh/disrupted");
    assert_int_equal(taints, 1);
    assert_string_equal(json_string_value(json_object_get(tree_get(leaving, "metadata.labels"),
                                                          "node.kubernetes.io/exclude-from-external-load-balancers")),
                        "karpenter");
    json_decref(until);
    json_decref(claim);
    json_decref(later);
    json_decref(leaving);
    json_decref(node);
    end(&l);
}

/* status.lastPodEventTime of the one claim; "" when there is none. */
static void last_event(struct sim *s, char out[64])
{
    json_t *claim = only(s, KIND_NODE_CLAIM);
    struct span text = tree_string(claim, "status.lastPodEventTime");
    snprintf(out, 64, "%.*s", SPAN_ARG(text));
    json_decref(claim);
}

/* 188, 189 */
static void pod_events_are_written_now_and_then(void **state)
{
    static const char agent[] =
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: default}\n"
        "spec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
        "    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 10m}}}]}\n";
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l, "", 1);
    char before[64], now[64];
    last_event(s, before);
    run_for(s, MS_MINUTE);
    load(s, agent);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "agent"), 1);
    last_event(s, now);
    assert_string_equal(now, before);
    load(s, deployment_yaml("other", 1, "10m", ""));
    run_for(s, 3 * MS_SECOND);
    last_event(s, now);
    assert_string_not_equal(now, before);
    scale(s, "other", 2);
    run_for(s, 4 * MS_SECOND);
    assert_int_equal(count_bound(s, "other"), 2);
    last_event(s, before);
    assert_string_equal(now, before);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_of_two_budgets_holds_the_drain_alone),
        cmocka_unit_test(what_a_node_that_leaves_wears),
        cmocka_unit_test(pod_events_are_written_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
