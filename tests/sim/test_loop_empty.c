/* The main job from end to end: pods wait, nodes come, pods are bound, pods go, nodes go. */
#include <string.h>

#include "tests/sim/support_moves.h"

static void pods_get_nodes_and_empty_nodes_leave(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 30, "900m", ""));
    loop_begin(&l, s);
    run_for(s, 20 * MS_SECOND);
    assert_int_equal(count_bound(s, "web"), 30);
    size_t nodes = count_objects(s, KIND_NODE);
    assert_true(nodes > 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), nodes);
    assert_no_overcommit(s);
    assert_no_orphans(s);

    scale(s, "web", 0);
    run_for(s, 60 * MS_SECOND);
    assert_int_equal(count_pods(s, "web", NULL), 0);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(count_objects(s, KIND_NODE_CLAIM), 0);
    assert_int_equal(l.decided[DECISION_FAIL], 0);
    loop_end(&l);
}

/* ---- what comes again and again ---- */

static struct sim *begin_with(struct loop *l, const char *disruption, bool asked_for)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", disruption, ""));
    load(s, deployment_yaml("job", 0, "10", ",\"nodeSelector\":{\"node.kubernetes.io/instance-type\":\"small\"}"));
    l->keeps = true;
    l->catalogue = two_types;
    l->options.empty_return = asked_for ? MS_HOUR : 0;
    loop_begin(l, s);
    return s;
}

static struct sim *begin(struct loop *l)
{
    return begin_with(l, "", true);
}

/* So many pods, a node each, for three minutes, and none for as long. */
static void come_and_go(struct sim *s, int pods)
{
    scale(s, "job", pods);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_bound(s, "job"), pods);
    scale(s, "job", 0);
    run_for(s, 3 * MS_MINUTE);
}

static void who_was_needed_twice_is_not_bought_again(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    struct census c;
    census_begin(&c, s, KIND_NODE_CLAIM);
    come_and_go(s, 2);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    for (int i = 0; i < 10; i++)
        come_and_go(s, 2);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    assert_int_equal(census_count(&c), 4);
    assert_string_equal(l.last[DECISION_KEEP] + strcspn(l.last[DECISION_KEEP], " "),
                        "  stays: its like was needed again and again within the hour, and may be once more");
    assert_true(span_contains(buf_span(&l.history), SPAN("event Unconsolidatable general-")));
    census_end(&c);
    loop_end(&l);
}

static void who_is_needed_no_more_leaves(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    come_and_go(s, 2);
    come_and_go(s, 2);
    run_for(s, 8 * MS_MINUTE); /* 14 after they were bought, 6 after the first ones */
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

static void a_number_that_came_once_is_not_kept(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    come_and_go(s, 1);
    come_and_go(s, 6);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    loop_end(&l);
}

static void who_is_too_small_for_what_comes_leaves(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    load(s, deployment_yaml("large", 0, "25", ""));
    for (int i = 0; i < 2; i++) {
        scale(s, "large", 1);
        come_and_go(s, i); /* one of its own, the second time */
        scale(s, "large", 0);
        run_for(s, 3 * MS_MINUTE);
    }
    struct census c;
    census_begin(&c, s, KIND_NODE_CLAIM);
    scale(s, "large", 1);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_bound(s, "large"), 1); /* on the one that stayed */
    assert_int_equal(census_count(&c), 1);
    census_end(&c);
    loop_end(&l);
}

static void with_greedy_nothing_is_kept(void **state)
{
    (void)state;
    struct loop l = {.options.plan.search = SEARCH_GREEDY};
    struct sim *s = begin(&l);
    for (int i = 0; i < 3; i++) {
        come_and_go(s, 2);
        assert_int_equal(count_objects(s, KIND_NODE), 0);
    }
    loop_end(&l);
}

static void nor_when_nobody_asked_for_it(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin_with(&l, "", false);
    come_and_go(s, 2);
    come_and_go(s, 2);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

static void no_consolidation_takes_who_is_kept(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin_with(&l, moves, true);
    come_and_go(s, 2);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    come_and_go(s, 2);
    assert_int_equal(count_objects(s, KIND_NODE), 2);
    loop_end(&l);
}

static void who_came_in_the_place_of_another_was_not_needed_twice(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    struct census c;
    census_begin(&c, s, KIND_NODE_CLAIM);
    scale(s, "job", 1);
    run_for(s, 3 * MS_MINUTE);
    change_template(s);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(census_count(&c), 2);
    scale(s, "job", 0);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    census_end(&c);
    loop_end(&l);
}

/* By the claims that are there: of one node that was bought after another. */
static void a_new_leader_knows_what_was_bought(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    for (int pods = 1; pods <= 2; pods++) {
        scale(s, "job", pods);
        run_for(s, 3 * MS_MINUTE);
    }
    loop_stop(&l);
    loop_start(&l);
    scale(s, "job", 0);
    run_for(s, 3 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    run_for(s, 15 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_get_nodes_and_empty_nodes_leave),
        cmocka_unit_test(who_was_needed_twice_is_not_bought_again),
        cmocka_unit_test(who_is_needed_no_more_leaves),
        cmocka_unit_test(a_number_that_came_once_is_not_kept),
        cmocka_unit_test(who_is_too_small_for_what_comes_leaves),
        cmocka_unit_test(with_greedy_nothing_is_kept),
        cmocka_unit_test(nor_when_nobody_asked_for_it),
        cmocka_unit_test(no_consolidation_takes_who_is_kept),
        cmocka_unit_test(who_came_in_the_place_of_another_was_not_needed_twice),
        cmocka_unit_test(a_new_leader_knows_what_was_bought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
