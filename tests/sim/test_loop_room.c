/* A DaemonSet comes to nodes that are full: where the NodePool asks for it, pods make room for its own. */
#include <stdlib.h>

#include "tests/sim/support_loop.h"

static const char agent[] = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n"
                            "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
                            "    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}\n";
static const char one_at_a_time[] = "{\"consolidateAfter\":\"Never\",\"budgets\":[{\"nodes\":\"1\"}]}";

/* Pods that fill their nodes to the last 100m, and then the DaemonSet. */
static struct sim *full_cluster(struct loop *l, const char *asks)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", one_at_a_time, ""));
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\","
               "\"operator\":\"In\",\"values\":[\"c-4x-amd64-linux\"]}]}}}}", 200);
    if (asks != NULL)
        do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general", asks, 200);
    load(s, deployment_yaml("web", 12, "1300m", ""));
    loop_begin(l, s);
    run_for(s, 30 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 12);
    assert_int_equal(count_objects(s, KIND_NODE), 4);
    load(s, agent);
    return s;
}

struct watch {
    struct sim *sim;
    size_t most; /* of Nodes on which a pod ends at a time */
};

static wall_ms look(void *user, wall_ms now)
{
    struct watch *w = user;
    json_t *all = objects_of(w->sim, KIND_POD), *nodes = json_object(), *one;
    size_t i;
    (void)now;
    json_array_foreach(all, i, one)
        if (tree_get(one, "metadata.deletionTimestamp") != NULL)
            json_object_set(nodes, json_string_value(tree_get(one, "spec.nodeName")), json_true());
    w->most = json_object_size(nodes) > w->most ? json_object_size(nodes) : w->most;
    json_decref(nodes);
    json_decref(all);
    return INT64_MAX;
}

static void pods_make_room_for_a_daemon_set(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = full_cluster(&l, "{\"metadata\":{\"annotations\":{\"stowage.dev/daemonset-room\":\"true\"}}}");
    struct watch w = {.sim = s};
    sim_add_actor(s, (struct sim_actor){.user = &w, .step = look});
    run_for(s, 10 * MS_MINUTE);
    size_t nodes = count_objects(s, KIND_NODE);
    assert_int_equal(count_bound(s, "web"), 12);
    assert_int_equal(count_bound(s, "agent"), nodes);
    assert_true(nodes <= 6); /* two a node, beside the agent */
    assert_int_equal(w.most, 1);
    assert_true(span_contains(buf_span(&l.history), SPAN("event MakingRoom ")));
    assert_no_orphans(s);
    assert_no_overcommit(s);
    buf_release(&l.history);
    loop_end(&l);
}

static void nobody_does_where_nobody_asks(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = full_cluster(&l, NULL);
    run_for(s, 10 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 12);
    assert_int_equal(count_bound(s, "agent"), 0);
    assert_int_equal(l.decided[DECISION_DRAIN], 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_make_room_for_a_daemon_set),
        cmocka_unit_test(nobody_does_where_nobody_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
