#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "server/colour.h"

static const char *const *environment; /* pairs of name and value, ended by NULL */

static const char *from_environment(const char *name)
{
    for (size_t i = 0; environment[i] != NULL; i += 2)
        if (strcmp(environment[i], name) == 0)
            return environment[i + 1];
    return NULL;
}

static void test_when(void **state)
{
    (void)state;
    static const struct {
        bool is_terminal;
        const char *environment[5];
        bool want;
    } rows[] = {
        {true, {NULL}, true},
        {false, {NULL}, false},
        {true, {"NO_COLOR", "1", NULL}, false},
        {true, {"NO_COLOR", "", NULL}, true}, /* as no-color.org has it */
        {true, {"TERM", "dumb", NULL}, false},
        {true, {"TERM", "xterm", NULL}, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        environment = rows[i].environment;
        assert_int_equal(colour_wanted(rows[i].is_terminal, from_environment), rows[i].want);
    }
}

static void test_what(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"2 pods wait.\n\nBUY  POOL\n+1   a\n", "\033[1m2 pods wait.\033[0m\n\n\033[32mBUY\033[0m  POOL\n+1   a\n"},
        {"x\nNO PLACE\n  a/b has none.\n      Fix: buy\n",
         "\033[1mx\033[0m\n\033[1;31mNO PLACE\033[0m\n  a/b has none.\n      \033[36mFix:\033[0m buy\n"},
        {"x\nREMOVE n1  goes\n", "\033[1mx\033[0m\n\033[33mREMOVE\033[0m n1  goes\n"},
        {"x\nBUYERS\n", "\033[1mx\033[0m\nBUYERS\n"}, /* a word of its own alone */
        {"no end", "\033[1mno end\033[0m"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = {0};
        colour_put(&out, (struct span){rows[i].text, strlen(rows[i].text)});
        if (!span_eq(buf_span(&out), span_of(rows[i].want)))
            fail_msg("\"%s\": \"%.*s\"", rows[i].text, SPAN_ARG(buf_span(&out)));
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
