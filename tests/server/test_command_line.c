/* A command line in one text becomes the words that a shell makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "server/command_line.h"

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words; /* each word in brackets; NULL: a mistake */
    } rows[] = {
        {"", ""},
        {"  \n", ""},
        {"--v=4", "[--v=4]"},
        {" --nodes 1:3:a\t--v=4\n", "[--nodes][1:3:a][--v=4]"},
        {"--a='b c' \"d  e\"f", "[--a=b c][d  ef]"},
        {"--a=\"it's\" '\"'", "[--a=it's][\"]"},
        {"a\\ b \\\"", "[a b][\"]"},
        {"\"a\\\"b\\c\" 'd\\'", "[a\"b\\c][d\\]"},
        {"--a=1 \\\n  --b", "[--a=1][--b]"},
        {"'' a", "[][a]"},
        {"a\\", "[a\\]"},
        {"--a='b", NULL},
        {"a\"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct command_words words;
        struct err err = {0};
        struct buf got = {0};
        arena_init(&a, 0);
        bool ok = command_line_split(&a, span_of(rows[i].text), &words, &err);
        for (int w = 0; w < words.count; w++)
            buf_addf(&got, "[%s]", words.items[w]);
        if (ok != (rows[i].words != NULL) || (ok && !span_eq(buf_span(&got), span_of(rows[i].words))))
            fail_msg("%s: %s, not %s", rows[i].text, ok ? got.ptr : err.msg, rows[i].words);
        buf_release(&got);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};
    return cmocka_run_group_tests_name("command_line", tests, NULL, NULL);
}
