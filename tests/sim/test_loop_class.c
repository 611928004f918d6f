/* A node class that says it is not ready: nothing is made of it until it is. */
#include "tests/sim/support_loop.h"

#define CLASS(status_)                                                                             \
    "{\"apiVersion\":\"karpenter.kwok.sh/v1alpha1\",\"kind\":\"KWOKNodeClass\",\"metadata\":{\"name\":"    \
    "\"default\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status_                \
    "\",\"reason\":\"Images\",\"message\":\"no image\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}"

static void nothing_is_made_of_a_class_that_is_not_ready(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(CLASS("False"));
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    assert_int_equal(count_bound(s, "web"), 0);
    loop_end(&l);
}

static void it_is_once_it_is_ready(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = new_sim(CLASS("True"));
    load(s, pool_yaml("general", "", ""));
    load(s, deployment_yaml("web", 1, "500m", ""));
    loop_begin(&l, s);
    run_for(s, MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(count_bound(s, "web"), 1);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_made_of_a_class_that_is_not_ready),
        cmocka_unit_test(it_is_once_it_is_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
