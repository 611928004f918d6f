#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reconciler/groups/drain_turns.h"

static const struct {
    const char *text;
    bool right;
    uint32_t count;
    struct drain_turn first, last;
} rows[] = {
    {"", true, 0, {0, 0}, {0, 0}},
    {"0:60", true, 1, {0, 60}, {0, 60}},
    {"1000:100,-5:0,0:60", true, 3, {-5, 0}, {1000, 100}},
    {"0:60,0:70", false, 0, {0, 0}, {0, 0}},
    {"0:60,", false, 0, {0, 0}, {0, 0}},
    {",0:60", false, 0, {0, 0}, {0, 0}},
    {"0", false, 0, {0, 0}, {0, 0}},
    {"0:", false, 0, {0, 0}, {0, 0}},
    {"0:-1", false, 0, {0, 0}, {0, 0}},
    {"0:3000000000", false, 0, {0, 0}, {0, 0}},
    {"a:60", false, 0, {0, 0}, {0, 0}},
    {"0:60:1", false, 0, {0, 0}, {0, 0}},
};

static void test_the_list_is_read_in_its_order(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct drain_turns t;
        if (drain_turns_parse(&a, span_of(rows[i].text), &t) != rows[i].right)
            fail_msg("\"%s\" is %s", rows[i].text, rows[i].right ? "refused" : "taken");
        if (!rows[i].right || rows[i].count == 0)
            continue;
        assert_int_equal(t.count, rows[i].count);
        assert_memory_equal(&t.items[0], &rows[i].first, sizeof(rows[i].first));
        assert_memory_equal(&t.items[t.count - 1], &rows[i].last, sizeof(rows[i].last));
    }
    arena_release(&a);
}

static void test_a_pod_has_the_turn_of_the_highest_priority_that_it_reaches(void **state)
{
    (void)state;
    static const struct drain_turn items[] = {{0, 60}, {1000, 100}, {2000, 10}};
    const struct drain_turns t = {items, 3};
    static const struct {
        int32_t priority;
        uint32_t turn;
    } pods[] = {{INT32_MIN, 0}, {-1, 0}, {0, 0}, {999, 0}, {1000, 1}, {1999, 1}, {2000, 2}, {INT32_MAX, 2}};
    for (size_t i = 0; i < COUNT_OF(pods); i++)
        if (drain_turn_of(&t, pods[i].priority) != pods[i].turn)
            fail_msg("priority %d has turn %u", pods[i].priority, drain_turn_of(&t, pods[i].priority));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list_is_read_in_its_order),
        cmocka_unit_test(test_a_pod_has_the_turn_of_the_highest_priority_that_it_reaches),
    };
    return cmocka_run_group_tests_name("drain_turns", tests, NULL, NULL);
}
