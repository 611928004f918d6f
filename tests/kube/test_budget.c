/* The examples of spec api 4.4, and its windows. */
#include "kube/budget.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NODES(n) .nodes = SPAN_INIT(n)
#define WINDOW(s, d) .schedule = SPAN_INIT(s), .duration = SPAN_INIT(d)

static struct span only_empty[] = {SPAN_INIT("Empty")};
static struct span only_drifted[] = {SPAN_INIT("Drifted")};
static struct span only_unhealthy[] = {SPAN_INIT("Unhealthy")};
#define FOR(list) .has_reasons = true, .reasons = {list, 1}

static const struct {
    const char *label;
    struct budget budget[2];
    uint32_t count;
    int32_t n, empty, drifted, unhealthy;
} rows[] = {
    {"no budgets", {{NODES("0")}}, 0, 10, INT32_MAX, INT32_MAX, INT32_MAX},
    {"the default", {{NODES("10%")}}, 1, 10, 1, 1, 1},
    {"5% rounds up", {{NODES("5%")}}, 1, 10, 1, 1, 1},
    {"11% of 10", {{NODES("11%")}}, 1, 10, 2, 2, 2},
    {"10% of none", {{NODES("10%")}}, 1, 0, 0, 0, 0},
    {"0%", {{NODES("0%")}}, 1, 10, 0, 0, 0},
    {"0", {{NODES("0")}}, 1, 10, 0, 0, 0},
    {"20 of 10", {{NODES("20")}}, 1, 10, 20, 20, 20},
    {"00% and 007", {{NODES("00%")}, {NODES("007")}}, 2, 10, 0, 0, 0},
    {"more than fits", {{NODES("99999999999")}}, 1, 10, INT32_MAX, INT32_MAX, INT32_MAX},
    {"all of Empty", {{NODES("10%")}, {NODES("100%"), FOR(only_empty)}}, 2, 10, 1, 1, 1},
    {"one Drifted", {{NODES("5")}, {NODES("1"), FOR(only_drifted)}}, 2, 10, 5, 1, 5},
    {"3 Unhealthy", {{NODES("10%")}, {NODES("3"), FOR(only_unhealthy)}}, 2, 10, 1, 1, 1},
    {"no repair", {{NODES("0"), FOR(only_unhealthy)}}, 1, 10, INT32_MAX, INT32_MAX, 0},
    {"a broken one for another reason counts",
     {{NODES("5")}, {NODES("1"), FOR(only_drifted), WINDOW("0 0 * * 7", "1h")}},
     2,
     10,
     0,
     0,
     0},
    {"a percentage over 100", {{NODES("101%")}}, 1, 10, 0, 0, 0},
    {"no number", {{NODES("many")}}, 1, 10, 0, 0, 0},
    {"schedule alone", {{NODES("5"), .schedule = SPAN_INIT("* * * * *")}}, 1, 10, 0, 0, 0},
    {"duration alone", {{NODES("5"), .duration = SPAN_INIT("1h")}}, 1, 10, 0, 0, 0},
    {"an empty list of reasons is none", {{NODES("2"), .has_reasons = true}}, 1, 10, 2, 2, 2},
    {"always, by schedule", {{NODES("0"), WINDOW("* * * * *", "20m")}}, 1, 10, 0, 0, 0},
    {"never, by schedule",
     {{NODES("0"), WINDOW("0 0 31 2 *", "1h")}},
     1,
     10,
     INT32_MAX,
     INT32_MAX,
     INT32_MAX},
};

static void test_allowed(void **state)
{
    (void)state;
    enum { NOON = 43200000 };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct node_pool p = {.has_budgets = true,
                              .budgets = {(struct budget *)rows[i].budget, rows[i].count}};
        int32_t empty = budgets_allowed(&p, rows[i].n, SPAN("Empty"), NOON);
        int32_t drifted = budgets_allowed(&p, rows[i].n, SPAN("Drifted"), NOON);
        int32_t unhealthy = budgets_allowed(&p, rows[i].n, SPAN("Unhealthy"), NOON);
        if (empty != rows[i].empty || drifted != rows[i].drifted || unhealthy != rows[i].unhealthy)
            fail_msg("%s: got %d, %d, %d", rows[i].label, (int)empty, (int)drifted, (int)unhealthy);
    }
}

