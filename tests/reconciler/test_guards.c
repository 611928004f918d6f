#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/guards.h"

enum { NOW = 1000000 };

static const struct {
    const char *label;
    uint32_t before, lost;
    mono_ms broken_since; /* of the pods' watch */
    mono_ms now;
    enum guards_verdict want; /* of an empty node */
} rows[] = {
    {"all is well", 100, 0, 0, NOW, GUARDS_CLEAR},
    {"a fifth of the nodes gone is the limit", 100, 20, 0, NOW, GUARDS_CLEAR},
    {"more is too many", 100, 21, 0, NOW, GUARDS_NODES_LOST},
    {"the one node there was", 1, 1, 0, NOW, GUARDS_NODES_LOST},
    {"the first list of an empty cluster", 0, 0, 0, NOW, GUARDS_CLEAR},
    {"a watch broken for less than a minute", 100, 0, NOW, NOW + 59999, GUARDS_CLEAR},
    {"a watch broken for a minute", 100, 0, NOW, NOW + 60000, GUARDS_WATCH_BROKEN},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct snapshot s = {0};
        struct guards g = {0};
        enum kind k = KIND_NONE;
        s.state[KIND_NODE].lists = 2;
        s.state[KIND_NODE].before_list = rows[r].before;
        s.state[KIND_NODE].lost_in_list = rows[r].lost;
        s.state[KIND_POD].broken_since = rows[r].broken_since;
        struct guards_view v = guards_look(&g, &s, rows[r].now);
        enum guards_verdict got = guards_check(&v, GUARDS_EMPTY, &k);
        if (got != rows[r].want)
            fail_msg("%s: %s, not %s", rows[r].label, guards_verdict_name(got),
                     guards_verdict_name(rows[r].want));
        if (got == GUARDS_WATCH_BROKEN)
            assert_int_equal(k, KIND_POD);
    }
}

#define ACT(a) (1u << GUARDS_##a)

/* Whatever is not named goes on. */
static void each_watch_stops_what_needs_it(void **state)
{
    static const struct {
        enum kind broken;
        unsigned stopped;
    } kinds[] = {
        {KIND_POD, ACT(EXPIRE) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS) | ACT(DRAINED)},
        {KIND_NODE, ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS)},
        {KIND_NODE_CLAIM, ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK)},
        {KIND_NODE_POOL, ACT(EMPTY) | ACT(SHRINK)},
        {KIND_DISRUPTION_BUDGET, ACT(EMPTY) | ACT(GROUPS)},
        {KIND_VOLUME_ATTACHMENT, ACT(DETACHED)},
        {KIND_VOLUME_CLAIM, ACT(DETACHED)},
        {KIND_NAMESPACE, 0},
        {KIND_SERVICE, 0},
        {KIND_DAEMON_SET, ACT(GROUPS)},
        {KIND_REPLICA_SET, ACT(GROUPS)},
        {KIND_STATEFUL_SET, ACT(GROUPS)},
        {KIND_REPLICATION_CONTROLLER, ACT(GROUPS)},
        {KIND_JOB, ACT(GROUPS)},
        {KIND_STORAGE_CLASS, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct snapshot s = {0};
        struct guards g = {0};
        enum kind k;
        s.state[kinds[i].broken].broken_since = NOW;
        struct guards_view v = guards_look(&g, &s, NOW + GUARDS_BROKEN_MS);
        for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++)
            if ((guards_check(&v, act, &k) != GUARDS_CLEAR) != ((kinds[i].stopped >> act & 1) != 0))
                fail_msg("without %s: \"%s\" is wrong", kind_info(kinds[i].broken)->plural,
                         guards_act_sentence(act));
    }
}

static struct snapshot after_lists(uint32_t lists, uint32_t before, uint32_t lost)
{
    struct snapshot s = {0};
    s.state[KIND_NODE].lists = lists;
    s.state[KIND_NODE].before_list = before;
    s.state[KIND_NODE].lost_in_list = lost;
    return s;
}

static void lost_nodes_stop_what_begins_and_what_has_no_node(void **state)
{
    const unsigned stopped =
        ACT(EXPIRE) | ACT(COLLECT) | ACT(EMPTY) | ACT(SHRINK) | ACT(GROUPS) | ACT(NODELESS);
    struct guards g = {0};
    (void)state;
    struct snapshot s = after_lists(2, 100, 50);
    struct guards_view v = guards_look(&g, &s, NOW);
    for (enum guards_act act = 0; act < GUARDS_ACT_COUNT; act++) {
        enum kind k;
        bool stops = guards_check(&v, act, &k) == GUARDS_NODES_LOST;
        if (stops != ((stopped >> act & 1) != 0))
            fail_msg("\"%s\" is wrong", guards_act_sentence(act));
    }
}

static void the_next_list_decides(void **state)
{
    static const struct {
        const char *label;
        uint32_t before, lost; /* of the second list */
        bool lost_still;
    } seconds[] = {
        {"it agrees", 50, 0, false},
        {"about as many", 50, 10, false},
        {"fewer still", 50, 40, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        struct guards g = {0};
        struct snapshot s = after_lists(2, 100, 50);
        assert_true(guards_look(&g, &s, NOW).nodes_lost);
        assert_true(guards_look(&g, &s, NOW).nodes_lost); /* by no time that passes */
        s = after_lists(3, seconds[i].before, seconds[i].lost);
        if (guards_look(&g, &s, NOW).nodes_lost != seconds[i].lost_still)
            fail_msg("%s", seconds[i].label);
    }
}

/* When the next watch has been broken for long enough: what is over and what is whole are not waited for. */
static void the_next_verdict_is_known(void **state)
{
    (void)state;
    struct snapshot s = {0};
    assert_int_equal(guards_due(&s, NOW), INT64_MAX);
    assert_int_equal(guards_due(&s, 0), INT64_MAX);
    s.state[KIND_POD].broken_since = NOW - 10;
    assert_int_equal(guards_due(&s, NOW), NOW - 10 + GUARDS_BROKEN_MS);
    s.state[KIND_NODE].broken_since = NOW - 20;
    s.state[KIND_NODE_CLAIM].broken_since = NOW - 5;
    assert_int_equal(guards_due(&s, NOW), NOW - 20 + GUARDS_BROKEN_MS);
    assert_int_equal(guards_due(&s, NOW - 20 + GUARDS_BROKEN_MS), NOW - 10 + GUARDS_BROKEN_MS);
    assert_int_equal(guards_due(&s, NOW - 5 + GUARDS_BROKEN_MS), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(the_next_verdict_is_known),
        cmocka_unit_test(each_watch_stops_what_needs_it),
        cmocka_unit_test(lost_nodes_stop_what_begins_and_what_has_no_node),
        cmocka_unit_test(the_next_list_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
