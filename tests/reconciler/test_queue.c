#include "reconciler/disruption/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Scenario 152 of spec disruption. */
static void the_more_are_queued_the_longer_a_command_may_take(void **state)
{
    static const struct {
        uint64_t nodes;
        span_ms want;
    } rows[] = {{0, 10 * MS_MINUTE},
                {100, 10 * MS_MINUTE},
                {7500, 10 * MS_MINUTE},
                {10000, 13 * MS_MINUTE + 20 * MS_SECOND},
                {100000, 60 * MS_MINUTE}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(queue_lasts(rows[i].nodes), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_more_are_queued_the_longer_a_command_may_take)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
