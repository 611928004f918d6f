/* The stand-ins, as whoever watches the cluster sees them. */
#include "tests/sim/support_sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/sample.h"

static size_t count_started_after(struct sim *s, wall_ms t)
{
    json_t *pods = objects_of(s, KIND_POD), *pod;
    size_t i, n = 0;
    wall_ms at;
    json_array_foreach(pods, i, pod)
        n += time_parse(tree_string(pod, "status.startTime"), &at) && at > t;
    json_decref(pods);
    return n;
}

static void deployment_runs(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
    load(s, deployment_yaml("web", 5, "1", ""));
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 4);
    assert_int_equal(count_pods(s, "web", ""), 1);
    assert_string_equal(why_pending(s), "0/1 nodes are available: 1 Insufficient cpu.");
    json_t *d = object_of(s, KIND_DEPLOYMENT, "default", "web");
    assert_int_equal(tree_int(d, "status.readyReplicas", 0), 4);
    json_decref(d);

    scale(s, "web", 4); /* the one that waits goes first, so that nobody starts anew */
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 4);
    assert_int_equal(count_started_after(s, START + 9 * MS_SECOND), 0);
    scale(s, "web", 0);
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", NULL), 0);
    sim_free(s);
}

static void created_nodes_become_ready(void **state)
{
    (void)state;
    struct sim *s = new_sim(deployment_yaml("web", 2, "1", ""));
    run_for(s, MS_SECOND);
    assert_string_equal(why_pending(s), "no nodes available to schedule pods");
    do_request(s, API_CREATE, KIND_NODE, NULL, NULL, node_yaml("a", "4", "8Gi"), 201);
    run_for(s, 500);
    assert_int_equal(count_pods(s, "web", "a"), 0);
    assert_string_equal(why_pending(s), "0/1 nodes are available: 1 node(s) had untolerated taint(s).");
    run_for(s, 5 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 2);
    json_t *node = object_of(s, KIND_NODE, NULL, "a");
    assert_true(tree_condition_is(node, "Ready", "True"));
    assert_null(tree_get(node, "spec.taints"));
    json_decref(node);
    sim_free(s);
}

static void selectors_and_taints(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
    load(s, deployment_yaml("picky", 1, "1", ",\"nodeSelector\":{\"kubernetes.io/hostname\":\"b\"}"));
    run_for(s, 2 * MS_SECOND);
    assert_string_equal(why_pending(s),
                        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
    load(s, ready_node_yaml("b", "4", "8Gi"));
    run_for(s, 2 * MS_SECOND);
    assert_int_equal(count_pods(s, "picky", "b"), 1);
    sim_free(s);
}

static const char daemons[] =
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n"
    "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
    "    spec:\n      nodeSelector: {daemons: welcome}\n      containers:\n"
    "        - {name: c, image: i, resources: {requests: {cpu: 500m}}}\n";

static void daemons_come_to_every_node_that_suits(void **state)
{
    (void)state;
    struct sim *s = new_sim(daemons);
    load(s, ready_node_yaml("a", "4", "8Gi"));
    load(s, ready_node_yaml("b", "4", "8Gi"));
    do_request(s, API_MERGE, KIND_NODE, NULL, "a", "{\"metadata\":{\"labels\":{\"daemons\":\"welcome\"}}}", 200);
    run_for(s, 3 * MS_SECOND);
    assert_int_equal(count_pods(s, "agent", "a"), 1);
    assert_int_equal(count_pods(s, "agent", NULL), 1);
    do_request(s, API_MERGE, KIND_NODE, NULL, "b", "{\"metadata\":{\"labels\":{\"daemons\":\"welcome\"}}}", 200);
    load(s, deployment_yaml("web", 8, "1", "")); /* 3 a node, beside the daemon */
    run_for(s, 3 * MS_SECOND);
    assert_int_equal(count_pods(s, "agent", "b"), 1);
    assert_int_equal(count_pods(s, "web", "a") + count_pods(s, "web", "b"), 6);
    assert_no_overcommit(s);
    sim_free(s);
}

/* Tolerations mean to a DaemonSet's pods what they mean to the planner. */
static void daemons_come_where_taints_are_tolerated(void **state)
{
    (void)state;
    static const struct {
        const char *taint, *toleration;
        size_t pods;
    } rows[] = {
        {"{key: k, value: '5', effect: NoSchedule}", "", 0},
        {"{key: k, value: '5', effect: NoSchedule}", "{key: k, operator: Lt, value: '6'}", 1},
        {"{key: k, value: '5', effect: NoSchedule}", "{key: k, operator: Lt, value: '5'}", 0},
        {"{key: k, value: '5', effect: NoExecute}", "{key: k, operator: Gt, value: '4', effect: NoExecute}", 1},
        {"{key: k, value: '5', effect: NoExecute}", "{key: k, operator: Gt, value: '4', effect: NoSchedule}", 0},
        {"{key: k, value: five, effect: NoSchedule}", "{key: k, operator: Lt, value: '6'}", 0},
        {"{key: k, value: '5', effect: NoSchedule}", "{key: k, value: '5'}", 1},
        {"{key: k, value: '5', effect: NoSchedule}", "{key: k, value: '6'}", 0},
        {"{key: k, effect: NoSchedule}", "{key: k}", 1},
        {"{key: k, effect: NoSchedule}", "{operator: Exists}", 1},
        {"{key: k, effect: NoSchedule}", "{key: other, operator: Exists}", 0},
        {"{key: k, effect: PreferNoSchedule}", "", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n"
                 "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
                 "    spec: {tolerations: [%s], containers: [{name: c, image: i}]}\n---\n"
                 "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {taints: [%s]}\n"
                 "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}, conditions: [{type: Ready, status: 'True'}]}\n",
                 rows[i].toleration, rows[i].taint);
        struct sim *s = new_sim(text);
        run_for(s, 3 * MS_SECOND);
        if (count_pods(s, "agent", NULL) != rows[i].pods || count_pods(s, "agent", "a") != rows[i].pods)
            fail_msg("%s, %s: %zu pods, %zu bound", rows[i].taint, rows[i].toleration,
                     count_pods(s, "agent", NULL), count_pods(s, "agent", "a"));
        sim_free(s);
    }
}

static void pods_of_a_lost_node_are_replaced(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
    load(s, deployment_yaml("web", 2, "1", ""));
    run_for(s, 3 * MS_SECOND);
    do_request(s, API_DELETE, KIND_NODE, NULL, "a", NULL, 200);
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 2);
    run_for(s, 15 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 0);
    assert_int_equal(count_pods(s, "web", ""), 2);
    sim_free(s);
}

