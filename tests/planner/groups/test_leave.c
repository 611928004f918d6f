/* When an unneeded node may go (spec node-groups 4.6, scenarios 132, 140, 141, 145, 148, 162, 197 and 198). */
#include "planner/groups/down/leave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MINUTE = 60000, NOW = 1000 * MINUTE };

/* Groups: an ordinary one, one that goes as a whole (of 2 machines, 1 of which has a Node, when `lost`), one with its own
 * times. A node is of 8 cores. */
enum { PLAIN, WHOLE, OWN };

#define AGO(minutes) (NOW - (minutes) * MINUTE)
#define READY(of, minutes) {.group = (of), .since = AGO(minutes), .ready = true}

static const struct {
    const char *label;
    int32_t min, target, deletions; /* of the plain group */
    int64_t cores;                  /* that the cluster can lose; 0: all */
    uint32_t registered;            /* of the whole group; 0: both */
    struct leave_node nodes[4];
    uint32_t count;
    const char *why, *order; /* a letter a node; their numbers */
} rows[] = {
    {"140: ten minutes", 0, 9, 0, 0, 0, {{.since = AGO(10), .ready = true}}, 1, "t", ""},
    {"140: a moment more", 0, 9, 0, 0, 0, {{.since = AGO(10) - 1, .ready = true}}, 1, ".", "0"},
    {"141: unready for eleven", 0, 9, 0, 0, 0, {{.since = AGO(11)}}, 1, "u", ""},
    {"141: unready for twenty-one", 0, 9, 0, 0, 0, {{.since = AGO(21)}}, 1, ".", "0"},
    {"a group that does not wait", 0, 9, 0, 0, 0, {READY(OWN, 0)}, 1, ".", "0"},
    {"but does for unready ones", 0, 9, 0, 0, 0, {{.group = OWN, .since = AGO(30)}}, 1, "u", ""},
    {"145: two of four", 2, 4, 0, 0, 0, {READY(PLAIN, 30), READY(PLAIN, 30), READY(PLAIN, 30)}, 3, "..m", "01"},
    {"145: one is under way", 2, 4, 1, 0, 0, {READY(PLAIN, 30), READY(PLAIN, 30)}, 2, ".m", "0"},
    {"145: who must wait takes nothing", 2, 3, 0, 0, 0, {READY(PLAIN, 1), READY(PLAIN, 30)}, 2, "t.", "1"},
    {"145: empty ones first", 2, 3, 0, 0, 0, {{.since = AGO(30), .ready = true, .drains = true}, READY(PLAIN, 30)}, 2, "m.", "1"},
    {"148: four cores to lose", 0, 9, 0, 4, 0, {READY(PLAIN, 30)}, 1, "r", ""},
    {"148: nine cores to lose", 0, 9, 0, 9, 0, {READY(PLAIN, 30), READY(PLAIN, 30)}, 2, ".r", "0"},
    {"148: the group's size is looked at first", 9, 9, 0, 4, 0, {READY(PLAIN, 30)}, 1, "m", ""},
    {"132: waits for a pod", 0, 9, 0, 0, 0, {{.since = AGO(30), .ready = true, .waits = true}}, 1, "w", ""},
    {"198: and holds back nobody", 2, 3, 0, 0, 0, {{.since = AGO(30), .ready = true, .waits = true}, READY(PLAIN, 30)}, 2, "m.", "1"},
    {"162: one of two", 0, 9, 0, 0, 0, {READY(WHOLE, 30)}, 1, "p", ""},
    {"162: both", 0, 9, 0, 0, 0, {READY(WHOLE, 30), READY(WHOLE, 30)}, 2, "..", "01"},
    {"162: the only one that has a Node", 0, 9, 0, 0, 1, {READY(WHOLE, 30)}, 1, ".", "0"},
    {"162: one of both waits", 0, 9, 0, 0, 0, {READY(WHOLE, 30), {.group = WHOLE, .since = AGO(30), .ready = true, .waits = true}}, 2, ".w", "0"},
    {"137: risky ones last, wholes after all others", 0, 9, 0, 0, 1,
     {READY(WHOLE, 30), {.since = AGO(30), .ready = true, .drains = true, .risky = true},
      {.since = AGO(30), .ready = true, .drains = true}, READY(PLAIN, 30)}, 4, "....", "3210"},
};

static const char letters[UNREMOVABLE_COUNT] = {
    [UNREMOVABLE_NOT] = '.',          [UNREMOVABLE_NOT_LONG_ENOUGH] = 't',  [UNREMOVABLE_NOT_UNREADY_LONG_ENOUGH] = 'u',
    [UNREMOVABLE_MIN_SIZE] = 'm',     [UNREMOVABLE_MIN_RESOURCES] = 'r',    [UNREMOVABLE_NOT_WHOLE_GROUP] = 'p',
    [UNREMOVABLE_ON_COMPLETION] = 'w'};

static void test_rows(void **state)
{
    static const int64_t costs[] = {8};
    (void)state;
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        struct leave_group groups[] = {
            {.crop = {.target = rows[row].target, .registered = 99}, .min = rows[row].min, .deletions = rows[row].deletions,
             .unneeded_time = 10 * MINUTE, .unready_time = 20 * MINUTE, .costs = costs},
            {.crop = {.zero_or_max = true, .target = 2, .registered = rows[row].registered != 0 ? rows[row].registered : 2},
             .unneeded_time = 10 * MINUTE, .unready_time = 20 * MINUTE, .costs = costs},
            {.crop = {.target = 9, .registered = 9}, .unneeded_time = 0, .unready_time = 40 * MINUTE, .costs = costs}};
        int64_t left = rows[row].cores != 0 ? rows[row].cores : 1000;
        struct leave_node nodes[4];
        struct crop_node out[4];
        char why[5] = "", order[5] = "";
        struct arena a;
        arena_init(&a, 0);
        memcpy(nodes, rows[row].nodes, sizeof nodes);
        for (uint32_t i = 0; i < rows[row].count; i++)
            nodes[i].node = i;
        uint32_t n = leave_judge(nodes, rows[row].count, groups, 3, (struct leave_room){&left, 1}, NOW, &a, out);
        for (uint32_t i = 0; i < rows[row].count; i++)
            why[i] = letters[nodes[i].why];
        for (uint32_t i = 0; i < n; i++)
            order[i] = (char)('0' + out[i].node);
        if (strcmp(why, rows[row].why) != 0 || strcmp(order, rows[row].order) != 0)
            fail_msg("%s: %s, %s", rows[row].label, why, order);
        arena_release(&a);
    }
}

static void test_names(void **state)
{
    (void)state;
    for (enum unremovable u = UNREMOVABLE_NOT; u < UNREMOVABLE_COUNT; u++)
        assert_non_null(unremovable_name(u));
    assert_string_equal(unremovable_name(UNREMOVABLE_ON_COMPLETION), "BlockedByOnCompletionPod");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
