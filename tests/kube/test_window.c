/* When a window next opens or closes. */
#include "kube/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube/meta.h"

static const struct {
    const char *label, *schedule;
    span_ms length;
    const char *at, *turns; /* on 2026-01-02, a Friday; "": it does not */
} rows[] = {
    {"shut", "0 3 * * *", 20 * MS_MINUTE, "02:30:00", "03:00:00"},
    {"as it opens", "0 3 * * *", 20 * MS_MINUTE, "03:00:00", "03:20:00"},
    {"open", "0 3 * * *", 20 * MS_MINUTE, "03:19:59", "03:20:00"},
    {"two that overlap are one", "0,1 3 * * *", 2 * MS_MINUTE, "03:00:30", "03:03:00"},
    {"in the second", "0,1 3 * * *", 2 * MS_MINUTE, "03:02:30", "03:03:00"},
    {"two that follow at once, too", "0,10 3 * * *", 10 * MS_MINUTE, "03:05:00", "03:20:00"},
    {"one that comes later does not", "0,11 3 * * *", 10 * MS_MINUTE, "03:05:00", "03:10:00"},
    {"always open", "* * * * *", 2 * MS_MINUTE, "03:00:30", ""},
    {"for as long as it lasts", "* * * * *", 1 * MS_MINUTE, "03:00:30", ""},
    {"without a hit", "0 0 30 2 *", 20 * MS_MINUTE, "03:00:00", ""},
};

static wall_ms on_the_day(const char *clock)
{
    char text[32];
    wall_ms t;
    snprintf(text, sizeof(text), "2026-01-02T%sZ", clock);
    assert_true(time_parse(span_of(text), &t));
    return t;
}

static void when_it_turns(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct window w = {.length = rows[i].length};
        struct err err;
        wall_ms turn = 0;
        assert_true(cron_parse(span_of(rows[i].schedule), &w.cron, &err));
        assert_true(zone_parse(SPAN("UTC"), &w.zone));
        bool turns = window_turns(&w, on_the_day(rows[i].at), &turn), want = rows[i].turns[0] != '\0';
        if (turns != want || (turns && turn != on_the_day(rows[i].turns)))
            fail_msg("%s: %s at %lld", rows[i].label, turns ? "turns" : "does not turn", (long long)turn);
    }
}

/* From its hit on, up to its length and not at it. */
static void when_it_is_open(void **state)
{
    static const struct {
        const char *at;
        bool open;
    } times[] = {{"02:59:59", false}, {"03:00:00", true}, {"03:19:59", true}, {"03:20:00", false}};
    struct window w = {.length = 20 * MS_MINUTE};
    struct err err;
    (void)state;
    assert_true(cron_parse(SPAN("0 3 * * *"), &w.cron, &err));
    assert_true(zone_parse(SPAN("UTC"), &w.zone));
    for (size_t i = 0; i < COUNT_OF(times); i++)
        if (window_is_open(&w, on_the_day(times[i].at)) != times[i].open)
            fail_msg("at %s it is %s", times[i].at, times[i].open ? "shut" : "open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(when_it_turns), cmocka_unit_test(when_it_is_open)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