static void evicted_pods_take_their_grace(void **state)
{
    (void)state;
    struct sim_options o = {.delays = {.pod_stop = 3 * MS_SECOND}};
    struct sim *s = new_sim_with(&o, ready_node_yaml("a", "4", "8Gi"));
    load(s, deployment_yaml("web", 1, "1", ",\"terminationGracePeriodSeconds\":60"));
    run_for(s, 3 * MS_SECOND);
    json_t *pods = objects_of(s, KIND_POD);
    const char *name = json_string_value(tree_get(json_array_get(pods, 0), "metadata.name"));
    char body[512];
    snprintf(body, sizeof body, "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"%s\"}}", name);
    do_request(s, API_EVICT, KIND_POD, "default", name, body, 201);
    run_for(s, 2 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 2); /* the old one still ends, the new one is there */
    run_for(s, 2 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 1);
    json_decref(pods);
    sim_free(s);
}

static bool has_taint(struct sim *s, const char *node, const char *key)
{
    json_t *o = object_of(s, KIND_NODE, NULL, node), *taint;
    size_t i;
    bool found = false;
    json_array_foreach(tree_get(o, "spec.taints"), i, taint)
        found = found || tree_is(taint, "key", key);
    json_decref(o);
    return found;
}

static void a_cordoned_node_takes_no_pods(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
    do_request(s, API_MERGE, KIND_NODE, NULL, "a", "{\"spec\":{\"unschedulable\":true}}", 200);
    run_for(s, MS_SECOND);
    assert_true(has_taint(s, "a", "node.kubernetes.io/unschedulable"));
    load(s, deployment_yaml("web", 1, "1", ""));
    run_for(s, 3 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", "a"), 0);
    do_request(s, API_MERGE, KIND_NODE, NULL, "a", "{\"spec\":{\"unschedulable\":null}}", 200);
    run_for(s, 3 * MS_SECOND);
    assert_false(has_taint(s, "a", "node.kubernetes.io/unschedulable"));
    assert_int_equal(count_pods(s, "web", "a"), 1);
    sim_free(s);
}

static void expect_budget(struct sim *s, int64_t desired, int64_t healthy, int64_t allowed)
{
    json_t *b = object_of(s, KIND_DISRUPTION_BUDGET, "default", "web");
    assert_int_equal(tree_int(b, "status.expectedPods", -1), 3);
    assert_int_equal(tree_int(b, "status.desiredHealthy", -1), desired);
    assert_int_equal(tree_int(b, "status.currentHealthy", -1), healthy);
    assert_int_equal(tree_int(b, "status.disruptionsAllowed", -1), allowed);
    json_decref(b);
}

/* Half of three is two. */
static void a_budget_counts_who_is_ready(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "2", "8Gi"));
    load(s, deployment_yaml("web", 3, "1", ""));
    load(s, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 50%, "
            "selector: {matchLabels: {app: web}}}\n");
    run_for(s, 5 * MS_SECOND);
    expect_budget(s, 2, 2, 0); /* the third waits for room */
    load(s, ready_node_yaml("b", "2", "8Gi"));
    run_for(s, 5 * MS_SECOND);
    expect_budget(s, 2, 3, 1);
    sim_free(s);
}

