/* Why nodes stay, and for how long that is said. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/support_loop.h"

#define BUDGET(name_)                                                                              \
    "apiVersion: policy/v1\nkind: PodDisruptionBudget\n"                                           \
    "metadata: {name: " name_ ", namespace: default}\n"                                            \
    "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n"

/* The sentence that holds for the cluster's one node. */
static void expect_why(const struct loop *l, const char *label, const char *want)
{
    const char *got = strstr(l->last[DECISION_KEEP], "  stays: ");
    got = got != NULL ? got + strlen("  stays: ") : l->last[DECISION_KEEP];
    if (strcmp(got, want) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", label, got, want);
}

static void what_is_said_of_a_node_is_so_today(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 2, "500m", ""));
    loop_begin(&l, s);
    run_for(s, 40 * MS_SECOND);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    expect_why(&l, "its pods say enough", "");
    load(s, BUDGET("web"));
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "a budget",
               "PodDisruptionBudget default/web allows no eviction (2 of 2 must stay)");
    load(s, BUDGET("twin"));
    run_for(s, 5 * MS_SECOND);
    assert_non_null(strstr(l.last[DECISION_KEEP], "which eviction does not support"));
    do_request(s, API_DELETE, KIND_DISRUPTION_BUDGET, "default", "twin", NULL, 200);
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "one again",
               "PodDisruptionBudget default/web allows no eviction (2 of 2 must stay)");
    scale(s, "web", 3);
    run_for(s, 5 * MS_SECOND);
    expect_why(&l, "one may go", "");
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_a_node_is_so_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
