/* The main job from end to end: pods wait, nodes come, pods are bound, pods go, nodes go. */
#include "tests/sim/support_loop.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_get_nodes_and_empty_nodes_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
