#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "reconciler/provision/batch.h"

enum { IDLE = 1000, MAX = 10000 };

static const struct {
    const char *label;
    struct {
        const char *element;
        mono_ms at;
    } triggers[4];
    mono_ms want;
} rows[] = {
    {"nothing", {{0}}, INT64_MAX},
    {"one pod", {{"a", 0}}, IDLE},
    {"another prolongs", {{"a", 0}, {"b", 900}}, 900 + IDLE},
    {"the same one does not", {{"a", 0}, {"a", 900}}, IDLE},
    {"ten seconds at most", {{"a", 0}, {"b", 4000}, {"c", 9500}}, MAX},
};

static void windows(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        struct batch b;
        batch_init(&b, IDLE, MAX);
        for (size_t i = 0; i < COUNT_OF(rows[r].triggers) && rows[r].triggers[i].element; i++)
            batch_trigger(&b, span_of(rows[r].triggers[i].element), rows[r].triggers[i].at);
        if (batch_due(&b) != rows[r].want)
            fail_msg("%s: due at %lld", rows[r].label, (long long)batch_due(&b));
        batch_release(&b);
    }
}

/* Scenario 225. */
static void what_wakes_without_a_pod_prolongs_each_time(void **state)
{
    struct batch b;
    (void)state;
    batch_init(&b, IDLE, MAX);
    batch_wake(&b, 0);
    assert_int_equal(batch_due(&b), IDLE);
    batch_wake(&b, 500);
    assert_int_equal(batch_due(&b), 500 + IDLE);
    batch_wake(&b, 900);
    assert_int_equal(batch_due(&b), 900 + IDLE);
    for (mono_ms at = 1000; at <= 9800; at += 800)
        batch_wake(&b, at);
    assert_int_equal(batch_due(&b), MAX);
    batch_release(&b);
}

static void the_next_window_hears_the_same_pods(void **state)
{
    struct batch b;
    (void)state;
    batch_init(&b, IDLE, MAX);
    batch_trigger(&b, SPAN("a"), 0);
    batch_close(&b);
    assert_true(batch_due(&b) == INT64_MAX);
    batch_trigger(&b, SPAN("a"), 5000);
    assert_int_equal(batch_due(&b), 5000 + IDLE);
    batch_release(&b);
}

static void many_pods(void **state)
{
    struct batch b;
    (void)state;
    batch_init(&b, IDLE, MAX);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            char name[16];
            int n = snprintf(name, sizeof(name), "%d", i);
            batch_trigger(&b, (struct span){name, (size_t)n}, round * 500);
        }
    assert_int_equal(b.seen_count, 5000);
    assert_int_equal(batch_due(&b), IDLE);
    batch_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(what_wakes_without_a_pod_prolongs_each_time),
        cmocka_unit_test(the_next_window_hears_the_same_pods),
        cmocka_unit_test(many_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
