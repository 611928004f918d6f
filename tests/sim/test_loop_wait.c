/* What happens to empty nodes in the 15 seconds in which nothing is done yet: scenarios 67 to 70 of spec disruption. */
#include <stdio.h>

#include "tests/sim/support_moves.h"

static const char *const zones[] = {"a", "b", "c"};

struct wait {
    const char *label;
    void (*meanwhile)(struct loop *l);
    size_t stay;   /* when the wait is just over */
    double failed; /* validations */
};

static void deploy(struct sim *s, const char *zone)
{
    char spec[128];
    snprintf(spec, sizeof(spec), ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-%s\"}", zone);
    load(s, deployment_yaml(zone, 1, "500m", spec));
}

static void nothing(struct loop *l)
{
    (void)l;
}

static void one_pod(struct loop *l)
{
    scale(l->sim, "a", 1);
}

static void three_pods(struct loop *l)
{
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        scale(l->sim, zones[i], 1);
}

static void budget_of_one(struct loop *l)
{
    patch_pool(l->sim, "{\"spec\":{\"disruption\":{\"budgets\":[{\"nodes\":\"1\"}]}}}");
}

/* It is planned for a node, and no scheduler comes for it. */
static void one_on_its_way(struct loop *l)
{
    load(l->sim, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"default\",\"name\":\"late\"},\"spec\":{"
                 "\"schedulerName\":\"another\",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"test-zone-b\"},"
                 "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}]},"
                 "\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
                 "\"reason\":\"Unschedulable\"}]}}");
}

static const struct wait waits[] = {
    {"nothing comes between", nothing, 0, 0},
    {"67: one gets a pod", one_pod, 1, 1},
    {"68: all do", three_pods, 3, 3},
    {"69: the budget falls to one", budget_of_one, 2, 0},
    {"70: a pod is on its way to one", one_on_its_way, 1, 1},
};

static void expect_stay(const struct wait *w)
{
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        deploy(s, zones[i]);
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 3);
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        scale(s, zones[i], 0);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    double failed = l.measured[MEASURE_FAILED_VALIDATIONS];
    w->meanwhile(&l);
    run_for(s, 9 * MS_SECOND);
    size_t kept = count_objects(s, KIND_NODE_CLAIM);
    failed = l.measured[MEASURE_FAILED_VALIDATIONS] - failed;
    json_t *claims = objects_of(s, KIND_NODE_CLAIM), *claim;
    size_t i;
    json_array_foreach(claims, i, claim)
        kept -= tree_get(claim, "metadata.deletionTimestamp") != NULL;
    if (kept != w->stay || failed != w->failed)
        fail_msg("%s: %zu stay, %g validations have failed", w->label, kept, failed);
    json_decref(claims);
    loop_end(&l);
}

static void who_is_wanted_in_the_wait_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(waits); i++)
        expect_stay(&waits[i]);
}

/* 68: what is in vain here keeps nobody else from his turn. */
static void a_wait_in_vain_leaves_others_their_turn(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, pool_yaml("other", drifts, ",\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"}]"));
    load(s, deployment_yaml("web", 1, "500m", ",\"tolerations\":[{\"key\":\"other\",\"operator\":\"Exists\"}],\"nodeSelector\":{"
                                              "\"karpenter.sh/nodepool\":\"other\"}"));
    deploy(s, "a");
    loop_begin(&l, s);
    run_for(s, 60 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    scale(s, "a", 0);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_MOVE], 0);
    double failed = l.measured[MEASURE_FAILED_VALIDATIONS];
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "other",
               "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}", 200);
    scale(s, "a", 1);
    run_for(s, 15 * MS_SECOND);
    assert_int_equal(l.measured[MEASURE_FAILED_VALIDATIONS] - failed, 1);
    assert_true(l.decided[DECISION_MOVE] > 0);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_wanted_in_the_wait_stays),
                                       cmocka_unit_test(a_wait_in_vain_leaves_others_their_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
