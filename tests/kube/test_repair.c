/* Repair policies: all that is wrong with a set is told at once (spec disruption 16.1, scenario 250), ranks, and what
 * a node's conditions meet. */
#include "kube/repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POLICY(type_, status_, regex_, toleration_, grace_, priority_, action_)                    \
    {SPAN_INIT(type_), SPAN_INIT(status_), SPAN_INIT(regex_), SPAN_INIT(toleration_), SPAN_INIT(grace_), SPAN_INIT(action_), priority_}
#define FALLBACK POLICY("Ready", "False", "", "30m", "5m", 0, "ReplaceNode")
#define OTHER(status_, regex_, toleration_, grace_, priority_, action_)                            \
    POLICY("Disk", status_, regex_, toleration_, grace_, priority_, action_)

static const struct {
    const char *label;
    struct repair_text items[3];
    uint32_t count;
    const char *want[3]; /* each at the end of a line; none: it is fine */
} rows[] = {
    {"fine", {FALLBACK, OTHER("True", "Full", "0s", "0s", 100, "RebootNode")}, 2, {0}},
    {"a match-all is no fallback", {FALLBACK, OTHER("Unknown", ".*", "0s", "5m", 0, "ReplaceNode")}, 2, {0}},
    {"none at all", {{.priority = 0}}, 0, {"repairPolicies: none has an empty reasonRegex; one has to be the fallback\n"}},
    {"no fallback", {OTHER("True", "Full", "0s", "5m", 0, "ReplaceNode")}, 1, {"one has to be the fallback\n"}},
    {"two", {FALLBACK, FALLBACK}, 2, {"reasonRegex: is empty, as that of another policy is; one is the fallback\n"}},
    {"that reboots", {OTHER("True", "", "0s", "5m", 0, "RebootNode")}, 1, {"action: of the fallback is not ReplaceNode\n"}},
    {"a bad expression", {FALLBACK, OTHER("True", "(", "0s", "5m", 0, "ReplaceNode")}, 2,
     {"reasonRegex: \"(\" is no regular expression: a group is not closed by )\n"}},
    {"a bad status", {FALLBACK, OTHER("Bad", "x", "0s", "5m", 0, "ReplaceNode")}, 2,
     {"conditionStatus: is not True, False or Unknown\n"}},
    {"less than no time", {FALLBACK, OTHER("True", "x", "-1m", "-5m", 0, "ReplaceNode")}, 2,
     {"tolerationDuration: must not be negative\n", "terminationGracePeriod: must not be negative\n"}},
    {"no times", {FALLBACK, OTHER("True", "x", "1d", "-x", 0, "ReplaceNode")}, 2,
     {"tolerationDuration: is not a duration; write it like \"10m0s\"\n", "terminationGracePeriod: is not a duration; write it like \"10m0s\"\n"}},
    {"too unimportant", {FALLBACK, OTHER("True", "x", "0s", "5m", -1, "ReplaceNode")}, 2, {"priority: is not from 0 to 100\n"}},
    {"too important", {FALLBACK, OTHER("True", "x", "0s", "5m", 101, "ReplaceNode")}, 2, {"priority: is not from 0 to 100\n"}},
    {"no such action", {FALLBACK, OTHER("True", "x", "0s", "5m", 0, "Pray")}, 2, {"action: is not ReplaceNode or RebootNode\n"}},
    {"no type", {FALLBACK, POLICY("", "True", "x", "0s", "5m", 0, "ReplaceNode")}, 2, {"conditionType: is empty\n"}},
    {"all of it at once", {OTHER("Bad", "x", "0s", "5m", 101, "ReplaceNode")}, 1,
     {"conditionStatus: is not True, False or Unknown\n", "priority: is not from 0 to 100\n", "one has to be the fallback\n"}},
};

static void what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct buf b = {0};
        struct repair_policies got;
        struct repair_texts texts = {(struct repair_text *)rows[i].items, rows[i].count};
        arena_init(&a, 0);
        bool fine = repair_policies_make(&a, &texts, &got, &b);
        struct span told = buf_span(&b);
        size_t lines = 0, want = 0;
        for (size_t k = 0; k < told.len; k++)
            lines += told.ptr[k] == '\n';
        for (; want < COUNT_OF(rows[i].want) && rows[i].want[want] != NULL; want++)
            if (!span_contains(told, span_of(rows[i].want[want])))
                fail_msg("%s: \"%s\" is not in\n%.*s", rows[i].label, rows[i].want[want], SPAN_ARG(told));
        if (fine != (want == 0) || lines != want)
            fail_msg("%s: %d, %zu lines:\n%.*s", rows[i].label, fine, lines, SPAN_ARG(told));
        buf_release(&b);
        arena_release(&a);
    }
}

static void the_whole_policy_is_told(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = {0};
    struct repair_policies got;
    struct repair_text items[] = {FALLBACK, OTHER("True", "Full|Gone", "10m", "0s", 7, "Pray")};
    arena_init(&a, 0);
    assert_false(repair_policies_make(&a, &(struct repair_texts){items, 2}, &got, &b));
    assert_true(span_eq(buf_span(&b),
                        SPAN("repairPolicies[1] {conditionType: \"Disk\", conditionStatus: \"True\", reasonRegex: "
                             "\"Full|Gone\", tolerationDuration: \"10m\", terminationGracePeriod: \"0s\", priority: 7, "
                             "action: \"Pray\"}: action: is not ReplaceNode or RebootNode\n")));
    buf_release(&b);
    arena_release(&a);
}

