/* CapacityBuffers in a running cluster: room is bought, kept free for pods to come, and given back with the
 * buffer. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define TEMPLATE                                                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"metadata\":{\"name\":\"t\",\"generation\":"  \
    "3},\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"      \
    "\"cpu\":\"1\"}}}]}}}"
#define BUFFER(spec_)                                                                              \
    "{\"apiVersion\":\"autoscaling.x-k8s.io/v1beta1\",\"kind\":\"CapacityBuffer\",\"metadata\":{"   \
    "\"name\":\"b\"},\"spec\":{" spec_ "}}"
#define FROM_TEMPLATE "\"podTemplateRef\":{\"name\":\"t\"}"
#define FROM_WEB "\"scalableRef\":{\"apiGroup\":\"apps\",\"kind\":\"Deployment\",\"name\":\"web\"}"
#define STRATEGY "\"provisioningStrategy\":\"buffer.x-k8s.io/active-capacity\""

#define ROOM_FOR_TWO BUFFER(FROM_TEMPLATE ",\"replicas\":2")
#define OBJECTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct sim *cluster(const char *const *objects)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    for (; *objects != NULL; objects++)
        load(s, *objects);
    return s;
}

/* A cluster with these objects, and a Stowage that knows of buffers in it. */
static struct sim *begin(struct loop *l, const char *const *objects)
{
    *l = (struct loop){.keeps = true, .world = {.capacity_buffer = true}};
    loop_begin(l, cluster(objects));
    return l->sim;
}

/* "True FitsExistingCapacity: All 2 …", "" without the condition. Static storage. */
static const char *condition(struct sim *s, const char *type)
{
    static char text[512];
    json_t *b = object_of(s, KIND_CAPACITY_BUFFER, "default", "b");
    json_t *c = tree_condition(b, type);
    text[0] = '\0';
    if (c != NULL)
        snprintf(text, sizeof(text), "%.*s %.*s: %.*s", SPAN_ARG(tree_string(c, "status")),
                 SPAN_ARG(tree_string(c, "reason")), SPAN_ARG(tree_string(c, "message")));
    json_decref(b);
    return text;
}

static int64_t number(struct sim *s, const char *path)
{
    json_t *b = object_of(s, KIND_CAPACITY_BUFFER, "default", "b");
    int64_t n = tree_int(b, path, -1);
    json_decref(b);
    return n;
}

static void expect_text(struct sim *s, const char *path, const char *want)
{
    json_t *b = object_of(s, KIND_CAPACITY_BUFFER, "default", "b");
    if (!span_eq(tree_string(b, path), span_of(want)))
        fail_msg("%s: %.*s, not %s", path, SPAN_ARG(tree_string(b, path)), want);
    json_decref(b);
}

/* Until the condition reads so; how long that took. */
static span_ms until(struct sim *s, const char *type, const char *want)
{
    wall_ms began = sim_now(s);
    while (strcmp(condition(s, type), want) != 0) {
        if (sim_now(s) - began > 2 * MS_MINUTE)
            fail_msg("%s is %s, not %s", type, condition(s, type), want);
        run_for(s, 50);
    }
    return sim_now(s) - began;
}