static void test_windows(void **state)
{
    (void)state;
    static const struct {
        const char *label, *now;
        bool active;
    } at[] = {
        {"before the hit", "2026-11-20T08:59:59Z", false},
        {"at the hit", "2026-11-20T09:00:00Z", true},
        {"inside", "2026-11-20T12:00:00Z", true},
        {"the last instant", "2026-11-20T16:59:59.999Z", true},
        {"the end does not belong", "2026-11-20T17:00:00Z", false},
        {"Saturday", "2026-11-21T12:00:00Z", false},
        {"Monday", "2026-11-23T12:00:00Z", true},
    };
    struct budget office = {NODES("0"), WINDOW("0 9 * * mon-fri", "8h")};
    struct node_pool p = {.has_budgets = true, .budgets = {&office, 1}};
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        wall_ms now;
        assert_true(time_parse(span_of(at[i].now), &now));
        int32_t got = budgets_allowed(&p, 10, SPAN("Empty"), now);
        if (got != (at[i].active ? 0 : BUDGET_UNLIMITED))
            fail_msg("%s: got %d", at[i].label, (int)got);
    }
}

/* Of several that allow as many the first is reported. */
static void test_which(void **state)
{
    (void)state;
    static const struct budget equal[] = {{NODES("5")}, {NODES("2")}, {NODES("20%")}, {NODES("2")}};
    struct node_pool p = {.has_budgets = true, .budgets = {(struct budget *)equal, 4}};
    struct budget_answer x = budgets_judge(&p, 10, SPAN("Empty"), 0);
    assert_int_equal(x.allowed, 2);
    assert_int_equal(x.by, BUDGET_BY_BUDGET);
    assert_int_equal(x.index, 1);
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        struct budget budget;
        enum budget_times want;
    } at[] = {
        {"no window", {NODES("0")}, BUDGET_ALWAYS},
        {"hours without a gap", {NODES("0"), WINDOW("0 * * * *", "1h")}, BUDGET_ALWAYS},
        {"with one of a minute", {NODES("0"), WINDOW("0 * * * *", "59m")}, BUDGET_AT_TIMES},
        {"days without a gap", {NODES("0"), WINDOW("0 0 * * *", "24h")}, BUDGET_ALWAYS},
        {"days of a working week", {NODES("0"), WINDOW("0 0 * * mon-fri", "24h")}, BUDGET_AT_TIMES},
        {"and its weekend", {NODES("0"), WINDOW("0 0 * * mon-fri", "72h")}, BUDGET_ALWAYS},
        {"days of half a year", {NODES("0"), WINDOW("0 0 * 1-6 *", "24h")}, BUDGET_AT_TIMES},
        {"days of a month", {NODES("0"), WINDOW("0 0 1-15 * *", "24h")}, BUDGET_AT_TIMES},
        {"for no time", {NODES("0"), WINDOW("0 * * * *", "0s")}, BUDGET_NEVER},
        {"on no day", {NODES("0"), WINDOW("0 0 31 2 *", "1h")}, BUDGET_NEVER},
        {"broken", {NODES("0"), WINDOW("0 0 31 2", "1h")}, BUDGET_AT_TIMES},
    };
    for (size_t i = 0; i < COUNT_OF(at); i++)
        if (budget_times_of(&at[i].budget) != at[i].want)
            fail_msg("%s: %d", at[i].label, (int)budget_times_of(&at[i].budget));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allowed),
                                       cmocka_unit_test(test_windows),
                                       cmocka_unit_test(test_which),
                                       cmocka_unit_test(test_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
