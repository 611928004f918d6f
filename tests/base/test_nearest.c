#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_edits(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t want;
    } rows[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"replicas", "replicas", 0},
        {"replica", "replicas", 1},
        {"replicsa", "replicas", 1}, /* two letters in the wrong order are one slip */
        {"relicas", "replicas", 1},
        {"requests", "replicas", 5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t got = nearest_edits(span_of(rows[i].a), span_of(rows[i].b));
        size_t back = nearest_edits(span_of(rows[i].b), span_of(rows[i].a));
        if (got != rows[i].want || back != got)
            fail_msg("%s, %s: %zu and %zu edits, want %zu", rows[i].a, rows[i].b, got, back, rows[i].want);
    }
}

static void test_word(void **state)
{
    (void)state;
    static const char *const words[] = {"limits", "requests", "request", "claims"};
    static const struct {
        const char *given, *want; /* NULL: none is near */
    } rows[] = {
        {"limit", "limits"},
        {"reqeusts", "requests"},
        {"requestt", "requests"}, /* of two that are as near the first */
        {"cliams", "claims"},
        {"resources", NULL},
        {"li", NULL},
        {"x", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *got = nearest_word(rows[i].given, words, COUNT_OF(words));
        if ((got == NULL) != (rows[i].want == NULL) || (got != NULL && strcmp(got, rows[i].want) != 0))
            fail_msg("%s: got %s, want %s", rows[i].given, got != NULL ? got : "none",
                     rows[i].want != NULL ? rows[i].want : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edits), cmocka_unit_test(test_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