static uint32_t plans(const struct loop *l)
{
    static const char text[] = "karpenter_scheduler_scheduling_duration_seconds";
    uint32_t n = 0;
    for (const char *at = l->history.ptr; at != NULL && (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

/* Disruption 242 */
static void room_is_bought_and_kept(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(TEMPLATE, BUFFER(FROM_TEMPLATE ",\"replicas\":2," STRATEGY)));
    until(s, "Provisioning", "False RequiresNewCapacity: 2/2 virtual pods required new capacity, 0 failed");
    until(s, "Provisioning", "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity");
    assert_string_equal(condition(s, "ReadyForProvisioning"),
                        "True Resolved: Pod template resolved successfully");
    assert_string_equal(condition(s, "Ready"), ""); /* there is no such one */
    assert_int_equal(number(s, "status.replicas"), 2);
    assert_int_equal(number(s, "status.podTemplateGeneration"), 3);
    expect_text(s, "status.podTemplateRef.name", "t");
    expect_text(s, "status.provisioningStrategy", "buffer.x-k8s.io/active-capacity");
    run_for(s, 10 * MS_MINUTE); /* an empty node leaves after 15 s */
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_int_equal(count_objects(s, KIND_POD), 0);
    assert_null(strstr(l.history.ptr, "capacity-buffer-")); /* nobody is told of virtual pods */
    assert_null(strstr(l.history.ptr, "unschedulable_pods_count controller=provisioner 1"));
    uint64_t version = sim_cluster_version(sim_cluster(s));
    run_for(s, 5 * MS_MINUTE); /* nothing is written for nothing, kubelets' Leases apart */
    assert_int_equal(sim_cluster_version(sim_cluster(s)), version);
    loop_end(&l);
}

/* 224, disruption 242: it goes, the planner is woken, and so its node may leave. */
static void without_the_buffer_the_node_leaves(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(TEMPLATE, ROOM_FOR_TWO));
    run_for(s, 95 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    uint32_t before = plans(&l);
    do_request(s, API_DELETE, KIND_CAPACITY_BUFFER, "default", "b", NULL, 200);
    run_for(s, 2 * MS_SECOND);
    assert_int_equal(plans(&l), before + 1);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(plans(&l), before + 1); /* and nothing wakes it any more */
    loop_end(&l);
}

/* A new leader has no plan yet: it must not take the node for empty. */
static void a_new_leader_keeps_the_room(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(TEMPLATE, ROOM_FOR_TWO));
    run_for(s, 2 * MS_MINUTE);
    for (int i = 0; i < 3; i++) {
        loop_stop(&l);
        run_for(s, 40 * MS_SECOND);
        assert_int_equal(count_objects(s, KIND_NODE), 1);
    }
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    assert_int_equal(l.starts, 4);
    loop_end(&l);
}

/* Pods that come go where the room is, at once; then there is new room. */
static void pods_take_the_room(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(TEMPLATE, ROOM_FOR_TWO));
    run_for(s, 95 * MS_SECOND); /* between two of its plans */
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    load(s, deployment_yaml("web", 2, "1", "")); /* of the node's 3.9 CPUs 1.9 are left */
    run_for(s, 3 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 2);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    until(s, "Provisioning", "False RequiresNewCapacity: 1/2 virtual pods required new capacity, 0 failed");
    until(s, "Provisioning", "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity");
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    loop_end(&l);
}

/* 224: a share of a workload follows its scale at once; who is not meant does not move. */
static void a_share_follows_the_workload(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(deployment_yaml("web", 4, "100m", ""),
                                      deployment_yaml("other", 1, "100m", ""),
                                      BUFFER(FROM_WEB ",\"percentage\":50")));
    run_for(s, 95 * MS_SECOND);
    assert_int_equal(number(s, "status.replicas"), 2);
    assert_int_equal(number(s, "status.podTemplateGeneration"), -1);
    expect_text(s, "status.podTemplateRef.name", "");
    uint32_t before = plans(&l);
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "web", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", 200);
    do_request(s, API_MERGE, KIND_DEPLOYMENT, "default", "other", "{\"spec\":{\"paused\":true}}", 200);
    run_for(s, 4 * MS_SECOND);
    assert_int_equal(plans(&l), before);
    scale(s, "web", 7);
    run_for(s, 4 * MS_SECOND);
    assert_int_equal(number(s, "status.replicas"), 4);
    assert_true(plans(&l) > before);
    loop_end(&l);
}