/* ---- the extender ---- */

struct fake_extender {
    const char *keep, *prefer; /* node names; NULL: all, none */
    bool fails;
    int asked;
    char last[4096];
};

static bool fake_filter(void *user, struct span args, struct buf *reply)
{
    struct fake_extender *e = user;
    json_t *asked = tree_parse(args), *name, *kept = json_array(), *failed = json_object();
    size_t i;
    e->asked++;
    snprintf(e->last, sizeof e->last, "%.*s", SPAN_ARG(args));
    json_array_foreach(tree_get(asked, "NodeNames"), i, name) {
        if (e->keep == NULL || strcmp(json_string_value(name), e->keep) == 0)
            json_array_append(kept, name);
        else
            json_object_set_new(failed, json_string_value(name), json_string("room is planned for others"));
    }
    json_t *answer = json_pack("{s:n, s:o, s:{}, s:o, s:s}", "Nodes", "NodeNames", kept, "FailedNodes",
                               "FailedAndUnresolvableNodes", failed, "Error", "");
    tree_put(reply, answer);
    json_decref(answer);
    json_decref(asked);
    return !e->fails;
}

static bool fake_prioritize(void *user, struct span args, struct buf *reply)
{
    const struct fake_extender *e = user;
    (void)args;
    buf_addf(reply, "[{\"Host\":\"%s\",\"Score\":10}]", e->prefer != NULL ? e->prefer : "none");
    return true;
}

