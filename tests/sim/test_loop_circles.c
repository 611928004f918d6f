/* Consolidations that undo one another are stopped, and only these. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/support_loop.h"

static const char moves[] = "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]}";

static const char moved[] = ": Disrupting NodeClaim: Underutilized\n";

static struct sim *begin(struct loop *l)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", moves, ""));
    l->keeps = true;
    l->catalogue = two_types;
    l->world.node_overlay = true;
    l->options.cool_down = MS_MINUTE;
    loop_begin(l, s);
    return s;
}

static size_t count_told(const struct loop *l, const char *text)
{
    size_t n = 0, len = strlen(text);
    for (const char *at = l->history.ptr; (at = memmem(at, l->history.len - (size_t)(at - l->history.ptr), text, len)) != NULL;
         at += len)
        n++;
    return n;
}

/* ---- prices that come and go ---- */

static void make_small_dear(struct sim *s)
{
    load(s, "{\"apiVersion\":\"karpenter.sh/v1alpha1\",\"kind\":\"NodeOverlay\",\"metadata\":{\"name\":\"dear\"},"
            "\"spec\":{\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"In\","
            "\"values\":[\"small\"]}],\"price\":\"1.2\"}}");
}

/* So many times, each for so long. */
static void flip_prices(struct sim *s, int times, span_ms each)
{
    for (int i = 0; i < times; i++) {
        run_for(s, each);
        if (i % 2 == 0)
            make_small_dear(s);
        else
            do_request(s, API_DELETE, KIND_NODE_OVERLAY, NULL, "dear", "", 200);
    }
    run_for(s, each);
}

static void prices_that_come_and_go_do_not_move_pods_for_ever(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    load(s, deployment_yaml("web", 1, "10", ""));
    flip_prices(s, 5, 10 * MS_MINUTE);
    assert_int_equal(count_told(&l, moved), 2);
    assert_int_equal(count_told(&l, "event DisruptionLoop general: "), 1);
    assert_true(span_contains(buf_span(&l.history), SPAN(" (small, on-demand, test-zone-a) came in the place of general-")));
    assert_true(span_contains(buf_span(&l.history), SPAN(" (large, on-demand, test-zone-a), which came in the place of general-")));
    assert_true(span_contains(buf_span(&l.history), SPAN("stowage_disruption_loops_total nodepool=general 1\n")));
    run_for(s, 90 * MS_MINUTE); /* prices stand still at last, at those in which large is cheaper */
    assert_int_equal(count_told(&l, moved), 3);
    assert_int_equal(count_bound(s, "web"), 1);
    loop_end(&l);
}

static void prices_that_change_thrice_a_day_are_followed(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    load(s, deployment_yaml("web", 1, "10", ""));
    flip_prices(s, 5, 8 * 60 * MS_MINUTE);
    assert_int_equal(count_told(&l, moved), 5);
    assert_int_equal(count_told(&l, "event DisruptionLoop"), 0);
    loop_end(&l);
}

/* ---- pods that somebody takes away and makes again ---- */

/* What is left of three fits on one node each time that one of the two is away, and on two when both are there. */
static void come_and_go(struct sim *s, int times, span_ms each)
{
    load(s, deployment_yaml("stays", 1, "5", ""));
    load(s, deployment_yaml("odd", 1, "8", ""));
    load(s, deployment_yaml("even", 1, "8", ""));
    run_for(s, each);
    for (int i = 0; i < times; i++) {
        scale(s, i % 2 != 0 ? "odd" : "even", 0);
        run_for(s, each);
        scale(s, i % 2 != 0 ? "odd" : "even", 1);
        run_for(s, each);
    }
}

static void a_node_that_is_bought_again_and_again_stays(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    come_and_go(s, 8, 4 * MS_MINUTE);
    assert_int_equal(count_told(&l, moved), 3);
    assert_int_equal(count_told(&l, "event DisruptionLoop general: "), 1);
    assert_true(span_contains(buf_span(&l.history), SPAN(" (small, on-demand, test-zone-a) was bought after the consolidation of general-")));
    loop_end(&l);
}

static void day_and_night_are_no_circle(void **state)
{
    (void)state;
    struct loop l = {0};
    struct sim *s = begin(&l);
    come_and_go(s, 8, 6 * 60 * MS_MINUTE);
    assert_int_equal(count_told(&l, moved), 8);
    assert_int_equal(count_told(&l, "event DisruptionLoop"), 0);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_that_come_and_go_do_not_move_pods_for_ever),
        cmocka_unit_test(prices_that_change_thrice_a_day_are_followed),
        cmocka_unit_test(a_node_that_is_bought_again_and_again_stays),
        cmocka_unit_test(day_and_night_are_no_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
