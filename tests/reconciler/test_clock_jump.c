#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "reconciler/clock_jump.h"

enum { START = 1000000000 };

static const span_ms MONTH = 720 * MS_HOUR;

/* So much later by the monotonic clock, and by the other. */
static span_ms pass(struct clock_jump *j, span_ms mono, span_ms wall)
{
    return clock_jump_look(j, j->mono + mono, j->wall + wall);
}

static struct clock_jump begin(void)
{
    struct clock_jump j = {0};
    assert_int_equal(clock_jump_look(&j, 7000, START), 0);
    return j;
}

static void test_what_is_a_step(void **state)
{
    (void)state;
    static const struct {
        span_ms mono, wall, want;
    } rows[] = {
        {10 * MS_SECOND, 10 * MS_SECOND, 0},
        {3 * MS_HOUR, 3 * MS_HOUR, 0}, /* no pass for long is no step */
        {10 * MS_SECOND, 10 * MS_SECOND + CLOCK_JUMP_MS - 1, 0},
        {10 * MS_SECOND, 10 * MS_SECOND + CLOCK_JUMP_MS, CLOCK_JUMP_MS},
        {10 * MS_SECOND, 10 * MS_SECOND - CLOCK_JUMP_MS + 1, 0},
        {10 * MS_SECOND, 10 * MS_SECOND - CLOCK_JUMP_MS, -CLOCK_JUMP_MS},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct clock_jump j = begin();
        span_ms got = pass(&j, rows[i].mono, rows[i].wall);
        if (got != rows[i].want)
            fail_msg("row %zu: got %lld", i, (long long)got);
        assert_int_equal(pass(&j, MS_SECOND, MS_SECOND), 0); /* once */
    }
}

static void test_what_a_step_made_due(void **state)
{
    (void)state;
    struct clock_jump j = begin();
    wall_ms before = START + MS_SECOND;
    assert_int_equal(pass(&j, MS_SECOND, MS_SECOND + MONTH), MONTH);
    assert_false(clock_jump_made_due(&j, before)); /* was due without it */
    assert_true(clock_jump_made_due(&j, before + 1));
    assert_true(clock_jump_made_due(&j, before + MONTH));
    assert_false(clock_jump_made_due(&j, before + MONTH + 1));
    pass(&j, MS_HOUR, MS_HOUR);
    assert_false(clock_jump_made_due(&j, before + MONTH + MS_MINUTE)); /* came by itself */
    assert_true(clock_jump_made_due(&j, before + MONTH));
    assert_int_equal(pass(&j, MS_HOUR, 2 * MS_HOUR), MS_HOUR); /* another does not end the first */
    assert_true(clock_jump_made_due(&j, before + 1));
    assert_true(clock_jump_made_due(&j, before + MONTH + 2 * MS_HOUR + 1));
    assert_false(clock_jump_made_due(&j, before + MONTH + MS_MINUTE)); /* between the two it came by itself */
    pass(&j, MS_SECOND, -MONTH - 3 * MS_HOUR); /* it was wrong: nothing is due any more */
    assert_false(clock_jump_made_due(&j, before + MONTH));
    assert_false(clock_jump_made_due(&j, before + MS_MINUTE));
}

static void test_what_is_under_way_keeps_its_time(void **state)
{
    (void)state;
    struct clock_jump j = begin();
    assert_int_equal(clock_jump_shift(&j, START, START), 0);
    pass(&j, MS_SECOND, MS_SECOND + MONTH);
    assert_int_equal(clock_jump_shift(&j, START, j.wall), MONTH);
    assert_int_equal(clock_jump_shift(&j, j.wall, j.wall + MS_HOUR), 0); /* began after it */
    assert_int_equal(clock_jump_age(&j, START), MS_SECOND);
    assert_int_equal(clock_jump_age(&j, j.wall + 5), 0);
}

/* All steps since a moment count, whatever their directions, and only these. */
static void test_steps_add_up(void **state)
{
    (void)state;
    struct clock_jump j = begin();
    pass(&j, MS_SECOND, MS_SECOND + MS_HOUR);
    wall_ms between = j.wall;
    pass(&j, MS_MINUTE, MS_MINUTE + MS_HOUR);
    assert_int_equal(clock_jump_age(&j, START), MS_MINUTE + MS_SECOND);
    assert_int_equal(clock_jump_age(&j, between), MS_MINUTE);
    assert_int_equal(clock_jump_shift(&j, START, j.wall), 2 * MS_HOUR);
    pass(&j, MS_MINUTE, -MS_MINUTE); /* a correction by two minutes */
    assert_int_equal(clock_jump_age(&j, START), 2 * MS_MINUTE + MS_SECOND);
    assert_int_equal(clock_jump_age(&j, between), 2 * MS_MINUTE);
    assert_int_equal(clock_jump_age(&j, j.wall), 0);
}

/* More steps than are remembered: times are right for what began after the forgotten ones. */
static void test_many_steps(void **state)
{
    (void)state;
    struct clock_jump j = begin();
    for (int i = 0; i < 3 * CLOCK_STEPS_MAX; i++)
        pass(&j, MS_SECOND, MS_SECOND + MS_HOUR);
    wall_ms began = j.wall;
    pass(&j, MS_SECOND, MS_SECOND + MS_HOUR);
    assert_int_equal(j.count, CLOCK_STEPS_MAX);
    assert_int_equal(clock_jump_age(&j, began), MS_SECOND);
}

static void test_moments_in_the_future(void **state)
{
    (void)state;
    struct clock_jump j = begin();
    wall_ms last = START;
    assert_int_equal(clock_jump_shift(&j, START + 5, START), 0); /* of another host's clock */
    pass(&j, 0, -MS_HOUR);
    assert_int_equal(clock_jump_shift(&j, last, j.wall), -MS_HOUR);
    assert_int_equal(clock_jump_shift(&j, j.wall, j.wall), 0); /* began after it */
    pass(&j, 0, -MS_HOUR);
    assert_int_equal(clock_jump_shift(&j, last, j.wall), -2 * MS_HOUR);
    pass(&j, 0, MS_HOUR); /* half of it is taken back */
    assert_int_equal(clock_jump_shift(&j, last, j.wall), -MS_HOUR);
    pass(&j, MS_HOUR + 1, MS_HOUR + 1); /* the clock is where it was */
    assert_int_equal(clock_jump_shift(&j, j.wall + 5, j.wall), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_a_step),
        cmocka_unit_test(test_what_a_step_made_due),
        cmocka_unit_test(test_what_is_under_way_keeps_its_time),
        cmocka_unit_test(test_steps_add_up),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_moments_in_the_future),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
