#include "kube/cron.h"

#include "kube/meta.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static wall_ms at(const char *text)
{
    wall_ms t;
    assert_true(time_parse(span_of(text), &t));
    return t;
}

/* 2026-11-20 is a Friday. */
static const struct {
    const char *schedule, *after, *want; /* want NULL: never */
} hits[] = {
    {"* * * * *", "2026-11-20T10:00:00Z", "2026-11-20T10:01:00Z"},
    {"* * * * *", "2026-11-20T10:00:30Z", "2026-11-20T10:01:00Z"},
    {"* * * * *", "2026-11-20T09:59:59.999Z", "2026-11-20T10:00:00Z"},
    {"0 9 * * mon-fri", "2026-11-20T09:00:00Z", "2026-11-23T09:00:00Z"},
    {"0 9 * * MON-FRI", "2026-11-20T08:59:00Z", "2026-11-20T09:00:00Z"},
    {"*/15 * * * *", "2026-11-20T10:16:00Z", "2026-11-20T10:30:00Z"},
    {"5/20 * * * *", "2026-11-20T10:26:00Z", "2026-11-20T10:45:00Z"},
    {"10-20/5 * * * *", "2026-11-20T10:16:00Z", "2026-11-20T10:20:00Z"},
    {"1,2,50 * * * *", "2026-11-20T10:02:00Z", "2026-11-20T10:50:00Z"},
    {"0 0 29 2 *", "2026-11-20T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"0 0 31 2 *", "2026-11-20T00:00:00Z", NULL},
    {"0 0 1 jan *", "2026-11-20T00:00:00Z", "2027-01-01T00:00:00Z"},
    {"0 0 13 * fri", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"}, /* either day field */
    {"0 0 13 * *", "2026-11-20T00:00:00Z", "2026-12-13T00:00:00Z"},
    {"0 0 */2 * fri", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z"}, /* a step restricts */
    {"0 0 ? * sun", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z"},
    {"@hourly", "2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"},
    {"@daily", "2026-11-20T10:00:00Z", "2026-11-21T00:00:00Z"},
    {"@midnight", "2026-11-20T10:00:00Z", "2026-11-21T00:00:00Z"},
    {"@weekly", "2026-11-20T10:00:00Z", "2026-11-22T00:00:00Z"},
    {"@monthly", "2026-11-20T10:00:00Z", "2026-12-01T00:00:00Z"},
    {"@yearly", "2026-11-20T10:00:00Z", "2027-01-01T00:00:00Z"},
    {"@annually", "2026-11-20T10:00:00Z", "2027-01-01T00:00:00Z"},
    {"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
};

static void test_hits(void **state)
{
    for (size_t i = 0; i < COUNT_OF(hits); i++) {
        struct cron c;
        struct err err = {0};
        wall_ms got = 0;
        if (!cron_parse(span_of(hits[i].schedule), &c, &err))
            fail_msg("%s: %s", hits[i].schedule, err.msg);
        bool found = cron_next(&c, at(hits[i].after), &got);
        if (found != (hits[i].want != NULL) || (found && got != at(hits[i].want)))
            fail_msg("%s after %s: got %s", hits[i].schedule, hits[i].after,
                     found ? time_text(*state, got).ptr : "never");
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "*",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * 0 *",
        "* * * * 7",
        "a b c d e",
        "@every 1h",
        "@dailyfoo",
        "@yearly 1",
        "5-1 * * * *",
        "*/0 * * * *",
        "*/-1 * * * *",
        ", * * * *",
        "1,, * * * *",
        "TZ=UTC 0 0 * * *",
        "CRON_TZ=UTC 0 0 * * *",
        "* * * * mon-",
        "-5 * * * *",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct cron c;
        struct err err = {0};
        if (cron_parse(span_of(bad[i]), &c, &err))
            fail_msg("\"%s\" was read", bad[i]);
        assert_int_equal(err.kind, ERR_INVALID);
    }
}

static int setup(void **state)
{
    static struct arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int teardown(void **state)
{
    arena_release(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hits), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
