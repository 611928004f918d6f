/* /health-check by the age of the loop of node groups (spec node-groups 1.8, scenarios 4 to 8). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server/loop_health.h"

enum { NEVER = -1 };

static const struct loop_limits limits = {10 * MS_MINUTE, 15 * MS_MINUTE, 20 * MS_MINUTE};

/* Minutes and seconds after the first pass. */
#define AT(m, s) (((m) * 60 + (s)) * MS_SECOND)

static const struct {
    const char *label;
    span_ms active, succeeded, now; /* the last of each; NEVER */
    bool well;
    const char *says;
} rows[] = {
    {"4: a pass that failed is activity", AT(14, 0), AT(0, 0), AT(14, 50), true, ""},
    {"6: exactly 15 minutes since a success", AT(15, 0), AT(0, 0), AT(15, 0), true, ""},
    {"6: a second more", AT(15, 0), AT(0, 0), AT(15, 1), false, "the loop of node groups has had no pass that succeeded for 901 s"},
    {"no pass for 10 minutes", AT(0, 0), AT(0, 0), AT(10, 0), true, ""},
    {"a second more", AT(0, 0), AT(0, 0), AT(10, 1), false, "the loop of node groups has made no pass for 601 s"},
    {"8: no success 19 minutes after the start", AT(19, 0), NEVER, AT(19, 0), true, ""},
    {"8: after 20", AT(20, 1), NEVER, AT(20, 1), false, "the loop of node groups has had no pass that succeeded for 1201 s"},
};

static void ages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const mono_ms start = 5000;
        struct loop_health h = {0};
        struct buf why = {0};
        loop_passes(&h, start);
        if (rows[i].succeeded != NEVER)
            loop_succeeds(&h, start + rows[i].succeeded);
        loop_passes(&h, start + rows[i].active);
        bool well = loop_is_well(&h, &limits, start + rows[i].now, &why);
        buf_add_char(&why, '\0');
        if (well != rows[i].well || strcmp(why.ptr, rows[i].says) != 0)
            fail_msg("%s: %d, %s", rows[i].label, well, why.ptr);
        buf_release(&why);
    }
}

static void who_stands_by_is_well(void **state) /* 7 */
{
    struct loop_health h = {0};
    struct buf why = {0};
    (void)state;
    assert_true(loop_is_well(&h, &limits, AT(60, 0), &why));
    loop_passes(&h, AT(60, 0));
    loop_rests(&h);
    assert_true(loop_is_well(&h, &limits, AT(240, 0), &why));
    buf_release(&why);
}

static void the_start_has_as_long_as_the_longest(void **state)
{
    static const struct loop_limits longer = {10 * MS_MINUTE, 40 * MS_MINUTE, 20 * MS_MINUTE};
    struct loop_health h = {0};
    struct buf why = {0};
    (void)state;
    loop_passes(&h, 1000);
    loop_passes(&h, 1000 + AT(39, 0));
    assert_true(loop_is_well(&h, &longer, 1000 + AT(40, 0), &why));
    assert_false(loop_is_well(&h, &longer, 1000 + AT(40, 1), &why));
    buf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ages), cmocka_unit_test(who_stands_by_is_well),
                                       cmocka_unit_test(the_start_has_as_long_as_the_longest)};
    return cmocka_run_group_tests_name("loop_health", tests, NULL, NULL);
}
