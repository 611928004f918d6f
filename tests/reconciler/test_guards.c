#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/guards.h"

static const struct {
    const char *label;
    uint32_t before, lost;
    mono_ms broken_since; /* of the pods' watch */
    mono_ms now;
    enum guards_verdict want;
} rows[] = {
    {"all is well", 100, 0, 0, 1000000, GUARDS_CLEAR},
    {"a fifth of the nodes gone is the limit", 100, 20, 0, 1000000, GUARDS_CLEAR},
    {"more is too many", 100, 21, 0, 1000000, GUARDS_NODES_LOST},
    {"the one node there was", 1, 1, 0, 1000000, GUARDS_NODES_LOST},
    {"the first list of an empty cluster", 0, 0, 0, 1000000, GUARDS_CLEAR},
    {"a watch broken for less than a minute", 100, 0, 1000000, 1059999, GUARDS_CLEAR},
    {"a watch broken for a minute", 100, 0, 1000000, 1060000, GUARDS_WATCH_BROKEN},
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
        enum guards_verdict got = guards_check(&g, &s, rows[r].now, &k);
        if (got != rows[r].want)
            fail_msg("%s: %s, not %s", rows[r].label, guards_verdict_name(got),
                     guards_verdict_name(rows[r].want));
        if (got == GUARDS_WATCH_BROKEN)
            assert_int_equal(k, KIND_POD);
    }
}

static void a_second_list_decides(void **state)
{
    static const struct {
        const char *label;
        uint32_t counted, in_snapshot;
        enum guards_verdict want;
    } seconds[] = {
        {"it agrees", 50, 50, GUARDS_CLEAR},
        {"about as many", 55, 50, GUARDS_CLEAR},
        {"they are back", 100, 50, GUARDS_NODES_LOST},
        {"fewer still", 10, 50, GUARDS_NODES_LOST},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        struct snapshot s = {0};
        struct guards g = {0};
        enum kind k;
        s.state[KIND_NODE].lists = 2;
        s.state[KIND_NODE].before_list = 100;
        s.state[KIND_NODE].lost_in_list = 50;
        guards_check(&g, &s, 0, &k);
        guards_second_list(&g, seconds[i].counted, seconds[i].in_snapshot);
        if (guards_check(&g, &s, 0, &k) != seconds[i].want)
            fail_msg("%s", seconds[i].label);
    }
}

static void a_list_of_the_watch_decides_too(void **state)
{
    struct snapshot s = {0};
    struct guards g = {0};
    enum kind k;
    (void)state;
    s.state[KIND_NODE].lists = 2;
    s.state[KIND_NODE].before_list = 100;
    s.state[KIND_NODE].lost_in_list = 50;
    assert_int_equal(guards_check(&g, &s, 0, &k), GUARDS_NODES_LOST);
    s.state[KIND_NODE].lists = 3;
    s.state[KIND_NODE].before_list = 50;
    s.state[KIND_NODE].lost_in_list = 0;
    assert_int_equal(guards_check(&g, &s, 0, &k), GUARDS_CLEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(a_second_list_decides),
        cmocka_unit_test(a_list_of_the_watch_decides_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
