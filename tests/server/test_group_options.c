/* Cluster Autoscaler's flags as `serve` and `plan` read them. What they do is told where it is decided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/groups.h"

enum { FLAGS_MAX = 4 };

/* The mistake that `serve` finds in these flags, "" for none. Static storage. */
static const char *mistake(struct arena *a, const char *const *flags, struct group_options_given *out)
{
    static char text[ERR_MSG_MAX + 1];
    struct err err = {0};
    char *argv[FLAGS_MAX + 1] = {"--cloud-provider=kwok"}, **rest;
    int argc = 1;
    for (; argc <= FLAGS_MAX && flags[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)flags[argc - 1];
    bool well = group_options_take(a, argc, argv, NULL, out, &argc, &rest, &err) && groups_check(out, &err);
    snprintf(text, sizeof(text), "%s", well ? "" : err.msg);
    return text;
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *flags[FLAGS_MAX];
        const char *mistake;
    } rows[] = {
        {{"--drain-priority-config=0:60,1000:100"}, ""},
        {{"--drain-priority-config", "-10:0"}, ""},
        {{"--drain-priority-config=0:60,0:70"},
         "--drain-priority-config: \"0:60,0:70\" is not PRIORITY:SECONDS,…, each priority once"},
        {{"--drain-priority-config=0:60", "--max-graceful-termination-sec=60"},
         "--drain-priority-config and --max-graceful-termination-sec exclude each other; keep one"},
        {{"--drain-priority-config=0:60", "--max-graceful-termination-sec=600"}, ""},
        {{"--drain-priority-config=", "--max-graceful-termination-sec=60"}, ""},
        {{"--capacity-buffer-pod-injection-enabled=2"},
         "--capacity-buffer-pod-injection-enabled: \"2\" is neither true nor false"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct group_options_given given;
        arena_init(&a, 0);
        const char *is = mistake(&a, rows[i].flags, &given);
        if (strcmp(is, rows[i].mistake) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].flags[0], is, rows[i].mistake);
        arena_release(&a);
    }
}

static void test_what_both_command_lines_say(void **state)
{
    (void)state;
    struct arena a;
    struct group_options_given given;
    struct options o = {.search = SEARCH_IS_CHEAPEST};
    arena_init(&a, 0);
    assert_string_equal(mistake(&a, (const char *const[FLAGS_MAX]){NULL}, &given), "");
    groups_settle(&given, &o);
    assert_false(given.settings.flags.as_upstream);
    assert_false(o.gates.capacity_buffer);
    assert_string_equal(mistake(&a, (const char *const[FLAGS_MAX]){"--capacity-buffer-pod-injection-enabled"}, &given), "");
    o.search = SEARCH_IS_GREEDY;
    groups_settle(&given, &o);
    assert_true(given.settings.flags.as_upstream);
    assert_true(o.gates.capacity_buffer);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_what_both_command_lines_say),
    };
    return cmocka_run_group_tests_name("group_options", tests, NULL, NULL);
}
