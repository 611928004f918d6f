#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "server/page/history.h"

static void expect(struct history *h, uint64_t seen, const char *want)
{
    struct buf b = {0};
    history_json(h, seen, &b);
    if (!span_eq(buf_span(&b), span_of(want)))
        fail_msg("after %llu: got %.*s\nwant %s", (unsigned long long)seen, SPAN_ARG(buf_span(&b)), want);
    buf_release(&b);
}

static void add(struct history *h, wall_ms at, double price)
{
    history_add(h, &(struct history_point){.at = at, .price = price, .nodes = 1});
}

static void test_steps(void **state)
{
    (void)state;
    struct history *h = history_new();
    assert_true(history_is_due(h, 7));
    assert_int_equal(history_newest(h), 0);
    expect(h, 0, "{\"stepMillis\":30000,\"points\":[]}");
    add(h, 60000, 0.5);
    assert_false(history_is_due(h, 60000));
    assert_false(history_is_due(h, 89999));
    assert_true(history_is_due(h, 90000));
    assert_true(history_is_due(h, 59999)); /* the clock was set back */
    history_add(h, &(struct history_point){90001, 1.25, 1500, 4000, 1024, 2048, 3, 12, 4});
    expect(h, 0, "{\"stepMillis\":30000,\"points\":[[60000,0.5,0,0,0,0,1,0,0],[90001,1.25,1500,4000,1024,2048,3,12,4]]}");
    expect(h, 1, "{\"stepMillis\":30000,\"points\":[[90001,1.25,1500,4000,1024,2048,3,12,4]]}");
    expect(h, 2, "{\"stepMillis\":30000,\"points\":[]}");
    history_free(h);
}

static void test_a_clock_set_back(void **state)
{
    (void)state;
    struct history *h = history_new();
    add(h, 60000, 1);
    add(h, 90000, 2);
    add(h, 45000, 3);
    expect(h, 0, "{\"stepMillis\":30000,\"points\":[[45000,3,0,0,0,0,1,0,0]]}");
    expect(h, 2, "{\"stepMillis\":30000,\"points\":[[45000,3,0,0,0,0,1,0,0]]}"); /* new to who has seen the others */
    history_free(h);
}

static void test_bounded(void **state)
{
    (void)state;
    enum { MORE = HISTORY_POINTS + 5 };
    struct history *h = history_new();
    for (int i = 1; i <= MORE; i++)
        add(h, (wall_ms)i * HISTORY_STEP_MS, i);
    struct buf b = {0};
    history_json(h, 0, &b);
    buf_add_char(&b, '\0');
    assert_non_null(strstr(b.ptr, "[[180000,6,")); /* the first five are gone */
    size_t points = 0;
    for (const char *at = b.ptr; (at = strchr(at, '[')) != NULL; at++)
        points++;
    assert_int_equal(points, HISTORY_POINTS + 1);
    assert_int_equal(history_newest(h), MORE);
    buf_release(&b);
    history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_a_clock_set_back),
                                       cmocka_unit_test(test_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
