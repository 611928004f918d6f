/* Which nodes count as ready, which of them a template is made of, and which taints pass (spec node-groups 2.4, 2.5). It is noon. */
#include "planner/groups/ready.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support_pass.h"

#define NOON INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */
#define SINCE "2026-01-01T11:00:00Z"
#define READY(since) CONDITION("Ready", "True", since)
#define CONDITION(type, status, since) "{type: " type ", status: '" status "', lastTransitionTime: '" since "'}, "
#define TAINT(key) "taints: [{key: " key ", effect: NoSchedule}], "

static const struct {
    const char *label, *labels, *spec, *allocatable, *conditions;
    bool ready, steady;
} rows[] = {
    {"ready", "", "", "", READY(SINCE), true, true},
    {"no condition", "", "", "", "", false, false},
    {"not ready", "", "", "", CONDITION("Ready", "False", SINCE), false, false},
    {"silent", "", "", "", CONDITION("Ready", "Unknown", SINCE), false, false},
    {"its disk is full", "", "", "", READY(SINCE) CONDITION("DiskPressure", "True", SINCE), false, false},
    {"its disk is not", "", "", "", READY(SINCE) CONDITION("DiskPressure", "False", SINCE), true, true},
    {"no network", "", "", "", READY(SINCE) CONDITION("NetworkUnavailable", "True", SINCE), false, false},
    {"any other condition", "", "", "", READY(SINCE) CONDITION("MemoryPressure", "True", SINCE), true, true},
    {"not ready by its taint", "", TAINT("node.kubernetes.io/not-ready"), "", READY(SINCE), false, false},
    {"a full disk by its taint", "", TAINT("node.kubernetes.io/disk-pressure"), "", READY(SINCE), false, false},
    {"no network by its taint", "", TAINT("node.kubernetes.io/network-unavailable"), "", READY(SINCE), false, false},
    {"any other taint", "", TAINT("node.kubernetes.io/memory-pressure"), "", READY(SINCE), true, true},
    {"it starts", "", TAINT("startup-taint.cluster-autoscaler.kubernetes.io/x"), "", READY(SINCE), false, false},
    {"it starts, in the old words", "", TAINT("ignore-taint.cluster-autoscaler.kubernetes.io/x"), "", READY(SINCE), false, false},
    {"a start-up taint that is listed", "", TAINT("example.com/starts"), "", READY(SINCE), false, false},
    {"one that begins so", "", TAINT("example.com/starts-too"), "", READY(SINCE), true, true},
    {"a prefix that is listed", "", TAINT("prefix.example.com/x"), "", READY(SINCE), false, false},
    {"GPUs are promised", "gpu: t4", "", "", READY(SINCE), false, false},
    {"and are there", "gpu: t4", "", ", nvidia.com/gpu: 1", READY(SINCE), true, true},
    {"those of another maker", "gpu: mi300", "", ", amd.com/gpu: 1", READY(SINCE), true, true},
    {"none of them are", "gpu: t4", "", ", nvidia.com/gpu: 0", READY(SINCE), false, false},
    {"none was promised", "", "", "", READY(SINCE), true, true},
    {"for a minute", "", "", "", READY("2026-01-01T11:59:00Z"), true, false},
    {"for more", "", "", "", READY("2026-01-01T11:58:59Z"), true, true},
    {"since its disk is no more full", "", "", "", READY(SINCE) CONDITION("DiskPressure", "False", "2026-01-01T11:59:30Z"), true, false},
    {"cordoned", "", "unschedulable: true, ", "", READY(SINCE), true, false},
    {"about to go", "", TAINT("ToBeDeletedByClusterAutoscaler"), "", READY(SINCE), true, false},
    {"perhaps about to go", "", TAINT("DeletionCandidateOfClusterAutoscaler"), "", READY(SINCE), true, true},
};

static struct span startup[] = {SPAN_INIT("example.com/starts")}, prefixes[] = {SPAN_INIT("prefix.example.com/")},
                   status_taints[] = {SPAN_INIT("example.com/status")};

static struct group_flags flags_of(void)
{
    struct group_flags f = group_flags_default();
    f.startup_taints = (struct spans){startup, 1};
    f.startup_taint_prefixes = (struct spans){prefixes, 1};
    f.status_taints = (struct spans){status_taints, 1};
    return f;
}

static void which_are_ready(void **state)
{
    (void)state;
    struct group_flags flags = flags_of();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char yaml[1000];
        cluster_init(&c);
        snprintf(yaml, sizeof(yaml),
                 "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1, labels: {%s}}\nspec: {%s}\nstatus: {allocatable: {cpu: 4%s}, "
                 "conditions: [%s]}\n",
                 rows[i].labels, rows[i].spec, rows[i].allocatable, rows[i].conditions);
        cluster_add(&c, yaml);
        const struct node *n = c.kinds[KIND_NODE].items[0];
        struct node_groups file = {.gpu_label = sym_intern(c.syms, SPAN("gpu"))};
        struct group_model m = {.file = &file};
        bool ready = group_node_ready(&m, &flags, c.syms, n), steady = group_node_steady(&m, &flags, c.syms, n, NOON);
        if (ready != rows[i].ready || steady != rows[i].steady)
            fail_msg("%s: %s%s", rows[i].label, ready ? "ready" : "not ready", steady ? ", steady" : "");
        cluster_release(&c);
    }
}

static const struct {
    const char *key;
    bool passes;
} taints[] = {
    {"node.kubernetes.io/not-ready", true},
    {"node.kubernetes.io/unschedulable", true},
    {"node.cloudprovider.kubernetes.io/uninitialized", true},
    {"ToBeDeletedByClusterAutoscaler", true},
    {"DeletionCandidateOfClusterAutoscaler", true},
    {"NodeWithImpairedVolumes", true},
    {"status-taint.cluster-autoscaler.kubernetes.io/x", true},
    {"startup-taint.cluster-autoscaler.kubernetes.io/x", true},
    {"example.com/status", true},
    {"example.com/starts", true},
    {"prefix.example.com/x", true},
    {"CriticalAddonsOnly", false},
    {"example.com/statuses", false},
    {"node.kubernetes.io/other", false},
};

static void which_taints_pass(void **state)
{
    (void)state;
    struct group_flags flags = flags_of();
    struct cluster c;
    cluster_init(&c);
    for (size_t i = 0; i < COUNT_OF(taints); i++)
        if (taint_is_passing(&flags, c.syms, sym_intern(c.syms, span_of(taints[i].key))) != taints[i].passes)
            fail_msg("%s", taints[i].key);
    cluster_release(&c);
}

/* The first that there is, in upstream's order; of what is 0 there is none. */
static void which_resource_is_a_gpu(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    sym amd = sym_intern(c.syms, SPAN("amd.com/gpu")), nvidia = sym_intern(c.syms, SPAN("nvidia.com/gpu"));
    struct resource both[] = {{amd, 1}, {nvidia, 2}}, one[] = {{nvidia, 0}, {amd, 1}}, none[] = {{SYM_CPU, 1}, {nvidia, 0}};
    assert_int_equal(group_gpu_of((struct resources){both, 2}, c.syms), nvidia);
    assert_int_equal(group_gpu_of((struct resources){one, 2}, c.syms), amd);
    assert_int_equal(group_gpu_of((struct resources){none, 2}, c.syms), SYM_NONE);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_are_ready), cmocka_unit_test(which_taints_pass),
                                       cmocka_unit_test(which_resource_is_a_gpu)};
    return cmocka_run_group_tests_name("ready", tests, NULL, NULL);
}