static void extender_decides(void **state)
{
    (void)state;
    static const struct row {
        const char *label, *keep, *prefer;
        bool fails;
        const char *node, *why;
    } rows[] = {
        {"no opinion", NULL, NULL, false, "a", ""},
        {"keeps one", "b", NULL, false, "b", ""},
        {"prefers one", NULL, "b", false, "b", ""},
        {"refuses all", "none", NULL, false, "", "0/2 nodes are available: 2 room is planned for others."},
        {"fails: ignored", "none", NULL, true, "a", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct fake_extender fake = {.keep = row->keep, .prefer = row->prefer, .fails = row->fails};
        struct sim_extender e = {.user = &fake, .filter = fake_filter, .prioritize = fake_prioritize};
        struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
        load(s, ready_node_yaml("b", "4", "8Gi"));
        sim_set_extender(s, &e);
        load(s, deployment_yaml("web", 1, "1", ""));
        run_for(s, 3 * MS_SECOND);
        if (count_pods(s, "web", row->node) != 1 || strcmp(why_pending(s), row->why) != 0)
            fail_msg("%s: not on \"%s\", or another reason: %s", row->label, row->node, why_pending(s));
        assert_true(fake.asked > 0);
        json_t *args = tree_parse(span_of(fake.last));
        assert_true(tree_is(args, "Pod.metadata.labels.app", "web"));
        assert_int_equal(json_array_size(tree_get(args, "NodeNames")), 2);
        json_decref(args);
        sim_free(s);
    }
}

/* ---- the clock ---- */

static void packs_without_overcommit(void **state)
{
    (void)state;
    struct sim *s = new_sim(ready_node_yaml("a", "4", "8Gi"));
    uint32_t seed = 7;
    load(s, ready_node_yaml("b", "8", "16Gi"));
    load(s, ready_node_yaml("c", "2", "4Gi"));
    for (int round = 0; round < 30; round++) {
        char name[16], cpu[16];
        seed = seed * 1664525u + 1013904223u;
        snprintf(name, sizeof name, "d%u", (seed >> 8) % 6);
        snprintf(cpu, sizeof cpu, "%um", 100 + (seed >> 12) % 1500);
        load(s, deployment_yaml(name, (int)((seed >> 24) % 7), cpu, ""));
        run_for(s, 200 + (seed >> 20) % 3000);
        assert_no_overcommit(s);
    }
    sim_free(s);
}

static char *life_story(const struct sim_options *o)
{
    struct buf text = {0};
    struct err err;
    struct sim *s = new_sim_with(o, ready_node_yaml("a", "16", "64Gi"));
    assert_true(sample_start(s, &err));
    run_for(s, 400 * MS_SECOND);
    json_t *pods = objects_of(s, KIND_POD);
    tree_put(&text, pods);
    json_decref(pods);
    sim_free(s);
    return text.ptr;
}

static void two_runs_are_the_same(void **state)
{
    (void)state;
    struct sim_options o = {.cluster = {.apply_delay = 3, .watch_delay = 10}};
    char *first = life_story(&o), *second = life_story(&o);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void sample_plays(void **state)
{
    (void)state;
    struct err err;
    struct sim *s = new_sim("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}");
    assert_true(sample_start(s, &err));
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(sim_cluster_count(sim_cluster(s), KIND_NODE_POOL), 2);
    assert_int_equal(count_pods(s, "web", ""), 12);
    assert_int_equal(count_pods(s, "thumbnails", ""), 40);
    run_for(s, 80 * MS_SECOND); /* 120 s: the night */
    assert_int_equal(count_pods(s, "web", NULL), 4);
    assert_int_equal(count_pods(s, "search", NULL), 0);
    assert_int_equal(count_pods(s, "thumbnails", NULL), 0);
    run_for(s, 60 * MS_SECOND); /* 180 s: the morning */
    assert_int_equal(count_pods(s, "web", NULL), 16);
    assert_int_equal(count_pods(s, "thumbnails", NULL), 40);
    sim_free(s);
}

struct ticker {
    int count;
    wall_ms next;
};

static wall_ms tick(void *user, wall_ms now)
{
    struct ticker *t = user;
    if (now >= t->next) {
        t->count++;
        t->next = now + MS_MINUTE;
    }
    return t->next;
}

static bool ticked_five_times(void *user)
{
    return ((const struct ticker *)user)->count >= 5;
}

static void the_clock_jumps(void **state)
{
    (void)state;
    struct ticker t = {.next = START + MS_MINUTE};
    struct sim *s = new_sim("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}");
    struct err err;
    sim_add_actor(s, (struct sim_actor){&t, tick, NULL});
    assert_true(sim_run_while(s, ticked_five_times, &t, START + MS_HOUR, &err));
    assert_int_equal(sim_now(s), START + 5 * MS_MINUTE);
    run_for(s, 24 * MS_HOUR);
    assert_int_equal(t.count, 5 + 24 * 60);
    sim_remove_actor(s, &t);
    assert_false(sim_run_while(s, ticked_five_times, &(struct ticker){0}, sim_now(s) + MS_HOUR, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    sim_free(s);
}

static wall_ms restless(void *user, wall_ms now)
{
    (void)user;
    return now;
}

static void a_moment_without_rest_is_an_error(void **state)
{
    (void)state;
    struct sim *s = new_sim("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"}}");
    struct err err;
    sim_add_actor(s, (struct sim_actor){NULL, restless, NULL});
    assert_false(sim_run_until(s, START + MS_SECOND, &err));
    assert_int_equal(err.kind, ERR_INTERNAL);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deployment_runs),
        cmocka_unit_test(created_nodes_become_ready),
        cmocka_unit_test(selectors_and_taints),
        cmocka_unit_test(daemons_come_to_every_node_that_suits),
        cmocka_unit_test(daemons_come_where_taints_are_tolerated),
        cmocka_unit_test(pods_of_a_lost_node_are_replaced),
        cmocka_unit_test(evicted_pods_take_their_grace),
        cmocka_unit_test(a_cordoned_node_takes_no_pods),
        cmocka_unit_test(a_budget_counts_who_is_ready),
        cmocka_unit_test(extender_decides),
        cmocka_unit_test(packs_without_overcommit),
        cmocka_unit_test(two_runs_are_the_same),
        cmocka_unit_test(sample_plays),
        cmocka_unit_test(the_clock_jumps),
        cmocka_unit_test(a_moment_without_rest_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
