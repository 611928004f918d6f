#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"

static void test_integers(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 7, -1, 10, -10, 1234567890, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {.max = 64};
        char want[32];
        snprintf(want, sizeof(want), "%lld", (long long)rows[i]);
        buf_add_int(&b, rows[i]);
        if (!span_eq(buf_span(&b), span_of(want)))
            fail_msg("%s: got %.*s", want, SPAN_ARG(buf_span(&b)));
        buf_release(&b);
    }
}

static void test_ceiling(void **state)
{
    (void)state;
    struct buf b = {.max = 3};
    buf_add_int(&b, 1234);
    assert_true(b.overflow);
    buf_release(&b);
}

/* Exactly as many bytes as the ceiling says, however they come. */
static void test_up_to_the_ceiling(void **state)
{
    (void)state;
    for (size_t step = 1; step <= 7; step++) {
        struct buf b = {.max = 700};
        while (!b.overflow)
            buf_add(&b, (struct span){"1234567", step});
        assert_int_equal(b.len, 700 / step * step);
        assert_int_equal(b.ptr[b.len], '\0');
        buf_add_char(&b, 'x');
        assert_int_equal(b.len, 700 / step * step); /* an error stays */
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers), cmocka_unit_test(test_ceiling),
                                       cmocka_unit_test(test_up_to_the_ceiling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
