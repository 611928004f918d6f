/* Which nodes go at once (spec node-groups 4.7, scenarios 144 to 147, 162 and 163). */
#include "planner/groups/down/crop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Nodes are letters, in order: small ones are empty, capital ones drain. a, b and c are nodes of three ordinary groups, x, y
 * and z of three that go as a whole, of 3, 8 and 20 nodes; z has 21 machines wanted. Those that go are told. */
static const struct {
    const char *label, *nodes;
    int32_t parallel, drains;
    const char *want;
} rows[] = {
    {"nothing", "", 10, 1, ""},
    {"144: fifteen empty", "aaaaaaaaaaaaaaa", 10, 1, "aaaaaaaaaa"},
    {"144: three on their way", "aaaaaaaaaaaaaaa", 7, 1, "aaaaaaa"},
    {"144: groups in the order of their first node", "abababab", 5, 1, "aaaab"},
    {"more on their way than may be", "aab", -2, 1, ""},
    {"146: empty ones, and one to drain", "aaB", 10, 1, "aaB"},
    {"146: empty ones leave no room", "aaB", 2, 1, "aa"},
    {"147: one at a time", "AB", 10, 1, "A"},
    {"147: two", "AB", 10, 2, "AB"},
    {"147: two, of whom one fits beside", "aAB", 2, 2, "aA"},
    {"147: a drain is on its way", "aAB", 10, 0, "a"},
    {"162: two of three", "xx", 10, 1, ""},
    {"162: three of three", "xxx", 10, 1, "xxx"},
    {"162: wholes come first", "aaaxxx", 4, 1, "xxxa"},
    {"162: some are to be drained", "xxX", 10, 1, "xxX"},
    {"162: more than may drain", "xXX", 10, 1, "xXX"},
    {"162: more than may drain while one does", "xXX", 10, 0, ""},
    {"162: all that have a node, one machine has none", "zzzzzzzzzzzzzzzzzzzz", 30, 1, "zzzzzzzzzzzzzzzzzzzz"},
    {"163: over the budget, once", "yyyyyyyyaa", 5, 1, "yyyyyyyy"},
    {"163: not twice", "yyyyyyyyxxx", 5, 1, "yyyyyyyy"},
    {"163: nor what comes after one that fits", "xxxyyyyyyyy", 10, 1, "xxx"},
    {"163: nothing is left", "yyyyyyyy", 0, 1, ""},
    {"163: one too few, and the next is looked at", "yyyyyyyxxx", 5, 1, "xxx"},
    {"163: all drain, over the budget", "YYYYYYYY", 5, 1, "YYYYYYYY"},
    {"163: all drain, none may", "YYYYYYYY", 5, 0, ""},
    {"163: wholes that drain leave less", "XXXA", 10, 4, "XXXA"},
    {"163: wholes that drain leave nothing", "XXXA", 10, 3, "XXX"},
};

static uint32_t group_of(char c)
{
    const char *letters = "abcxyz";
    return (uint32_t)(strchr(letters, c >= 'a' ? c : c + 'a' - 'A') - letters);
}

static int by_letter(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void test_rows(void **state)
{
    static const struct crop_group groups[] = {
        {false, 9, 9}, {false, 9, 9}, {false, 9, 9}, {true, 3, 3}, {true, 8, 8}, {true, 21, 20}};
    (void)state;
    for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
        struct crop_node nodes[32];
        char got[33] = "", want[33] = "";
        size_t count = strlen(rows[row].nodes), taken = 0;
        for (size_t i = 0; i < count; i++) {
            char c = rows[row].nodes[i];
            nodes[i] = (struct crop_node){.node = (uint32_t)i, .group = group_of(c), .drains = c < 'a'};
        }
        crop_nodes(nodes, (uint32_t)count, groups, (struct crop_budget){rows[row].parallel, rows[row].drains});
        for (size_t i = 0; i < count; i++)
            if (nodes[i].taken)
                got[taken++] = rows[row].nodes[i];
        strcpy(want, rows[row].want);
        qsort(got, taken, 1, by_letter);
        qsort(want, strlen(want), 1, by_letter);
        if (strcmp(got, want) != 0)
            fail_msg("%s: %s", rows[row].label, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
