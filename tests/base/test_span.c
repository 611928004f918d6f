#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

static void test_int64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {
        {"0", true, 0},          {"-0", true, 0},
        {"+7", true, 7},         {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},          {"-", false, 0},
        {"1 ", false, 0},        {"0x1", false, 0},
        {"99999999999999999999999", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t got = 0;
        bool ok = span_int64(span_of(rows[i].text), &got);
        if (ok != rows[i].ok || (ok && got != rows[i].want))
            fail_msg("\"%s\": got %d %ld", rows[i].text, ok, (long)got);
    }
}

static void test_order_and_parts(void **state)
{
    (void)state;
    assert_true(span_cmp(SPAN("a"), SPAN("ab")) < 0);
    assert_true(span_cmp(SPAN("b"), SPAN("ab")) > 0);
    assert_int_equal(span_cmp(SPAN(""), (struct span){NULL, 0}), 0);
    assert_true(span_has_prefix(SPAN("karpenter.sh/x"), SPAN("karpenter.sh/")));
    assert_false(span_has_prefix(SPAN("k"), SPAN("karpenter")));
    assert_true(span_has_suffix(SPAN("a.karpenter.sh"), SPAN(".karpenter.sh")));
    assert_true(span_contains(SPAN("a-b-c"), SPAN("b-")));
    assert_false(span_contains(SPAN(""), SPAN("b")));
    struct span rest;
    assert_true(span_eq(span_cut(SPAN("a/b/c"), '/', &rest), SPAN("a")));
    assert_true(span_eq(rest, SPAN("b/c")));
    assert_true(span_eq(span_cut(SPAN("abc"), '/', &rest), SPAN("abc")));
    assert_null(rest.ptr);
    span_cut(SPAN("abc/"), '/', &rest);
    assert_non_null(rest.ptr); /* empty, but there */
    assert_int_equal(rest.len, 0);
}

static void test_buf_stops_at_its_ceiling(void **state)
{
    (void)state;
    struct buf b = {.max = 8};
    buf_add(&b, SPAN("12345678"));
    assert_false(b.overflow);
    buf_add_char(&b, '9');
    buf_add(&b, SPAN(""));
    assert_true(b.overflow);
    assert_true(span_eq(buf_span(&b), SPAN("12345678")));
    buf_clear(&b);
    buf_addf(&b, "%d-%s", 12, "ab");
    buf_consume(&b, 3);
    assert_string_equal(b.ptr, "ab");
    assert_false(b.overflow);
    buf_release(&b);
}

static void test_arena_keeps_what_was_given(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64);
    const char *texts[200];
    for (int i = 0; i < 200; i++)
        texts[i] = arena_printf(&a, "text %d", i).ptr;
    for (int i = 0; i < 200; i++) {
        char want[16];
        snprintf(want, sizeof(want), "text %d", i);
        assert_string_equal(texts[i], want);
    }
    int *list = NULL;
    size_t count = 0, capacity = 0;
    for (int i = 0; i < 1000; i++)
        ARENA_PUSH(&a, list, count, capacity, i);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list[i], i);
    size_t before = a.total;
    arena_clear(&a);
    assert_true(a.total <= before);
    int *zero = ARENA_ARRAY(&a, int, 16);
    for (int i = 0; i < 16; i++)
        assert_int_equal(zero[i], 0);
    assert_null(arena_dup(&a, (struct span){NULL, 0}).ptr);
    arena_release(&a);
    assert_int_equal(a.total, 0);
}

static void test_err_reads_from_the_outside_in(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_set(&err, ERR_INVALID, "%d is not a weight", 101));
    assert_false(err_wrap(&err, "NodePool %s", "general"));
    assert_string_equal(err.msg, "NodePool general: 101 is not a weight");
    assert_int_equal(err.kind, ERR_INVALID);
    for (int i = 0; i < 100; i++)
        assert_false(err_wrap(&err, "a rather long piece of context"));
    assert_int_equal(strlen(err.msg), ERR_MSG_MAX);
    assert_string_equal(err.msg + ERR_MSG_MAX - 3, "...");
}

static void test_err_says_that_it_is_cut(void **state)
{
    (void)state;
    struct err err;
    char text[ERR_MSG_MAX + 2];
    memset(text, 'x', sizeof(text));
    text[ERR_MSG_MAX + 1] = '\0';
    assert_false(err_set(&err, ERR_RETRY, "%.*s", ERR_MSG_MAX, text));
    assert_int_equal(strlen(err.msg), ERR_MSG_MAX);
    assert_null(strchr(err.msg, '.'));
    assert_false(err_set(&err, ERR_RETRY, "%s", text));
    assert_int_equal(strlen(err.msg), ERR_MSG_MAX);
    assert_int_equal(strcspn(err.msg, "."), ERR_MSG_MAX - 3);
    memcpy(text + ERR_MSG_MAX - 4, "\xc3\xa4", 2); /* not within a character */
    assert_false(err_set(&err, ERR_RETRY, "%s", text));
    assert_int_equal(strcspn(err.msg, "."), ERR_MSG_MAX - 4);
    assert_string_equal(err.msg + ERR_MSG_MAX - 4, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int64),
        cmocka_unit_test(test_order_and_parts),
        cmocka_unit_test(test_buf_stops_at_its_ceiling),
        cmocka_unit_test(test_arena_keeps_what_was_given),
        cmocka_unit_test(test_err_reads_from_the_outside_in),
        cmocka_unit_test(test_err_says_that_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
