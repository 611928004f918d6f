/* Numbers by (group, target) take memory for those that are not zero at one time, and not for all that ever were. */
#include "planner/topology/pairs.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROUNDS = 100, AT_A_TIME = 20 };

static void add_to_all(struct pairs *p, uint32_t round, int32_t by)
{
    for (uint32_t i = 0; i < AT_A_TIME; i++)
        pairs_add(p, i, round * AT_A_TIME + i, by);
}

static void what_is_zero_again_takes_no_memory(void **state)
{
    (void)state;
    struct arena a;
    struct pairs p;
    size_t early = 0;
    arena_init(&a, 0);
    pairs_init(&p, &a);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        add_to_all(&p, round, 1);
        for (uint32_t i = 0; i < AT_A_TIME; i++)
            assert_int_equal(pairs_get(&p, i, round * AT_A_TIME + i), 1);
        add_to_all(&p, round, -1);
        if (round == ROUNDS / 10)
            early = a.total;
    }
    assert_int_equal(a.total, early);
    assert_int_equal(pairs_get(&p, 0, 0), 0);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_zero_again_takes_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
