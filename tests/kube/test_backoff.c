#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "kube/backoff.h"

static void test_waits_double_up_to_the_most(void **state)
{
    (void)state;
    static const span_ms want[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    struct backoff b = {.first = 800, .max = 30000};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_int_equal(backoff_next(&b, 0), want[i]);
    b.failures = 0;
    assert_int_equal(backoff_next(&b, 0), 800);
}

static void test_jitter_takes_off_up_to_half(void **state)
{
    (void)state;
    struct backoff b = {.first = 800, .max = 30000};
    assert_int_equal(backoff_next(&b, 0.5), 600);
    b.failures = 0;
    span_ms least = backoff_next(&b, 0.999999);
    assert_in_range(least, 400, 401);
}

static void test_many_failures_do_not_overflow(void **state)
{
    (void)state;
    struct backoff b = {.first = 800, .max = 30000, .failures = UINT32_MAX};
    assert_int_equal(backoff_next(&b, 0), 30000);
    assert_int_equal(backoff_next(&b, 0), 30000);
}

static void test_bucket_gives_the_burst_and_then_the_rate(void **state)
{
    (void)state;
    struct bucket b = {.rate = 200, .burst = 300};
    mono_ms now = 1000;
    int taken = 0;
    while (bucket_take(&b, now))
        taken++;
    assert_int_equal(taken, 300);
    assert_in_range(bucket_due(&b, now), now + 5, now + 6);
    for (int second = 0; second < 10; second++) /* asked every millisecond */
        for (int i = 0; i < 1000; i++)
            taken += bucket_take(&b, ++now);
    assert_in_range(taken, 300 + 1999, 300 + 2000);
}

static void test_bucket_gives_whole_tokens(void **state)
{
    (void)state;
    struct bucket b = {.rate = 1, .burst = 1};
    assert_true(bucket_take(&b, 1000));
    assert_false(bucket_take(&b, 1500));
    assert_false(bucket_take(&b, 1999));
    assert_true(bucket_take(&b, 2000));
    assert_false(bucket_take(&b, 2000));
}

static void test_bucket_holds_no_more_than_the_burst(void **state)
{
    (void)state;
    struct bucket b = {.rate = 5, .burst = 10};
    mono_ms now = 1;
    assert_true(bucket_take(&b, now));
    now += 3600 * 1000;
    int taken = 0;
    while (bucket_take(&b, now))
        taken++;
    assert_int_equal(taken, 10);
}

static void test_due_is_when_a_token_is_there(void **state)
{
    (void)state;
    struct bucket b = {.rate = 3, .burst = 1};
    mono_ms now = 50;
    assert_true(bucket_take(&b, now));
    for (int i = 0; i < 100; i++) {
        mono_ms due = bucket_due(&b, now);
        assert_true(due > now);
        now = due;
        assert_true(bucket_take(&b, now));
    }
}

static void test_random_stays_in_range(void **state)
{
    (void)state;
    uint64_t seed = 1;
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double r = random_unit(&seed);
        assert_true(r >= 0 && r < 1);
        sum += r;
    }
    assert_true(sum > 4800 && sum < 5200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_double_up_to_the_most),
        cmocka_unit_test(test_jitter_takes_off_up_to_half),
        cmocka_unit_test(test_many_failures_do_not_overflow),
        cmocka_unit_test(test_bucket_gives_the_burst_and_then_the_rate),
        cmocka_unit_test(test_bucket_gives_whole_tokens),
        cmocka_unit_test(test_bucket_holds_no_more_than_the_burst),
        cmocka_unit_test(test_due_is_when_a_token_is_there),
        cmocka_unit_test(test_random_stays_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
