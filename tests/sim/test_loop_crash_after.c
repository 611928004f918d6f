#include "tests/sim/support_crash.h"
#include "tests/sim/support_loop.h"

static void dies_after_each_write(void **state)
{
    (void)state;
    crash_every_write(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dies_after_each_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
