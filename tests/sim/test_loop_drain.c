/* A drain that waits says for whom. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define KEPT_YAML                                                                                  \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n"           \
    "spec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n"                                \
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

static void expect_waits(const struct loop *l, const char *want)
{
    if (strstr(l->last[DECISION_DRAIN], want) == NULL)
        fail_msg("\"%s\", not \"%s\"", l->last[DECISION_DRAIN], want);
}

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
    buf_release(&l.history);
    loop_end(&l);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_that_must_not_be_disrupted_is_named),
        cmocka_unit_test(a_budget_that_holds_the_drain_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
