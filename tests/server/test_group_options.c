/* Cluster Autoscaler's flags as `serve` and `plan` read them. What they do is told where it is decided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
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

static bool owns(struct span name)
{
    return span_eq(name, SPAN("kube-client-qps")) || span_eq(name, SPAN("namespace"));
}

static bool owns_v(struct span name)
{
    return span_eq(name, SPAN("-v"));
}

/* As Go's flags are: "_" for "-", and the one short flag in all its ways. */
static void test_ways_to_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *flags[FLAGS_MAX];
        const char *without_meaning; /* with a blank after each */
        const char *rest;
        bool (*owns)(struct span name);
    } rows[] = {
        {{"-v=4"}, "v ", "", owns},
        {{"-v", "4"}, "v ", "", owns},
        {{"-v4"}, "v ", "", owns},
        {{"--v=4", "--estimator", "binpacking"}, "v estimator ", "", owns},
        {{"-v=4"}, "", "-v=4 ", owns_v},
        {{"--v=4"}, "v ", "", owns_v},
        {{"-version"}, "", "-version ", owns},
        {{"-f", "-"}, "", "-f - ", owns},
        {{"--scan_interval=15s"}, "", "", owns},
        {{"--log-dir=/x", "--skip_headers"}, "log_dir skip_headers ", "", owns},
        {{"--kube_client_qps=5", "--kube_client-qps", "6"}, "", "--kube-client-qps=5 --kube-client-qps 6 ", owns},
        {{"--scan interval=15s"}, "", "--scan interval=15s ", owns},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct group_options_given given;
        struct err err = {0};
        struct buf without = {0}, rest = {0};
        char *argv[FLAGS_MAX], **left;
        int argc = 0;
        arena_init(&a, 0);
        for (; argc < FLAGS_MAX && rows[i].flags[argc] != NULL; argc++)
            argv[argc] = (char *)(uintptr_t)rows[i].flags[argc];
        if (!group_options_take(&a, argc, argv, rows[i].owns, &given, &argc, &left, &err))
            fail_msg("%s: %s", rows[i].flags[0], err.msg);
        for (uint32_t k = 0; k < given.without_meaning.count; k++)
            buf_addf(&without, "%.*s ", SPAN_ARG(given.without_meaning.items[k]));
        for (int k = 0; k < argc; k++)
            buf_addf(&rest, "%s ", left[k]);
        if (!span_eq(buf_span(&without), span_of(rows[i].without_meaning)) || !span_eq(buf_span(&rest), span_of(rows[i].rest)))
            fail_msg("%s: \"%.*s\", and left \"%.*s\"", rows[i].flags[0], SPAN_ARG(buf_span(&without)), SPAN_ARG(buf_span(&rest)));
        if (strstr(rows[i].flags[0], "scan_interval") != NULL)
            assert_int_equal(given.settings.scan_interval, 15 * MS_SECOND);
        buf_release(&without);
        buf_release(&rest);
        arena_release(&a);
    }
}

/* CapacityBuffers are resolved where they are filled. */
static void test_buffers_are_resolved_by_who_fills_them(void **state)
{
    (void)state;
    static const struct {
        const char *flags[FLAGS_MAX];
        bool gate, compat;
        const char *mistake, *line;
    } rows[] = {
        {{"--capacity-buffer-controller-enabled", "--capacity-buffer-pod-injection-enabled"}, false, false, "", ""},
        {{"--capacity-buffer-controller-enabled=false"}, false, false, "", ""},
        {{"--capacity-buffer-controller-enabled"}, true, false, "", ""},
        {{"--capacity-buffer-controller-enabled"}, false, false,
         "--capacity-buffer-controller-enabled: CapacityBuffers are resolved where they are filled; give "
         "--capacity-buffer-pod-injection-enabled, too, or leave it out", ""},
        {{"--capacity-buffer-controller-enabled", "--estimator=x"}, false, true, "",
         "flags of Cluster Autoscaler without meaning here: --estimator, --capacity-buffer-controller-enabled (without "
         "--capacity-buffer-pod-injection-enabled)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct group_options_given given;
        struct options o = {.search = SEARCH_IS_CHEAPEST, .ca_compat = rows[i].compat, .gates.capacity_buffer = rows[i].gate};
        struct err err = {0};
        struct span line = SPAN("");
        arena_init(&a, 0);
        assert_string_equal(mistake(&a, rows[i].flags, &given), "");
        groups_settle(&given, &o);
        bool well = groups_meaningless(&a, &given, &o, &line, &err);
        if (strcmp(well ? "" : err.msg, rows[i].mistake) != 0 || !span_eq(line, span_of(rows[i].line)))
            fail_msg("%zu: \"%s\", \"%.*s\"", i, err.msg, SPAN_ARG(line));
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_what_both_command_lines_say),
        cmocka_unit_test(test_ways_to_write_them),
        cmocka_unit_test(test_buffers_are_resolved_by_who_fills_them),
    };
    return cmocka_run_group_tests_name("group_options", tests, NULL, NULL);
}
