/* Local time by a zone's name, with its summer, and windows by it. */
#include "kube/zone.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "kube/allow_windows.h"
#include "kube/budget.h"
#include "kube/meta.h"

static wall_ms at(const char *text)
{
    wall_ms t;
    assert_true(time_parse(span_of(text), &t));
    return t;
}

static void offsets(void **state)
{
    static const struct {
        const char *zone, *at;
        int minutes;
    } rows[] = {
        {"UTC", "2026-07-01T00:00:00Z", 0},
        {"Europe/Berlin", "2026-01-01T00:00:00Z", 60},
        {"Europe/Berlin", "2026-03-29T00:59:59Z", 60},
        {"Europe/Berlin", "2026-03-29T01:00:00Z", 120},
        {"Europe/Berlin", "2026-10-25T00:59:59Z", 120},
        {"Europe/Berlin", "2026-10-25T01:00:00Z", 60},
        {"America/New_York", "2026-03-08T06:59:59Z", -300},
        {"America/New_York", "2026-03-08T07:00:00Z", -240},
        {"Asia/Kolkata", "2026-06-01T00:00:00Z", 330},
        {"Australia/Sydney", "2026-01-01T00:00:00Z", 660},
        {"Australia/Sydney", "2026-04-04T16:00:00Z", 600},
        {"Australia/Lord_Howe", "2026-01-01T00:00:00Z", 660},
        {"Australia/Lord_Howe", "2026-07-01T00:00:00Z", 630},
        {"Europe/Dublin", "2026-07-01T00:00:00Z", 60},
        {"Europe/Dublin", "2026-01-01T00:00:00Z", 0},
        {"America/Nuuk", "2026-03-29T01:00:00Z", -60},
        {"America/Nuuk", "2026-03-29T00:59:59Z", -120},
        {"Asia/Tehran", "2026-07-01T00:00:00Z", 210},
        {"America/New_York", "1969-12-31T12:00:00Z", -300},
        {"Europe/Berlin", "1969-07-01T12:00:00Z", 120},
        {"+05:30", "2026-07-01T00:00:00Z", 330},
        {"-03:00", "2026-01-01T00:00:00Z", -180},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct zone z;
        assert_true(zone_parse(span_of(rows[i].zone), &z));
        span_ms got = zone_offset(&z, at(rows[i].at)) / MS_MINUTE;
        if (got != rows[i].minutes)
            fail_msg("%s %s: %lld", rows[i].zone, rows[i].at, (long long)got);
    }
}

static void names_that_are_none(void **state)
{
    static const char *const names[] = {"", " ", "Europe", "europe/berlin", "Europe/Berlin UTC", "+2", "+02:60", "+15:00", "02:00"};
    struct zone z;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (zone_parse(span_of(names[i]), &z))
            fail_msg("\"%s\" is taken for a zone", names[i]);
}

static void clocks_that_turn(void **state)
{
    struct zone z;
    (void)state;
    assert_true(zone_parse(SPAN("Europe/Berlin"), &z));
    assert_int_equal(zone_utc(&z, at("2026-07-01T12:00:00Z")), at("2026-07-01T10:00:00Z"));
    assert_int_equal(zone_utc(&z, at("2026-03-29T02:30:00Z")), at("2026-03-29T01:30:00Z")); /* left out: 03:30 */
    assert_int_equal(zone_utc(&z, at("2026-10-25T02:30:00Z")), at("2026-10-25T00:30:00Z")); /* twice: the first */
    assert_int_equal(zone_utc(&z, at("2026-10-25T03:00:00Z")), at("2026-10-25T02:00:00Z"));
}

static struct node_pool pool_with(struct annotation *a, const char *text)
{
    *a = (struct annotation){SYM_ALLOW_WINDOWS, span_of(text)};
    return (struct node_pool){.meta.annotations = {a, 1}};
}

