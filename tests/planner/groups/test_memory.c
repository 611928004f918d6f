/* What is remembered between passes (planner/groups/memory.h): notes, and what a pass found. Times are minutes after noon;
 * what it comes to over time, with a cloud that answers, is in test_scenarios_*. */
#include "planner/groups/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/groups/explain.h"
#include "support_pass.h"

enum { NOON_DAY = 20454 };
#define AT(minutes) (NOON_DAY * 24 * MS_HOUR + 12 * MS_HOUR + (minutes) * MS_MINUTE)
#define NODE(name)                                                                                                     \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nspec: {providerID: " name "}\n"                     \
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}, conditions: [{type: Ready, status: 'True'}]}\n"
#define NAKED(name, node, cpu)                                                                                         \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {nodeName: " node                               \
    ", containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]}\nstatus: {phase: Running}\n"

/* Failures of one group; then until when it is backed off at the last. */
static const struct {
    const char *label;
    int failures[8]; /* minutes; ends with -1 */
    int until;       /* minutes; 0: it is not */
    int at;          /* asked then; 0: at the last failure */
} backoffs[] = {
    {"102: the first", {1, -1}, 6, 0},
    {"102: still, on the minute", {1, -1}, 6, 6},
    {"102: over", {1, -1}, 0, 7},
    {"103: again when it is over", {1, 7, -1}, 17, 0},
    {"103: and again", {1, 7, 18, -1}, 38, 0},
    {"103: 30 minutes", {1, 7, 18, 39, -1}, 69, 0},
    {"103: and no more", {1, 7, 18, 39, 70, -1}, 100, 0},
    {"104: another a minute later does not make it longer", {1, 2, -1}, 7, 0},
    {"104: nor one on its last minute", {1, 6, -1}, 11, 0},
    {"104: and those after it, as long as the second was", {1, 7, 8, -1}, 18, 0},
};

static void test_backoff(void **state)
{
    (void)state;
    struct group_flags flags = group_flags_default();
    for (size_t i = 0; i < COUNT_OF(backoffs); i++) {
        struct group_memory *m = group_memory_new(AT(0));
        struct span code = {0}, message = {0};
        int last = 0;
        for (size_t k = 0; backoffs[i].failures[k] >= 0; k++) {
            last = backoffs[i].failures[k];
            group_memory_failed(m, &flags, SPAN("a"), SPAN("QUOTA"), SPAN("no more"), AT(last));
        }
        wall_ms until = group_memory_backoff(m, SPAN("a"), AT(backoffs[i].at != 0 ? backoffs[i].at : last), &code, &message);
        wall_ms want = backoffs[i].until != 0 ? AT(backoffs[i].until) : 0;
        if (until != want)
            fail_msg("%s: until %lld min", backoffs[i].label, (long long)((until - AT(0)) / MS_MINUTE));
        if (want != 0 && (!span_eq(code, SPAN("QUOTA")) || !span_eq(message, SPAN("no more"))))
            fail_msg("%s: %.*s, %.*s", backoffs[i].label, SPAN_ARG(code), SPAN_ARG(message));
        assert_true(group_memory_backoff(m, SPAN("b"), AT(2), &code, &message) == 0);
        group_memory_free(m);
    }
}

