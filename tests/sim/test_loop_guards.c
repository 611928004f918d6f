/* What a partial view of the cluster stops, and what it does not. */
#include <stdio.h>

#include "tests/sim/support_loop.h"

static struct sim *cluster(void)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

static void a_broken_watch_stops_removals_not_purchases(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NAMESPACE, sim_now(s) + 5 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    scale(s, "web", 0);
    load(s, deployment_yaml("big", 1, "7", ""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_bound(s, "big"), 1);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_string_equal(l.last[DECISION_GUARD],
                        "no node is removed: the watch of namespaces has been broken for a minute");
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 4 * MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    loop_end(&l);
}

static void who_does_not_see_nodes_gives_no_machine_up(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 20 * MS_MINUTE, false);
    run_for(s, 70 * MS_SECOND);
    load(s, deployment_yaml("big", 1, "7", "")); /* its Node comes, and is not seen */
    run_for(s, 19 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 2);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, MS_MINUTE); /* and is seen now */
    assert_int_equal(count_bound(s, "big"), 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    loop_end(&l);
}

/* A machine whose Node does not come is given up for good, though only by who has looked for so long. */
static void the_time_to_join_counts_anew_after_a_broken_watch(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = cluster();
    load(s, "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\","
            "\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeRegistrationDelay\":\"5h\"}}");
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 1);
    sim_client_break_watch(l.api, KIND_NODE, sim_now(s) + 20 * MS_MINUTE, false);
    run_for(s, 34 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(l.decided[DECISION_REMOVE], 1);
    loop_end(&l);
}

static void load_own_nodes(struct sim *s, bool there)
{
    for (int i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof(name), "own-%d", i);
        if (there)
            load(s, ready_node_yaml(name, "1", "1Gi"));
        else
            do_request(s, API_DELETE, KIND_NODE, NULL, name, NULL, 200);
    }
}

/* In which an answer takes its time, so that something can happen before it is there. */
static struct sim *slow_cluster(void)
{
    struct sim *s = new_sim_with(&(struct sim_options){.cluster = {.apply_delay = 200}}, node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    return s;
}

/* Eight of nine nodes are not in the list with which the watch begins anew, while the ninth has become empty. */
static void lose_nodes(struct loop *l, struct sim *s)
{
    load_own_nodes(s, true);
    load(s, deployment_yaml("web", 2, "3", ""));
    loop_begin(l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 0);
    run_for(s, 9 * MS_SECOND);
    sim_client_break_watch(l->api, KIND_NODE, sim_now(s) + 1 * MS_SECOND, true);
    load_own_nodes(s, false);
    for (int i = 0; i < 40 && l->decided[DECISION_GUARD] == 0; i++)
        run_for(s, 50);
    assert_string_equal(l->last[DECISION_GUARD],
                        "no node is removed: a list showed 8 of 9 nodes gone; looking again");
}

static void a_list_that_lost_many_nodes_is_not_believed_at_once(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = slow_cluster();
    lose_nodes(&l, s);
    load_own_nodes(s, true); /* they were there all the time: the second list does not agree */
    run_for(s, 9 * MS_SECOND);
    assert_int_equal(l.decided[DECISION_GUARD], 1);
    assert_int_equal(l.decided[DECISION_REMOVE], 0);
    assert_int_equal(count_objects(s, KIND_NODE), 9);
    run_for(s, MS_MINUTE); /* the third does */
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 8);
    loop_end(&l);
}

static void a_second_list_that_agrees_is_believed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = slow_cluster();
    lose_nodes(&l, s);
    run_for(s, MS_MINUTE);
    assert_string_equal(l.last[DECISION_GUARD], "nodes may be removed again");
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_watch_stops_removals_not_purchases),
        cmocka_unit_test(who_does_not_see_nodes_gives_no_machine_up),
        cmocka_unit_test(the_time_to_join_counts_anew_after_a_broken_watch),
        cmocka_unit_test(a_list_that_lost_many_nodes_is_not_believed_at_once),
        cmocka_unit_test(a_second_list_that_agrees_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
