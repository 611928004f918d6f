/* Which pods are to go first when their ReplicaSet is scaled down, told by the whole loop (gate PodDeletionCostManagement,
 * spec disruption 13.9, scenarios 307 to 312; which pods these are, tests/planner/test_ranks.c). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/support_loop.h"

#define ANNOTATION "controller.kubernetes.io/pod-deletion-cost"
#define LATER "\"consolidateAfter\":\"2h\""
static const char open_budget[] = "{" LATER ",\"budgets\":[{\"nodes\":\"100%\"}]}";

/* Writes of pods, as the API server is asked for them. */
struct asked {
    struct loop loop;
    uint32_t patches;
    uint32_t refuse; /* so many of them are answered with `refusal` */
    struct sim_refusal refusal;
};

static enum sim_fate note(void *user, uint64_t number, const struct api_request *r, struct sim_refusal *refusal)
{
    struct asked *x = user;
    (void)number;
    if (r->verb != API_MERGE || r->kind != KIND_POD || r->subresource.len != 0)
        return SIM_PASS;
    assert_true(span_contains(r->body, SPAN("\"uid\"")));
    x->patches++;
    if (x->refuse == 0)
        return SIM_PASS;
    x->refuse--;
    *refusal = x->refusal;
    return SIM_REFUSE;
}

/* A Deployment of which each pod fills a node; no write of ranks was due yet. */
static struct sim *begin(struct asked *x, int pods, const char *disruption)
{
    struct sim *s = new_sim(node_class_yaml());
    x->loop.catalogue = two_types;
    x->loop.faults = (struct sim_faults){.user = x, .before = note};
    x->loop.options.pod_deletion_cost = true;
    load(s, pool_yaml("general", disruption, ""));
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, "general",
               "{\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\","
               "\"operator\":\"In\",\"values\":[\"small\"]}]}}}}", 200);
    load(s, deployment_yaml("web", pods, "15", ""));
    loop_begin(&x->loop, s);
    return s;
}

/* The annotations of the pods, by their nodes' names: "-3 none ". Static storage. */
static const char *ranks_by_node(struct sim *s)
{
    static char text[512];
    json_t *nodes = objects_of(s, KIND_NODE), *pods = objects_of(s, KIND_POD), *node, *pod;
    size_t i, k, at = 0;
    json_array_foreach(nodes, i, node)
    {
        json_array_foreach(pods, k, pod)
        {
            const json_t *cost = json_object_get(tree_get(pod, "metadata.annotations"), ANNOTATION);
            if (span_eq(tree_string(pod, "spec.nodeName"), tree_string(node, "metadata.name")))
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", cost != NULL ? json_string_value(cost) : "none");
        }
    }
    text[at] = '\0';
    json_decref(nodes);
    json_decref(pods);
    return text;
}

static json_t *nth_of(struct sim *s, enum kind k, size_t n)
{
    json_t *all = objects_of(s, k), *one = json_incref(json_array_get(all, n));
    json_decref(all);
    return one;
}

static void pods_of_the_first_to_leave_go_first(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 3, open_budget);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-3 -2 -1 "); /* 307 */
    json_t *first = nth_of(s, KIND_NODE, 0);
    scale(s, "web", 2);
    run_for(s, 1 * MS_MINUTE);
    assert_int_equal(count_pods(s, "web", json_string_value(tree_get(first, "metadata.name"))), 0);
    assert_int_equal(count_bound(s, "web"), 2);
    json_decref(first);
    loop_end(&x.loop);
}

/* All is as it should be: nothing is written, by who comes after either. */
static void what_is_written_is_not_written_again(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 3, open_budget);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(x.patches, 3);
    assert_true(x.loop.measured[MEASURE_DELETION_COST_WRITES] == 3);
    run_for(s, 30 * MS_MINUTE);
    assert_true(x.loop.measured[MEASURE_DELETION_COST_NODES] == 0);
    loop_stop(&x.loop);
    loop_start(&x.loop);
    run_for(s, 30 * MS_MINUTE);
    assert_int_equal(x.patches, 3);
    loop_end(&x.loop);
}

/* We have not the newest version of a pod whose status was written and says nothing new to us. */
static void pods_whose_status_was_written_are_ranked(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 2, open_budget);
    while (count_bound(s, "web") < 2)
        run_for(s, 1 * MS_SECOND);
    json_t *pods = objects_of(s, KIND_POD), *pod;
    size_t i;
    run_for(s, 10 * MS_SECOND);
    assert_int_equal(x.patches, 0);
    json_array_foreach(pods, i, pod)
        do_request(s, API_MERGE, KIND_POD, "default", json_string_value(tree_get(pod, "metadata.name")),
                   "{\"metadata\":{\"managedFields\":[{\"manager\":\"kubelet\"}]}}", 200);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 -1 ");
    assert_int_equal(x.patches, 2);
    json_decref(pods);
    loop_end(&x.loop);
}

static void what_holds_no_more_is_taken_back(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 3, open_budget);
    run_for(s, 3 * MS_MINUTE);
    json_t *second = nth_of(s, KIND_NODE, 1);
    do_request(s, API_MERGE, KIND_NODE, NULL, json_string_value(tree_get(second, "metadata.name")),
               "{\"metadata\":{\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}}}", 200);
    run_for(s, 2 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 none -1 "); /* 308 */
    json_decref(second);
    loop_end(&x.loop);
}