/* 224: what cannot be resolved wakes the planner too, since its pods were dropped. */
static void what_cannot_be_resolved_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *buffer, *ready;
    } rows[] = {
        {BUFFER("\"replicas\":2"), "False ResolutionFailed: Neither podTemplateRef nor scalableRef is set"},
        {BUFFER("\"podTemplateRef\":{\"name\":\"none\"},\"replicas\":2"),
         "False PodTemplateNotFound: there is no PodTemplate none"},
        {BUFFER(FROM_WEB ",\"replicas\":2"), "False ScalableRefNotFound: there is no Deployment web"},
        {BUFFER("\"scalableRef\":{\"kind\":\"Job\",\"name\":\"web\"},\"replicas\":2"),
         "False ResolutionFailed: scalableRef names Job, not a Deployment, ReplicaSet or StatefulSet of apps"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct loop l;
        struct sim *s = begin(&l, OBJECTS(TEMPLATE, rows[i].buffer));
        until(s, "ReadyForProvisioning", rows[i].ready);
        until(s, "Provisioning", "False NotReadyForProvisioning: Buffer is not ReadyForProvisioning");
        run_for(s, 2 * MS_SECOND);
        assert_true(plans(&l) != 0);
        assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
        loop_end(&l);
    }
}

static void a_template_that_comes_later_is_found(void **state)
{
    (void)state;
    struct loop l;
    static const char elsewhere[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"metadata\":{\"name\":\"t\",\"namespace\":"
        "\"elsewhere\"},\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}";
    struct sim *s = begin(&l, OBJECTS(ROOM_FOR_TWO, elsewhere));
    until(s, "ReadyForProvisioning", "False PodTemplateNotFound: there is no PodTemplate t");
    load(s, TEMPLATE);
    run_for(s, 3 * MS_SECOND);
    assert_string_equal(condition(s, "ReadyForProvisioning"),
                        "True Resolved: Pod template resolved successfully");
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    loop_end(&l);
}

static void nothing_wanted_is_nothing_done(void **state)
{
    (void)state;
    struct loop l;
    struct sim *s = begin(&l, OBJECTS(TEMPLATE, BUFFER(FROM_TEMPLATE ",\"replicas\":0")));
    until(s, "Provisioning", "False BufferEmpty: Buffer has zero desired replicas");
    run_for(s, MS_MINUTE);
    assert_int_equal(number(s, "status.replicas"), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    loop_end(&l);
}

/* Virtual pods that no pool can hold fail in the buffer's status, and nowhere else. */
static void what_has_no_place_is_told_on_the_buffer(void **state)
{
    (void)state;
    struct loop l;
    static const char too_large[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"PodTemplate\",\"metadata\":{\"name\":\"t\"},\"template\":{"
        "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"5000\"}}}]}}}";
    struct sim *s = begin(&l, OBJECTS(too_large, BUFFER(FROM_TEMPLATE ",\"replicas\":3")));
    until(s, "Provisioning", "False RequiresNewCapacity: 0/3 virtual pods required new capacity, 3 failed");
    assert_null(strstr(l.history.ptr, "event FailedScheduling"));
    assert_non_null(strstr(l.history.ptr, "unschedulable_pods_count controller=provisioner 0"));
    assert_null(strstr(l.history.ptr, "unschedulable_pods_count controller=provisioner 3"));
    assert_int_equal(l.decided[DECISION_NO_PLACE], 0);
    loop_end(&l);
}

static void without_the_gate_buffers_are_left_alone(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = cluster(OBJECTS(TEMPLATE, ROOM_FOR_TWO));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_string_equal(condition(s, "ReadyForProvisioning"), "");
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_bought_and_kept),
        cmocka_unit_test(without_the_buffer_the_node_leaves),
        cmocka_unit_test(a_new_leader_keeps_the_room),
        cmocka_unit_test(pods_take_the_room),
        cmocka_unit_test(a_share_follows_the_workload),
        cmocka_unit_test(what_cannot_be_resolved_says_so),
        cmocka_unit_test(a_template_that_comes_later_is_found),
        cmocka_unit_test(nothing_wanted_is_nothing_done),
        cmocka_unit_test(what_has_no_place_is_told_on_the_buffer),
        cmocka_unit_test(without_the_gate_buffers_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
