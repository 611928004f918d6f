/* stowage.dev/mode: what is recommended is said once and not done, and holds up nobody else. */
#include <string.h>

#include "reconciler/move.h"
#include "tests/sim/support_loop.h"

#define MODE(text_) "{\"metadata\":{\"annotations\":{\"stowage.dev/mode\":" text_ "}}}"

static const char moves[] = "{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]}";

static void patch_pool(struct sim *s, const char *pool, const char *body)
{
    do_request(s, API_MERGE, KIND_NODE_POOL, NULL, pool, body, 200);
}

static uint32_t count_lines(struct loop *l, const char *begins)
{
    uint32_t found = 0;
    for (struct span rest = buf_span(&l->history), line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        found += span_has_prefix(line, span_of(begins));
    }
    return found;
}

/* Two nodes: on one is what is left of its pods, for which it is too large, the other is empty. */
static struct sim *too_large(struct loop *l, const char *mode)
{
    struct sim *s = new_sim(node_class_yaml());
    load(s, pool_yaml("general", moves, ""));
    patch_pool(s, "general", mode);
    load(s, deployment_yaml("web", 12, "900m", ""));
    loop_begin(l, s);
    run_for(s, 30 * MS_SECOND);
    scale(s, "web", 1);
    run_for(s, 10 * MS_SECOND);
    l->decided[DECISION_MOVE] = 0;
    return s;
}

static void what_is_recommended_is_said_once_and_not_done(void **state)
{
    (void)state;
    struct loop l = {.keeps = true, .posts = true};
    struct sim *s = too_large(&l, MODE("\"recommend\""));
    struct census claims;
    size_t nodes = count_objects(s, KIND_NODE);
    census_begin(&claims, s, KIND_NODE_CLAIM);
    run_for(s, 30 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    assert_int_equal(census_count(&claims), nodes);
    census_end(&claims);
    assert_int_equal(nodes, 2);
    assert_int_equal(l.decided[DECISION_MOVE], 3 * nodes); /* of each a line, and Events on Node and NodeClaim */
    assert_int_equal(count_lines(&l, "event DisruptionRecommended general-"), 2 * nodes);
    assert_true(span_contains(buf_span(&l.history), SPAN(": Recommended, and not made since stowage.dev/mode of the NodePool "
                                                         "says so: remove general-")));
    assert_true(span_contains(buf_span(&l.history), SPAN(" (underutilized): saves $")));
    assert_int_equal(l.moves.recommended, nodes);
    assert_int_equal(l.moves.states, 1 << MOVE_RECOMMENDED);
    loop_stop(&l); /* the next leader says it once more */
    loop_start(&l);
    run_for(s, 30 * MS_MINUTE);
    assert_int_equal(count_lines(&l, "event DisruptionRecommended general-"), 4 * nodes);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    patch_pool(s, "general", MODE("null"));
    run_for(s, 5 * MS_MINUTE);
    assert_true(count_lines(&l, "event ConsolidationCandidate general-") > 0);
    assert_int_equal(count_objects(s, KIND_NODE), 1);
    assert_int_equal(l.moves.recommended + l.moves.under_way, 0);
    assert_int_equal(l.moves.states & (1 << MOVE_WAITS | 1 << MOVE_REMOVES), 1 << MOVE_WAITS | 1 << MOVE_REMOVES);
    assert_no_orphans(s);
    buf_release(&l.history);
    loop_end(&l);
}

static void what_holds_no_more_is_withdrawn(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = too_large(&l, MODE("\"act, Underutilized=recommend\""));
    run_for(s, 5 * MS_MINUTE);
    assert_non_null(strstr(l.last[DECISION_MOVE], "recommended, not made: remove general-"));
    scale(s, "web", 12);
    run_for(s, 5 * MS_MINUTE);
    assert_non_null(strstr(l.last[DECISION_MOVE], "recommended no more: remove general-"));
    scale(s, "web", 1);
    run_for(s, 5 * MS_MINUTE);
    assert_non_null(strstr(l.last[DECISION_MOVE], "recommended, not made: remove general-"));
    patch_pool(s, "general", MODE("\"observe\""));
    run_for(s, MS_MINUTE);
    assert_non_null(strstr(l.last[DECISION_MOVE], "recommended no more: remove general-"));
    buf_release(&l.history);
    loop_end(&l);
}

static void of_what_is_observed_nothing_is_said(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = too_large(&l, MODE("\"observe\""));
    size_t nodes = count_objects(s, KIND_NODE);
    patch_pool(s, "general", "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}");
    run_for(s, 20 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    assert_int_equal(l.decided[DECISION_MOVE], 0);
    assert_int_equal(count_lines(&l, "event DisruptionRecommended"), 0);
    scale(s, "web", 0);
    run_for(s, 5 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), nodes);
    assert_non_null(strstr(l.last[DECISION_KEEP], "stays: stowage.dev/mode of its NodePool has it only observed"));
    patch_pool(s, "general", MODE("\"observe, Empty=act\""));
    run_for(s, 2 * MS_MINUTE);
    assert_int_equal(count_objects(s, KIND_NODE), 0);
    buf_release(&l.history);
    loop_end(&l);
}

/* Somebody else's recommendation stands all the time; drift that is only recommended begins no wave. */
static void other_pools_are_moved_all_the_same(void **state)
{
    (void)state;
    struct loop l = {.keeps = true};
    struct sim *s = too_large(&l, MODE("\"recommend\""));
    size_t told = count_objects(s, KIND_NODE);
    patch_pool(s, "general", "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"new\":\"yes\"}}}}}");
    load(s, pool_yaml("other", moves, ",\"taints\":[{\"key\":\"other\",\"effect\":\"NoSchedule\"}]"));
    load(s, deployment_yaml("elsewhere", 12, "900m",
                            ",\"tolerations\":[{\"key\":\"other\"}],\"nodeSelector\":{\"karpenter.sh/nodepool\":\"other\"}"));
    run_for(s, 2 * MS_MINUTE);
    size_t before = count_objects(s, KIND_NODE);
    assert_true(before > told);
    assert_int_equal(count_lines(&l, "event ConsolidationCandidate other-"), 0);
    scale(s, "elsewhere", 1);
    run_for(s, 5 * MS_MINUTE);
    assert_true(count_lines(&l, "event ConsolidationCandidate other-") > 0);
    assert_int_equal(count_objects(s, KIND_NODE), told + 1);
    assert_int_equal(count_lines(&l, "event ConsolidationCandidate general-"), 0);
    assert_true(span_contains(buf_span(&l.history), SPAN(" (drifted): ")));
    assert_true(span_contains(buf_span(&l.history), SPAN(" (underutilized): ")));
    assert_int_equal(count_lines(&l, "event DriftPaused"), 0);
    buf_release(&l.history);
    loop_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recommended_is_said_once_and_not_done),
        cmocka_unit_test(what_holds_no_more_is_withdrawn),
        cmocka_unit_test(of_what_is_observed_nothing_is_said),
        cmocka_unit_test(other_pools_are_moved_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