static void windows(void **state)
{
#define NIGHTS "0 1 * * mon-fri 4h Europe/Berlin"
    static const struct {
        const char *text, *at, *reason;
        bool open;
        const char *turns; /* "": it does not */
    } rows[] = {
        {NIGHTS, "2026-07-01T22:59:59Z", "Empty", false, "2026-07-01T23:00:00Z"},
        {NIGHTS, "2026-07-01T23:00:00Z", "Empty", true, "2026-07-02T03:00:00Z"},
        {NIGHTS, "2026-07-02T02:59:59Z", "Unhealthy", true, "2026-07-02T03:00:00Z"},
        {NIGHTS, "2026-07-02T03:00:00Z", "Drifted", false, "2026-07-02T23:00:00Z"},
        {NIGHTS, "2026-12-01T00:00:00Z", "Drifted", true, "2026-12-01T04:00:00Z"},
        {NIGHTS, "2026-12-04T04:00:00Z", "Drifted", false, "2026-12-07T00:00:00Z"},
        {"0 1 * * * 1h;  0 3 * * * 1h +01:00 ", "2026-12-01T02:30:00Z", "Drifted", true, "2026-12-01T03:00:00Z"},
        {"@hourly 1h", "2026-12-01T02:30:00Z", "Drifted", true, ""},
        {"* * * * * 2m", "2026-12-01T02:30:00Z", "Drifted", true, ""},
        {"Drifted,Empty: @daily 2h", "2026-12-01T02:30:00Z", "Drifted", false, "2026-12-02T00:00:00Z"},
        {"Drifted,Empty: @daily 2h", "2026-12-01T02:30:00Z", "Empty", false, "2026-12-02T00:00:00Z"},
        {"Drifted,Empty: @daily 2h", "2026-12-01T02:30:00Z", "Underutilized", true, ""},
        {"Drifted: @daily 2h; 0 4 * * * 1h", "2026-12-01T04:30:00Z", "Drifted", true, "2026-12-01T05:00:00Z"},
        {"Drifted: @daily 2h; 0 4 * * * 1h", "2026-12-01T00:30:00Z", "Empty", false, "2026-12-01T04:00:00Z"},
        {"30 2 * * * 1h Europe/Berlin", "2026-10-25T00:30:00Z", "Empty", true, "2026-10-25T01:30:00Z"}, /* not twice */
        {"30 2 * * * 1h Europe/Berlin", "2026-10-25T01:30:00Z", "Empty", false, "2026-10-26T01:30:00Z"},
        {"30 2 * * * 1h Europe/Berlin", "2026-03-29T01:30:00Z", "Empty", true, "2026-03-29T02:30:00Z"}, /* left out */
        /* what cannot be read allows nothing */
        {"", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"0 1 * * mon-fri", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"0 1 * * mon-fri 4h Berlin", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"* * * * * 1h; @dayly 1h", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"* * * * * 0s", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"* * * * * 1h UTC now", "2026-12-01T02:30:00Z", "Empty", false, ""},
        {"Drift: * * * * * 1h", "2026-12-01T02:30:00Z", "Empty", false, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct annotation a;
        struct node_pool p = pool_with(&a, rows[i].text);
        wall_ms turn, now = at(rows[i].at);
        struct span reason = span_of(rows[i].reason);
        bool open = allow_windows_open(&p, reason, now), turns = budgets_turn(&p, 10, reason, now, &turn);
        if (open != rows[i].open || turns != (rows[i].turns[0] != 0) || (turns && turn != at(rows[i].turns)))
            fail_msg("\"%s\" at %s for %s: %s, turns %lld", rows[i].text, rows[i].at, rows[i].reason,
                     open ? "open" : "shut", turns ? (long long)turn : -1);
        assert_int_equal(budgets_allowed(&p, 10, reason, now), open ? BUDGET_UNLIMITED : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(offsets), cmocka_unit_test(names_that_are_none),
                                       cmocka_unit_test(clocks_that_turn), cmocka_unit_test(windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
