/* How long a pass of some cost is followed by none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "reconciler/provision/pace.h"

static void rests_as_it_worked(void **state)
{
    static const struct {
        const char *label;
        uint64_t took_ns;
        span_ms want;
    } rows[] = {
        {"nothing", 0, 0},
        {"a pass over a small cluster", 20000, 0},
        {"a hundredth of a millisecond too little", 1030000, 25},
        {"a pass over a large one", 1000000, 25},
        {"the longest rest", 2000000, 50},
        {"news does not wait longer for dear passes", 8000000, 50},
        {"nor for a solve", UINT64_C(30000000000), 50},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (pace_rest(rows[i].took_ns) != rows[i].want)
            fail_msg("%s: %d ms, not %d", rows[i].label, (int)pace_rest(rows[i].took_ns), (int)rows[i].want);
}

/* However dear passes are, as long as two of them are less than the longest rest apart. */
static void passes_have_their_share(void **state)
{
    (void)state;
    for (uint64_t took = 40000; took <= 2000000; took += 40000) {
        double rest = (double)pace_rest(took) * 1e6, share = (double)took / ((double)took + rest);
        assert_true(share <= 0.04);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_as_it_worked),
        cmocka_unit_test(passes_have_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
