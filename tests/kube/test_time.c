#include "kube/meta.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_times(void **state)
{
    static const struct {
        const char *text;
        wall_ms want;
        const char *again; /* as written by us */
    } rows[] = {
        {"1970-01-01T00:00:01Z", 1000, "1970-01-01T00:00:01Z"},
        {"2026-11-20T12:34:56Z", 1795178096000, "2026-11-20T12:34:56Z"},
        {"2026-11-20T12:34:56.789123Z", 1795178096789, "2026-11-20T12:34:56Z"},
        {"2026-11-20T14:04:56+01:30", 1795178096000, "2026-11-20T12:34:56Z"},
        {"2024-02-29T00:00:00Z", 1709164800000, "2024-02-29T00:00:00Z"},
        {"2000-03-01T00:00:00-00:00", 951868800000, "2000-03-01T00:00:00Z"},
        {"1969-12-31T23:59:59.5Z", -500, "1969-12-31T23:59:59Z"},
        {"0001-01-01T00:00:00Z", -62135596800000, "0001-01-01T00:00:00Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        wall_ms got;
        if (!time_parse(span_of(rows[i].text), &got))
            fail_msg("%s was refused", rows[i].text);
        if (got != rows[i].want)
            fail_msg("%s: got %" PRId64 ", want %" PRId64, rows[i].text, got, rows[i].want);
        struct span again = time_text(*state, got);
        if (!span_eq(again, span_of(rows[i].again)))
            fail_msg("%s: written as %s", rows[i].text, again.ptr);
    }
    assert_string_equal(time_micro_text(*state, 1795178096789).ptr, "2026-11-20T12:34:56.789000Z");
    assert_string_equal(time_micro_text(*state, 1795178096000).ptr, "2026-11-20T12:34:56.000000Z");
}

static void test_bad_times(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-11-20",
        "2026-11-20 12:34:56Z",
        "2026-11-20T12:34:56",
        "2026-13-20T12:34:56Z",
        "2026-02-29T12:34:56Z",
        "2026-11-20T24:00:00Z",
        "2026-11-20T12:34:60Z",
        "2026-11-20T12:34:56.Z",
        "2026-11-20T12:34:56+1:30",
        "2026-11-20T12:34:56Zx",
        "2026-11-20T12:34:56+25:00",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        wall_ms got;
        if (time_parse(span_of(bad[i]), &got))
            fail_msg("\"%s\" was read as %" PRId64, bad[i], got);
    }
}

static void test_durations(void **state)
{
    static const struct {
        const char *text;
        span_ms want;
        const char *again;
    } rows[] = {
        {"0", 0, "0s"},
        {"0s", 0, "0s"},
        {"1h30m", 5400000, "1h30m0s"},
        {"720h", 2592000000, "720h0m0s"},
        {"5m5m", 600000, "10m0s"},
        {"1.5s", 1500, "1.5s"},
        {"1.5h", 5400000, "1h30m0s"},
        {"500ms", 500, "500ms"},
        {"-2m", -120000, "-2m0s"},
        {"+1s", 1000, "1s"},
        {"1ns", 1, "1ms"}, /* above zero stays above zero */
        {"300s", 300000, "5m0s"},
        {"2562047h", 9223369200000, NULL},
        {".5m", 30000, "30s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        span_ms got;
        if (!duration_parse(span_of(rows[i].text), &got))
            fail_msg("%s was refused", rows[i].text);
        if (got != rows[i].want)
            fail_msg("%s: got %" PRId64 ", want %" PRId64, rows[i].text, got, rows[i].want);
        struct span again = duration_text(*state, got);
        if (rows[i].again != NULL && !span_eq(again, span_of(rows[i].again)))
            fail_msg("%s: written as %s", rows[i].text, again.ptr);
    }
    static const char *const bad[] = {"",   "Never", "1",     "h",        "1d",   "1hr",
                                      ".s", "-",     "1h 2m", "2562048h", "1..5s"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        span_ms got;
        if (duration_parse(span_of(bad[i]), &got))
            fail_msg("\"%s\" was read as %" PRId64, bad[i], got);
    }
}

static void test_calendar(void **state)
{
    (void)state;
    for (int64_t days = -800000; days < 800000; days += 61) {
        int64_t y;
        int32_t m, d;
        time_date(days, &y, &m, &d);
        if (time_days(y, m, d) != days || m < 1 || m > 12 || d < 1 || d > 31)
            fail_msg("day %" PRId64 " came back as %" PRId64 "-%d-%d", days, y, (int)m, (int)d);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_bad_times),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_calendar),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