static void nothing_is_written_without_the_gate(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 2, open_budget);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 -1 ");
    loop_stop(&x.loop);
    x.loop.options.pod_deletion_cost = false;
    loop_start(&x.loop);
    run_for(s, 10 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 -1 "); /* and what was, stays */
    assert_int_equal(x.patches, 2);
    loop_end(&x.loop);
}

static size_t count_ranked(struct sim *s)
{
    json_t *all = objects_of(s, KIND_POD), *pod;
    size_t i, n = 0;
    json_array_foreach(all, i, pod)
        n += json_object_get(tree_get(pod, "metadata.annotations"), ANNOTATION) != NULL;
    json_decref(all);
    return n;
}

/* 310; what is left over waits for the next look alone, and not until something else changes (api Q32). */
static void fifty_nodes_a_look(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 60, open_budget);
    while (count_ranked(s) == 0)
        run_for(s, 1 * MS_SECOND);
    run_for(s, 30 * MS_SECOND);
    size_t before = count_ranked(s);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(before, 50);
    assert_int_equal(count_ranked(s), 60);
    loop_end(&x.loop);
}

/* 311: budgets of nodes open by time alone; that is seen within five minutes, and not each minute. */
static void a_world_that_is_the_same_is_looked_at_seldom(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 2, "{" LATER ",\"budgets\":[{\"nodes\":\"0\",\"schedule\":\"0 3 * * *\",\"duration\":\"23m\"}]}");
    run_for(s, 20 * MS_MINUTE + 25 * MS_SECOND); /* 03:24:30: it opened at 03:23; all has stood still since 03:05 */
    assert_int_equal(x.patches, 0);
    run_for(s, 4 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 -1 ");
    loop_end(&x.loop);
}

/* 311: budgets of pods that nobody sees may be what keeps a node. */
static void nothing_is_written_while_the_view_is_partial(void **state)
{
    (void)state;
    struct asked x = {.patches = 0};
    struct sim *s = begin(&x, 2, open_budget);
    run_for(s, 3 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-2 -1 ");
    sim_client_break_watch(x.loop.api, KIND_DISRUPTION_BUDGET, sim_now(s) + 10 * MS_MINUTE, false);
    run_for(s, 2 * MS_MINUTE);
    scale(s, "web", 3);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_bound(s, "web"), 3);
    assert_int_equal(x.patches, 2);
    run_for(s, 5 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-3 -2 -1 ");
    loop_end(&x.loop);
}

static const struct {
    const char *label;
    struct sim_refusal refusal;
    uint32_t at_once, after_a_look; /* writes, of one pod */
} refusals[] = {
    {"409: the pod has changed, and is looked at anew", {.status = 409, .reason = "Conflict", .message = "it has changed"}, 1, 2},
    {"404: as if it was gone", {.status = 404, .reason = "NotFound", .message = "no such pod"}, 1, 2},
    {"429: tried again", {.status = 429, .reason = "TooManyRequests", .message = "slow down", .retry_after_s = 1}, 2, 2},
};

/* 311 */
static void what_a_refused_write_comes_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct asked x = {.refuse = 1, .refusal = refusals[i].refusal};
        struct sim *s = begin(&x, 1, open_budget);
        while (x.patches == 0)
            run_for(s, 1 * MS_SECOND);
        run_for(s, 20 * MS_SECOND);
        uint32_t at_once = x.patches;
        run_for(s, 2 * MS_MINUTE);
        if (at_once != refusals[i].at_once || x.patches != refusals[i].after_a_look || strcmp(ranks_by_node(s), "-1 ") != 0)
            fail_msg("%s: %u writes, then %u; %s", refusals[i].label, at_once, x.patches, ranks_by_node(s));
        loop_end(&x.loop);
    }
}

/* Nobody has granted it: that is told, and the API server is asked seldom. */
static void what_is_always_refused_is_told_and_paced(void **state)
{
    (void)state;
    struct asked x = {.refuse = UINT32_MAX, .refusal = {.status = 403, .reason = "Forbidden", .message = "may not patch pods"}};
    struct sim *s = begin(&x, 3, open_budget);
    run_for(s, 21 * MS_MINUTE);
    assert_non_null(strstr(x.loop.last[DECISION_FAIL], "its pod-deletion-cost cannot be written: "));
    assert_true(x.loop.decided[DECISION_FAIL] <= 21);
    assert_in_range(x.patches, 3 * 20, 3 * 20 * 15);
    x.refuse = 0;
    run_for(s, 1 * MS_MINUTE);
    assert_string_equal(ranks_by_node(s), "-3 -2 -1 ");
    loop_end(&x.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_of_the_first_to_leave_go_first),
        cmocka_unit_test(what_is_written_is_not_written_again),
        cmocka_unit_test(pods_whose_status_was_written_are_ranked),
        cmocka_unit_test(what_holds_no_more_is_taken_back),
        cmocka_unit_test(nothing_is_written_without_the_gate),
        cmocka_unit_test(fifty_nodes_a_look),
        cmocka_unit_test(a_world_that_is_the_same_is_looked_at_seldom),
        cmocka_unit_test(nothing_is_written_while_the_view_is_partial),
        cmocka_unit_test(what_a_refused_write_comes_to),
        cmocka_unit_test(what_is_always_refused_is_told_and_paced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
