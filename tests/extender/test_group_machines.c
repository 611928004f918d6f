/* Pods that are planned on machines of node groups: before their Node registers, before it is ready, and then. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support_ask.h"

#define COMING(name, more)                                                                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n"                                \
    "spec: {providerID: 'kwok://" name "'" more "}\n"                                              \
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"
#define UNREADY COMING("new", ", taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]") \
    "  conditions: [{type: Ready, status: 'False'}]\n"
#define READY COMING("new", "") "  conditions: [{type: Ready, status: 'True'}]\n"
#define PODS                                                                                       \
    NODE("old", "") POD("there", "2", BOUND("old"), "") OWNED("two", "mine", "2", "", WAITS)                \
    POD("late", "2", "", WAITS) POD("small", "100m", "", WAITS) POD("other", "3", "", WAITS)

static const struct {
    const char *label, *yaml;
    const char *mine, *late; /* where they have their places: one on the old node's last room, one on the new machine */
    const char *pod, *names; /* who asks, and about which */
    const char *passed, *unresolvable;
    bool astray;
} rows[] = {
    {"who waits for a machine has not another's room", PODS, "old", "machine/1", "late", "old", "", "old", false},
    {"whose room it is has it", PODS, "old", "machine/1", "mine", "old", "old", "", false},
    {"nor is there room beside it", PODS, "old", "machine/1", "small", "old", "", "old", false},
    {"room that is nobody's he may have", PODS, "machine/2", "machine/1", "late", "old", "old", "", false},
    {"a Node that is not ready is not refused", PODS UNREADY, "old", "new", "late", "old", "", "old", false},
    {"one that is ready, and not offered, is", PODS READY, "old", "new", "late", "old", "", "old", true},
    {"its planned pod gets it", PODS READY, "old", "new", "late", "old new", "new", "", false},
    {"and nobody else", PODS READY, "old", "new", "other", "old new", "", "old", false},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer a;
        cluster_open(&c, rows[i].yaml);
        cluster_place(&c, "mine", rows[i].mine);
        cluster_place(&c, "late", rows[i].late);
        ask_filter_answer(&c, rows[i].pod, rows[i].names, &a);
        if (strcmp(a.passed, rows[i].passed) != 0 || strcmp(a.unresolvable, rows[i].unresolvable) != 0 ||
            a.verdict.astray != rows[i].astray)
            fail_msg("%s: passed \"%s\", unresolvable \"%s\", %sastray", rows[i].label, a.passed, a.unresolvable,
                     a.verdict.astray ? "" : "not ");
        cluster_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests_name("group_machines", tests, NULL, NULL);
}
