/* The wall clock of the leader's host steps: nothing leaves or is given up by that at once, and nothing is lost. */
#include <stdio.h>
#include <string.h>

#include "kube/meta.h"
#include "tests/sim/support_loop.h"

#define APART                                                                                                      \
    ",\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"                    \
    "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}},\"topologyKey\":\"kubernetes.io/hostname\"}]}}"
#define TENTH "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"10%\"}]}"

static const span_ms MONTH = 720 * MS_HOUR;

static const char *slow_class(const char *delay)
{
    static char yaml[256];
    snprintf(yaml, sizeof(yaml),
             "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{\"name\":"
             "\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"%s\"}}",
             delay);
    return yaml;
}

static size_t count_leaving(struct sim *s)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *claim;
    size_t i, leaving = 0;
    json_array_foreach(all, i, claim) leaving += tree_get(claim, "metadata.deletionTimestamp") != NULL;
    json_decref(all);
    return leaving;
}

static size_t count_created_before(struct sim *s, wall_ms when)
{
    json_t *all = objects_of(s, KIND_NODE_CLAIM), *claim;
    size_t i, before = 0;
    json_array_foreach(all, i, claim)
    {
        wall_ms created;
        assert_true(time_parse(tree_string(claim, "metadata.creationTimestamp"), &created));
        before += created < when;
    }
    json_decref(all);
    return before;
}

static void expect_step(const struct loop *l, const char *direction, const char *sentence)
{
    assert_int_equal(l->decided[DECISION_CLOCK], 1);
    assert_true(l->measured[MEASURE_CLOCK_STEPS] == 1);
    if (strstr(l->last[DECISION_CLOCK], sentence) == NULL)
        fail_msg("%s: \"%s\"", direction, l->last[DECISION_CLOCK]);
}

/* Ten that expire after 30 days, and a budget of a tenth: one goes at a time, and another once eleven are there, since a
 * tenth of them, rounded up as budgets are, is two. */
static void what_a_month_made_expire_leaves_as_budgets_let_it(void **state)
{
    enum { NODES = 10 };
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", TENTH, ",\"expireAfter\":\"720h\""));
    load(s, deployment_yaml("web", NODES, "500m", APART));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), NODES);
    assert_int_equal(l.decided[DECISION_CLOCK], 0);
    loop_step_clock(&l, MONTH);
    wall_ms after = sim_now(s);
    size_t most = 0;
    for (int i = 0; i < 3600 && count_created_before(s, after) != 0; i++) {
        run_for(s, MS_SECOND);
        size_t leaving = count_leaving(s);
        most = leaving > most ? leaving : most;
        if (leaving > (count_objects(s, KIND_NODE) + 9) / 10)
            fail_msg("%zu of %zu leave at once", leaving, count_objects(s, KIND_NODE));
    }
    assert_true(most != 0);
    assert_int_equal(count_created_before(s, after), 0); /* all do at last */
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), NODES);
    expect_step(&l, "forward", "the clock was set forward by 720h0m0s");
    loop_end(&l);
}

/* A machine that is on its way. */
static void what_is_under_way_keeps_its_time(void **state)
{
    (void)state;
    struct loop l = {0};
    struct census claims;
    struct sim *s = new_sim(slow_class("10m"));
    load(s, pool_yaml("general", TENTH, ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    run_for(s, MS_MINUTE);
    assert_int_equal(census_count(&claims), 1);
    loop_step_clock(&l, MS_HOUR);
    run_for(s, 12 * MS_MINUTE);
    assert_int_equal(census_count(&claims), 1);
    assert_int_equal(count_bound(s, "web"), 1);
    expect_step(&l, "forward", "the clock was set forward by 1h0m0s");
    census_end(&claims);
    loop_end(&l);
}

static void a_drain_keeps_its_time(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", TENTH, ",\"terminationGracePeriod\":\"30m\""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: default}\n"
            "spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n");
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    json_t *claim = only(s, KIND_NODE_CLAIM);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(tree_string(claim, "metadata.name")));
    json_decref(claim);
    do_request(s, API_DELETE, KIND_NODE_CLAIM, NULL, name, NULL, 200);
    run_for(s, 10 * MS_MINUTE);
    loop_step_clock(&l, MS_HOUR);
    run_for(s, 15 * MS_MINUTE);
    assert_int_equal(count_pods(s, "web", name), 1); /* its budget holds it */
    run_for(s, 6 * MS_MINUTE);
    assert_int_equal(count_pods(s, "web", name), 0);
    loop_end(&l);
}

/* A machine that never comes is given up in its time, though its claim is an hour in the future. */
static void an_hour_back_loses_nothing(void **state)
{
    (void)state;
    struct loop l = {0};
    struct census claims;
    struct sim *s = new_sim(slow_class("10h"));
    load(s, pool_yaml("general", TENTH, ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    run_for(s, MS_MINUTE);
    l.behind = MS_HOUR;
    run_for(s, 13 * MS_MINUTE);
    assert_int_equal(census_count(&claims), 1);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(census_count(&claims), 2);
    expect_step(&l, "backward", "the clock was set back by 1h0m0s");
    census_end(&claims);
    loop_end(&l);
}

/* Nor does an empty node stay. */
static void empty_nodes_go_after_an_hour_back(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "{\"consolidationPolicy\":\"WhenEmpty\",\"consolidateAfter\":\"5m\",\"budgets\":[{\"nodes\":"
                                 "\"100%\"}]}", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    scale(s, "web", 0);
    run_for(s, MS_MINUTE);
    l.behind = MS_HOUR;
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    run_for(s, 4 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_month_made_expire_leaves_as_budgets_let_it),
        cmocka_unit_test(what_is_under_way_keeps_its_time),
        cmocka_unit_test(a_drain_keeps_its_time),
        cmocka_unit_test(an_hour_back_loses_nothing),
        cmocka_unit_test(empty_nodes_go_after_an_hour_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
