#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/span.h"
#include "kube/list_guard.h"

static void a_list_that_loses_more_than_a_fifth_is_unconfirmed(void **state)
{
    static const struct {
        const char *label;
        uint32_t had, lost;
        bool unconfirmed;
    } rows[] = {
        {"nothing is lost", 100, 0, false},
        {"a fifth is the limit", 100, 20, false},
        {"more is too many", 100, 21, true},
        {"one of five", 5, 1, false},
        {"one of two nodes", 2, 1, true},
        {"one of three pods", 3, 1, true},
        {"the one PodDisruptionBudget there was", 1, 1, true},
        {"the first list of an empty cluster", 0, 0, false},
    };
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct list_guard g = {0};
        list_guard_update(&g, &(struct list_counts){.number = 2, .had = rows[r].had, .lost = rows[r].lost,
                                                    .has = rows[r].had - rows[r].lost});
        if ((g.list == 2) != rows[r].unconfirmed || (g.list != 0 && g.lost != rows[r].lost))
            fail_msg("%s", rows[r].label);
    }
}

/* After a list that lost 50 of 100. */
static void the_next_list_decides(void **state)
{
    static const struct {
        const char *label;
        struct list_counts second;
        uint32_t list; /* unconfirmed then; 0: none */
    } rows[] = {
        {"it was asked for, and agrees", {3, 50, 0, 50, true}, 0},
        {"it was asked for, and shows about as many", {3, 50, 10, 40, true}, 0},
        {"it was asked for, and shows all", {3, 50, 0, 100, true}, 0},
        {"it was asked for, and shows most", {3, 50, 0, 80, true}, 0},
        {"it was asked for, and loses more", {3, 50, 40, 10, true}, 3},
        {"it was asked for, and shows some of those that were lost", {3, 50, 0, 79, true}, 3},
        {"it was not asked for, and agrees", {3, 50, 0, 50, false}, 2},
        {"it was not asked for, and shows some of those that were lost", {3, 50, 0, 79, false}, 2},
        {"it was not asked for, and shows all", {3, 50, 0, 100, false}, 0},
        {"it was not asked for, and loses more", {3, 50, 40, 10, false}, 3},
    };
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct list_guard g = {0};
        list_guard_update(&g, &(struct list_counts){.number = 2, .had = 100, .lost = 50, .has = 50});
        list_guard_update(&g, &rows[r].second);
        if (g.list != rows[r].list)
            fail_msg("%s: %u", rows[r].label, g.list);
    }
}

/* Two wrong lists in a row: it is whole again when what was there before the first is. */
static void what_was_believed_before_is_what_counts(void **state)
{
    struct list_guard g = {0};
    (void)state;
    list_guard_update(&g, &(struct list_counts){.number = 2, .had = 100, .lost = 50, .has = 50});
    list_guard_update(&g, &(struct list_counts){.number = 3, .had = 50, .lost = 40, .has = 10, .asked = true});
    list_guard_update(&g, &(struct list_counts){.number = 4, .had = 10, .lost = 0, .has = 50, .asked = true});
    assert_int_equal(g.list, 4);
    list_guard_update(&g, &(struct list_counts){.number = 5, .had = 50, .lost = 0, .has = 100, .asked = true});
    assert_int_equal(g.list, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_loses_more_than_a_fifth_is_unconfirmed),
        cmocka_unit_test(the_next_list_decides),
        cmocka_unit_test(what_was_believed_before_is_what_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
