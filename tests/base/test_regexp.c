/* Go's regular expressions: what they find, and what is refused. */
#include "base/regexp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    const char *text, *in;
    bool want;
} rows[] = {
    {"", "", true},
    {"", "x", true},
    {"abc", "xxabcxx", true},
    {"abc", "xxabxx", false},
    {"^abc$", "abc", true},
    {"^abc$", "abcd", false},
    {"^abc", "xabc", false},
    {"\\Aabc\\z", "abc", true},
    {"a|b", "xb", true},
    {"^(a|b|)$", "", true},
    {"^(a|bc)d$", "bcd", true},
    {"^ab|cd$", "xcd", true},
    {"^a*$", "aaaa", true},
    {"^ba*$", "b", true},
    {"^a+$", "", false},
    {"^a?b$", "b", true},
    {"^a??b$", "ab", true},
    {"^a{2,3}$", "a", false},
    {"^a{2,3}$", "aaa", true},
    {"^a{2,3}$", "aaaa", false},
    {"^a{2}$", "aa", true},
    {"^a{2,}$", "aaaaa", true},
    {"^a{0}b$", "b", true},
    {"^a{,3}$", "a{,3}", true}, /* no repetition, as in Go */
    {"a{x", "a{x", true},
    {".", "", false},
    {"^.$", "\n", false},
    {"(?s)^.$", "\n", true},
    {"^.$", "é", true},
    {"^..$", "é", false},
    {"^é+$", "éé", true},
    {"^[^a]$", "é", true},
    {"[a-c]x", "bx", true},
    {"[^a-c]x", "bx", false},
    {"^[]a]+$", "]a]", true},
    {"^[a-]+$", "a-", true},
    {"^[\\d_]+$", "1_2", true},
    {"^[\\]\\-]+$", "]-", true},
    {"^[[:alpha:]]+$", "aZ", true},
    {"^[[:^digit:]]+$", "a1", false},
    {"^[^\\D]$", "5", true},
    {"^[^\\D]$", "é", false},
    {"^\\w+\\s\\d$", "Disk_1 2", true},
    {"^\\W$", "é", true},
    {"^\\S\\D$", "aa", true},
    {"\\bdisk\\b", "a disk.", true},
    {"\\bdisk\\b", "disks", false},
    {"\\Bisk", "disk", true},
    {"(?i)Disk", "dISK", true},
    {"(?i:d)isk", "Disk", true},
    {"(?i:d)isk", "DIsk", false},
    {"(?i)[a-c]", "B", true},
    {"a(?i)b", "aB", true},
    {"(a(?i)b)c", "aBC", false},
    {"(?i)a(?-i)b", "AB", false},
    {"(?m)^b$", "a\nb\nc", true},
    {"^b$", "a\nb\nc", false},
    {"(?P<name>x)(?<other>y)(?:z)", "xyz", true},
    {"^\\Qab\\E+$", "abbb", true}, /* + repeats the last letter */
    {"^\\Qab\\E+$", "abab", false},
    {"^\\Q(|)*", "(|)*", true},
    {"^\\Qa.b*\\Ec$", "a.b*c", true},
    {"\\.\\*\\\\", ".*\\", true},
    {"\\x41\\t", "A\t", true},
    {"^(a*)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false}, /* at once */
    {"^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false},
    {"(x+x+)+y", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false},
};

static void finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err = {0};
        const struct regexp *r;
        arena_init(&a, 0);
        if (!regexp_parse(&a, span_of(rows[i].text), &r, &err))
            fail_msg("%s: %s", rows[i].text, err.msg);
        if (regexp_finds(r, span_of(rows[i].in)) != rows[i].want)
            fail_msg("%s in %s: not %d", rows[i].text, rows[i].in, rows[i].want);
        arena_release(&a);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const char *const wrong[] = {"(",    ")",     "(a",   "[",       "[a",     "*",      "a**",   "a{2}{3}", "+a",
                                        "[b-a]", "\\",   "\\y",  "\\pL",    "(?=a)",  "(?!a)",  "(?<a",  "a{1001}", "a{3,2}",
                                        "\\1",  "[[:no:]]", "(?",   "(?i",     "((a{1000}){1000}){1000}", "[é]", "\\x{10}", "a|*"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct arena a;
        struct err err = {0};
        const struct regexp *r;
        arena_init(&a, 0);
        if (regexp_parse(&a, span_of(wrong[i]), &r, &err))
            fail_msg("%s was taken", wrong[i]);
        if (strstr(err.msg, "is no regular expression: ") == NULL)
            fail_msg("%s: %s", wrong[i], err.msg);
        arena_release(&a);
    }
}

/* Whatever the bytes are: taken or refused, never a fault, and what is taken can be asked. */
static void any_bytes(void **state)
{
    (void)state;
    static const char letters[] = "ab()[]{}|*+?^$.\\-,12:dwsQEzxi\xc3\xa9\n";
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[24];
        size_t len = 0;
        for (; len < sizeof(text) && (seed = seed * 1103515245 + 12345, (seed >> 16) % 20 != 0); len++)
            text[len] = letters[(seed >> 20) % (sizeof(letters) - 1)];
        struct arena a;
        struct err err;
        const struct regexp *r;
        arena_init(&a, 0);
        if (regexp_parse(&a, (struct span){text, len}, &r, &err))
            regexp_finds(r, (struct span){text, len});
        arena_release(&a);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(refuses),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests_name("regexp", tests, NULL, NULL);
}