static void test_long_messages(void **state)
{
    (void)state;
    struct group_flags flags = group_flags_default();
    struct group_memory *m = group_memory_new(AT(0));
    char text[600];
    struct span code, message;
    for (size_t i = 0; i < sizeof(text); i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    group_memory_failed(m, &flags, SPAN("a"), SPAN("E"), (struct span){text, GROUP_MESSAGE_MAX + 1}, AT(1));
    group_memory_backoff(m, SPAN("a"), AT(1), &code, &message);
    assert_int_equal(message.len, 163 * 3 + 11);
    assert_true(span_has_suffix(message, SPAN("\xe2\x82\xac<truncated>")));
    group_memory_failed(m, &flags, SPAN("a"), SPAN("E"), (struct span){text, GROUP_MESSAGE_MAX}, AT(1));
    group_memory_backoff(m, SPAN("a"), AT(1), &code, &message);
    assert_int_equal(message.len, GROUP_MESSAGE_MAX);
    group_memory_free(m);
}

/* --- with a cluster --- */

struct scene {
    struct cluster c;
    struct group_flags flags;
    struct group_memory *m;
    struct node_groups file;
};

static void begin(struct scene *s, const char *objects)
{
    *s = (struct scene){.flags = group_flags_default(), .m = group_memory_new(AT(0))};
    cluster_init(&s->c);
    cluster_add(&s->c, objects);
}

static void end(struct scene *s)
{
    group_memory_free(s->m);
    cluster_release(&s->c);
}

static void recall(struct scene *s, const char *groups, int minutes)
{
    struct group_objects objects = pass_objects(&s->c);
    s->file = (struct node_groups){0};
    pass_read(&s->c, groups, &node_groups_schema, &s->file);
    group_memory_recall(s->m, &s->file, &objects, AT(minutes), &s->c.arena);
}

static void pass(struct scene *s, const char *groups, int minutes)
{
    struct world *w;
    recall(s, groups, minutes);
    struct group_objects objects = pass_objects(&s->c);
    const struct group_pass *p = pass_run(&s->c, &objects, &s->file, &s->flags, AT(minutes), &s->c.arena, &w);
    group_memory_learn(s->m, p, &s->flags, AT(minutes));
    world_free(w);
}

static void expect_request(struct scene *s, const char *label, int32_t increase, int minutes)
{
    const struct node_group *g = &s->file.groups.items[0];
    if (g->has_request != (increase != 0) || g->request.increase != increase ||
        (increase != 0 && g->request.time != AT(minutes)))
        fail_msg("%s: %d at %lld min", label, g->request.increase, (long long)((g->request.time - AT(0)) / MS_MINUTE));
}

#define A(more) "groups: [{name: a, minSize: 0, maxSize: 9" more "}]\n"
#define EMPTY A(", targetSize: 5, instances: []")
#define FAILED(id) "{id: " id ", state: Creating, errorInfo: {class: OutOfResources, code: E, message: m}}, "

static void test_requests(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1"));
    recall(&s, EMPTY, 1);
    expect_request(&s, "none", 0, 0);
    group_memory_grew(s.m, SPAN("a"), 2, AT(1));
    recall(&s, EMPTY, 2);
    expect_request(&s, "one", 2, 1);
    assert_true(s.file.groups.items[0].last_scale_up == AT(1) && s.file.state.last_scale_up == AT(1));
    group_memory_grew(s.m, SPAN("a"), 3, AT(11));
    recall(&s, EMPTY, 12);
    expect_request(&s, "108: the sum, from the last on", 5, 11);
    pass(&s, EMPTY, 26);
    recall(&s, EMPTY, 26);
    expect_request(&s, "108: on the minute", 5, 11);
    pass(&s, EMPTY, 27);
    recall(&s, EMPTY, 27);
    expect_request(&s, "108: 15 minutes after the last it is over", 0, 0);
    assert_true(s.file.groups.items[0].backoff.until == AT(32));
    assert_true(span_eq(s.file.groups.items[0].backoff.code, SPAN("timeout")));
    end(&s);
}

/* What grew while the pass was decided is not what the pass saw end. */
static void test_grew_meanwhile(void **state)
{
    (void)state;
    struct scene s;
    struct world *w;
    begin(&s, NODE("n1"));
    group_memory_grew(s.m, SPAN("a"), 5, AT(1));
    recall(&s, EMPTY, 20);
    struct group_objects objects = pass_objects(&s.c);
    const struct group_pass *p = pass_run(&s.c, &objects, &s.file, &s.flags, AT(20), &s.c.arena, &w);
    group_memory_grew(s.m, SPAN("a"), 2, AT(20));
    group_memory_learn(s.m, p, &s.flags, AT(20));
    world_free(w);
    recall(&s, EMPTY, 20);
    expect_request(&s, "the two stay", 2, 20);
    end(&s);
}

/* Soft taints of before the restart are read after the first pass has been told what is remembered. */
static void test_unneeded_meanwhile(void **state)
{
    (void)state;
    struct scene s;
    struct world *w;
    begin(&s, NODE("n1") NODE("n2"));
    const char *both = A(", instances: [{id: n1}, {id: n2}]");
    recall(&s, both, 1);
    struct group_objects objects = pass_objects(&s.c);
    const struct group_pass *p = pass_run(&s.c, &objects, &s.file, &s.flags, AT(1), &s.c.arena, &w);
    group_memory_unneeded(s.m, SPAN("n2"), AT(-7));
    group_memory_unneeded(s.m, SPAN("n1"), AT(-2));
    group_memory_learn(s.m, p, &s.flags, AT(1));
    world_free(w);
    recall(&s, both, 2);
    assert_int_equal(s.file.state.unneeded.count, 2);
    assert_true(s.file.state.unneeded.items[0].time == AT(-2));
    assert_true(s.file.state.unneeded.items[1].time == AT(-7));
    end(&s);
}

/* A node that was unneeded before the view was partial has waited for as long as before; one that has been found so
 * since has not waited. */
static void test_unneeded_while_the_view_was_partial(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1") NODE("n2"));
    const char *both = A(", instances: [{id: n1}, {id: n2}]");
    group_memory_unneeded(s.m, SPAN("n1"), AT(-7));
    group_memory_unneeded(s.m, SPAN("n2"), AT(2));
    group_memory_hold(s.m, AT(1), AT(4));
    recall(&s, both, 5);
    assert_int_equal(s.file.state.unneeded.count, 2);
    assert_true(s.file.state.unneeded.items[0].time == AT(-4));
    assert_true(s.file.state.unneeded.items[1].time == AT(4));
    group_memory_hold(s.m, AT(9), AT(8)); /* the clock was set back */
    recall(&s, both, 5);
    assert_true(s.file.state.unneeded.items[0].time == AT(-4));
    end(&s);
}

static void test_machines(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1"));
    group_memory_grew(s.m, SPAN("a"), 3, AT(1));
    const char *both = A(", targetSize: 3, instances: [{id: r}, " FAILED("x") "]");
    pass(&s, both, 2);
    recall(&s, both, 3);
    expect_request(&s, "109: one fewer", 2, 1);
    assert_true(s.file.groups.items[0].machines.items[0].unregistered_since == AT(2));
    assert_false(s.file.groups.items[0].machines.items[0].error_known);
    assert_true(s.file.groups.items[0].machines.items[1].error_known);
    pass(&s, both, 3);
    recall(&s, both, 3);
    expect_request(&s, "110: once", 2, 1);
    assert_true(s.file.groups.items[0].backoff.until == AT(7));
    assert_true(s.file.groups.items[0].machines.items[0].unregistered_since == AT(2));
    pass(&s, A(", targetSize: 3, instances: []"), 4);
    recall(&s, both, 5);
    assert_true(s.file.groups.items[0].machines.items[0].unregistered_since == 0); /* it was away */
    assert_false(s.file.groups.items[0].machines.items[1].error_known);
    end(&s);
}

static void test_mismatch(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1"));
    pass(&s, A(", targetSize: 2, instances: [{id: n1}]"), 1);
    pass(&s, A(", targetSize: 3, instances: [{id: n1}]"), 5);
    pass(&s, A(", targetSize: 3, instances: [{id: n1}]"), 6);
    recall(&s, A(""), 7);
    const struct node_group *g = &s.file.groups.items[0];
    assert_true(g->has_mismatch && g->mismatch.registered == 1 && g->mismatch.target == 3 && g->mismatch.since == AT(5));
    pass(&s, A(", targetSize: 1, instances: [{id: n1}]"), 8);
    recall(&s, A(""), 9);
    assert_false(s.file.groups.items[0].has_mismatch);
    end(&s);
}

/* Who has gone, a group, a machine or a node, is forgotten, and the file never speaks of a node that is not there. */
static void test_forgets(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1") NODE("n2"));
    const char *both = A(", instances: [{id: n1}, {id: n2}]");
    pass(&s, both, 1);
    recall(&s, both, 2);
    assert_int_equal(s.file.state.unneeded.count, 2);
    assert_true(s.file.state.unneeded.items[1].time == AT(1));
    size_t *count = &s.c.kinds[KIND_NODE].count;
    (*count)--;
    recall(&s, both, 2);
    assert_int_equal(s.file.state.unneeded.count, 1);
    pass(&s, both, 2);
    (*count)++;
    pass(&s, both, 3);
    recall(&s, both, 4);
    assert_int_equal(s.file.state.unneeded.count, 2);
    assert_true(s.file.state.unneeded.items[0].time == AT(1));
    assert_true(s.file.state.unneeded.items[1].time == AT(3)); /* it was away */
    group_memory_failed(s.m, &s.flags, SPAN("a"), SPAN("E"), SPAN("m"), AT(4));
    pass(&s, "groups: [{name: b, minSize: 0, maxSize: 9}]\n", 4);
    pass(&s, both, 5);
    recall(&s, both, 5);
    assert_true(s.file.groups.items[0].backoff.until == 0);
    group_memory_failed(s.m, &s.flags, SPAN("a"), SPAN("E"), SPAN("m"), AT(6));
    pass(&s, both, 6 + 180);
    recall(&s, both, 6 + 180);
    assert_true(s.file.groups.items[0].backoff.until == AT(11)); /* 105: still known */
    pass(&s, both, 6 + 181);
    recall(&s, both, 6 + 181);
    assert_true(s.file.groups.items[0].backoff.until == 0);
    end(&s);
}

static void test_unremovable(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1") NODE("n2") NAKED("p", "n1", "1") NAKED("q", "n2", "3"));
    const char *both = A(", instances: [{id: n1}, {id: n2}]");
    pass(&s, both, 1);
    recall(&s, both, 2);
    assert_int_equal(s.file.state.unremovable_until.count, 1); /* n2 is not underutilized: no simulation, no timer */
    assert_true(span_eq(s.file.state.unremovable_until.items[0].node, SPAN("n1")));
    assert_true(s.file.state.unremovable_until.items[0].time == AT(6));
    pass(&s, both, 3);
    pass(&s, both, 5);
    recall(&s, both, 5);
    assert_true(s.file.state.unremovable_until.items[0].time == AT(6));
    pass(&s, both, 6);
    recall(&s, both, 6);
    assert_true(s.file.state.unremovable_until.items[0].time == AT(11)); /* tried again */
    end(&s);
}

#define ASKS                                                                                                           \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: asks}\nspec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}\n"    \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define SHRUNK(more) "groups: [{name: a, minSize: 0, maxSize: 9, template: {status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}" more "}]\n"

/* What a person reads of it, or "". */
static struct span told_hold(struct scene *s, int minute)
{
    struct world *w;
    struct explanation e;
    recall(s, SHRUNK(""), minute);
    struct group_objects objects = pass_objects(&s->c);
    const struct group_pass *p = pass_run(&s->c, &objects, &s->file, &s->flags, AT(minute), &s->c.arena, &w);
    group_explain(p, &s->flags, s->c.syms, 0, AT(minute), &s->c.arena, &e);
    world_free(w);
    for (uint32_t i = 0; i < e.line_count; i++)
        if (span_eq(e.lines[i].head, SPAN("scale-down")))
            return e.lines[i].text;
    return SPAN("");
}

/* A node of the group was removed at minute 19. */
static const struct {
    const char *label, *group;
    int grows; /* minute */
    bool as_upstream;
    const char *want; /* begins with it; "": nothing is said */
} undone[] = {
    {"eleven minutes later: twice 10 + 11", SHRUNK(""), 30, false, "its nodes go once unneeded for 42m0s: "},
    {"on the hour", SHRUNK(""), 79, false, "its nodes go once unneeded for 2h20m0s: "},
    {"a minute later it is not undone", SHRUNK(""), 80, false, ""},
    {"a group with a time of its own", SHRUNK(", options: {scaleDownUnneededTime: 1h}"), 79, false, "its nodes go once unneeded for 3h0m0s: "},
    {"as upstream", SHRUNK(""), 30, true, ""},
    {"it cannot grow", SHRUNK(", targetSize: 9"), 30, false, ""},
};

static void test_undone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(undone); i++) {
        struct scene s;
        begin(&s, NODE("n1") NAKED("full", "n1", "3") ASKS);
        s.flags.as_upstream = undone[i].as_upstream;
        group_memory_removal_ended(s.m, SPAN("a"), true, AT(19));
        pass(&s, undone[i].group, undone[i].grows);
        struct span told = told_hold(&s, undone[i].grows + 1), want = span_of(undone[i].want);
        if (want.len == 0 ? told.len != 0 : !span_has_prefix(told, want))
            fail_msg("%s: %.*s", undone[i].label, SPAN_ARG(told));
        pass(&s, undone[i].group, undone[i].grows + 2); /* the same removal counts once */
        if (!span_eq(told, told_hold(&s, undone[i].grows + 3)))
            fail_msg("%s: counts twice", undone[i].label);
        end(&s);
    }
}