/* Priorities are but an order. */
static void ranks_have_no_gaps(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = {0};
    struct repair_policies got;
    struct repair_text items[] = {FALLBACK, OTHER("True", "a", "0s", "0s", 90, "ReplaceNode"),
                                  OTHER("True", "b", "0s", "0s", 10, "ReplaceNode"),
                                  OTHER("True", "c", "0s", "0s", 10, "ReplaceNode")};
    arena_init(&a, 0);
    assert_true(repair_policies_make(&a, &(struct repair_texts){items, 4}, &got, &b));
    assert_int_equal(got.items[0].rank, 0);
    assert_int_equal(got.items[1].rank, 2);
    assert_int_equal(got.items[2].rank, 1);
    assert_int_equal(got.items[3].rank, 1);
    assert_ptr_equal(got.fallback, &got.items[0]);
    arena_release(&a);
}

#define AT(minutes) (INT64_C(1000) * MS_HOUR + (minutes) * MS_MINUTE)
#define MET(type_, status_, minutes) {.type = SPAN_INIT(type_), .status = CONDITION_##status_, .reason = SPAN_INIT("Full"), \
                                      .transition = AT(minutes)}

/* A node that was made at minute 0, asked about at minute 60. Ready=False is due after 30 minutes, Disk=True after 10; next: the
 * minute, 0: none; score: in half hours. */
static const struct {
    const char *label;
    struct condition conditions[3];
    uint32_t count;
    enum condition_status reboot; /* condition Rebooting of the claim, since minute 50 */
    bool has_reboot, due;
    const char *condition;
    int next;
    double score;
} met[] = {
    {"nothing", {{.transition = 0}}, 0, CONDITION_TRUE, false, false, NULL, 0, 0},
    {"for an hour", {MET("Ready", FALSE, 0)}, 1, CONDITION_TRUE, false, true, "Ready", 0, 1},
    {"exactly as long as it may", {MET("Ready", FALSE, 30)}, 1, CONDITION_TRUE, false, true, "Ready", 0, 0},
    {"a minute less", {MET("Ready", FALSE, 31)}, 1, CONDITION_TRUE, false, false, NULL, 61, 0},
    {"another status", {MET("Ready", UNKNOWN, 0)}, 1, CONDITION_TRUE, false, false, NULL, 0, 0},
    {"a good one", {MET("Disk", FALSE, 0)}, 1, CONDITION_TRUE, false, false, NULL, 0, 0},
    {"since before it was made", {MET("Ready", FALSE, -99)}, 1, CONDITION_TRUE, false, true, "Ready", 0, 1},
    {"the next is the soonest", {MET("Ready", FALSE, 45), MET("Disk", TRUE, 55)}, 2, CONDITION_TRUE, false, false, NULL, 65, 0},
    {"in either order", {MET("Disk", TRUE, 55), MET("Ready", FALSE, 45)}, 2, CONDITION_TRUE, false, false, NULL, 65, 0},
    {"what is due comes first, the next is said beside it", {MET("Disk", TRUE, 50), MET("Ready", FALSE, 45)}, 2, CONDITION_TRUE, false, true,
     "Disk", 75, 1},
    {"the highest score counts, not the last", {MET("Disk", TRUE, 20), MET("Ready", FALSE, 30)}, 2, CONDITION_TRUE, false, true, "Disk", 0, 2},
    {"in either order", {MET("Ready", FALSE, 30), MET("Disk", TRUE, 20)}, 2, CONDITION_TRUE, false, true, "Disk", 0, 2},
    {"a reboot that has ended starts the wait anew", {MET("Ready", FALSE, 0)}, 1, CONDITION_FALSE, true, false, NULL, 80, 0},
    {"one that is under way does not", {MET("Ready", FALSE, 0)}, 1, CONDITION_TRUE, true, true, "Ready", 0, 1},
    {"nor one that ended before", {MET("Ready", FALSE, 55)}, 1, CONDITION_FALSE, true, false, NULL, 85, 0},
};

static void what_a_node_meets(void **state)
{
    (void)state;
    struct arena a;
    struct buf b = {0};
    struct repair_policies policies;
    struct repair_text items[] = {FALLBACK, OTHER("True", "Full", "10m", "5m", 10, "ReplaceNode")};
    arena_init(&a, 0);
    assert_true(repair_policies_make(&a, &(struct repair_texts){items, 2}, &policies, &b));
    for (size_t i = 0; i < COUNT_OF(met); i++) {
        struct node n = {.meta = {.created = AT(0)}, .conditions = {(struct condition *)met[i].conditions, met[i].count}};
        struct condition rebooting = {.type = SPAN("Rebooting"), .status = met[i].reboot, .transition = AT(50)};
        struct node_claim c = {.conditions = {&rebooting, met[i].has_reboot}};
        struct repair_answer x = repair_resolve(&policies, &n, &c, AT(60));
        wall_ms next = met[i].next != 0 ? AT(met[i].next) : 0;
        double over = x.score - met[i].score;
        if (x.due != met[i].due || x.next != next || (x.due && (over > 1e-6 || over < -1e-6)) ||
            (x.due && !span_eq(x.condition_type, span_of(met[i].condition))))
            fail_msg("%s: due %d by %.*s, next %lld, score %f", met[i].label, x.due, SPAN_ARG(x.condition_type), (long long)x.next, x.score);
    }
    arena_release(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(the_whole_policy_is_told),
        cmocka_unit_test(ranks_have_no_gaps),
        cmocka_unit_test(what_a_node_meets),
    };
    return cmocka_run_group_tests_name("repair", tests, NULL, NULL);
}
