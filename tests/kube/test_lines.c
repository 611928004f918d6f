#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/lines.h"

/* Lines written as "a|b|" with the ceiling of 8 bytes; `!`: too long. */
static const struct {
    const char *label, *stream, *want;
} rows[] = {
    {"nothing", "", ""},
    {"one line", "abc\n", "abc|"},
    {"two lines", "abc\nde\n", "abc|de|"},
    {"unfinished", "abc\nde", "abc|+"},
    {"empty lines are passed over", "\n\nabc\n\n", "abc|"},
    {"exactly the ceiling", "12345678\n", "12345678|"},
    {"over the ceiling", "ab\n123456789\ncd\n", "ab|!"},
    {"over the ceiling without an end", "123456789", "!"},
};

static void split(const char *stream, size_t chunk, struct buf *out)
{
    struct lines l = {.held = {.max = 8}};
    struct span line;
    size_t len = strlen(stream);
    for (size_t at = 0; at < len && !l.too_long; at += chunk) {
        lines_feed(&l, (struct span){stream + at, chunk < len - at ? chunk : len - at});
        while (lines_next(&l, &line)) {
            buf_add(out, line);
            buf_add_char(out, '|');
        }
    }
    if (l.too_long)
        buf_add_char(out, '!');
    else if (lines_pending(&l))
        buf_add_char(out, '+');
    lines_release(&l);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t chunk = 1; chunk <= strlen(rows[i].stream) + 1; chunk++) {
            struct buf got = {0};
            split(rows[i].stream, chunk, &got);
            if (!span_eq(buf_span(&got), span_of(rows[i].want)))
                fail_msg("%s, in chunks of %zu: got %.*s, want %s", rows[i].label, chunk,
                         SPAN_ARG(buf_span(&got)), rows[i].want);
            buf_release(&got);
        }
}

static void test_a_cleared_splitter_begins_anew(void **state)
{
    (void)state;
    struct lines l = {.held = {.max = 8}};
    struct span line;
    lines_feed(&l, SPAN("half"));
    assert_false(lines_next(&l, &line));
    lines_clear(&l);
    lines_feed(&l, SPAN("whole\n"));
    assert_true(lines_next(&l, &line));
    assert_true(span_eq(line, SPAN("whole")));
    lines_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_a_cleared_splitter_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