static void test_times(void **state)
{
    (void)state;
    struct scene s;
    begin(&s, NODE("n1"));
    const char *one = A(", instances: [{id: n1}]");
    recall(&s, one, 1);
    assert_true(s.file.state.last_scale_up == AT(-60) && s.file.state.last_scale_down_delete == AT(-60) &&
                s.file.state.last_scale_down_fail == AT(-60));
    assert_false(s.file.state.has_pass_interval);
    pass(&s, one, 1);
    recall(&s, one, 4);
    assert_true(s.file.state.has_pass_interval && s.file.state.pass_interval == 3 * MS_MINUTE);
    pass(&s, one, 4);
    pass(&s, one, 5);
    pass(&s, one, 15);
    recall(&s, one, 14); /* a clock that goes back */
    assert_true(s.file.state.pass_interval == MS_MINUTE);
    s.flags.scale_down_enabled = false;
    pass(&s, one, 16); /* does not come to removals */
    recall(&s, one, 17);
    assert_true(s.file.state.pass_interval == MS_MINUTE && s.file.state.unneeded.items[0].time == AT(1));
    group_memory_free(s.m);
    s.m = group_memory_new(AT(0));
    s.flags.scale_down_enabled = true;
    pass(&s, one, 1);
    s.flags.scale_down_enabled = false;
    pass(&s, one, 4);
    recall(&s, one, 5);
    assert_true(s.file.state.pass_interval == 4 * MS_MINUTE);
    group_memory_removals_began(s.m, AT(17));
    group_memory_removals_failed(s.m, AT(18));
    group_memory_removal_ended(s.m, SPAN("a"), true, AT(19));
    group_memory_removal_ended(s.m, SPAN("a"), false, AT(20));
    group_memory_unneeded(s.m, SPAN("n1"), AT(-3));
    recall(&s, one, 21);
    assert_true(s.file.state.last_scale_up == AT(-60) && s.file.state.last_scale_down_delete == AT(17) &&
                s.file.state.last_scale_down_fail == AT(18));
    assert_true(s.file.groups.items[0].last_scale_down == AT(19) && s.file.groups.items[0].last_scale_down_fail == AT(20));
    assert_true(s.file.groups.items[0].last_scale_up == 0);
    assert_true(s.file.state.unneeded.items[0].time == AT(-3));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff),       cmocka_unit_test(test_long_messages), cmocka_unit_test(test_requests),
        cmocka_unit_test(test_grew_meanwhile), cmocka_unit_test(test_unneeded_meanwhile),
        cmocka_unit_test(test_unneeded_while_the_view_was_partial),
        cmocka_unit_test(test_machines),      cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_forgets),       cmocka_unit_test(test_unremovable),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
