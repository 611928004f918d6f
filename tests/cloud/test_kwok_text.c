/* What people write for provider kwok of node groups: each mistake is told once, with its place and what to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cloud/groups/kwok_shape.h"

static void reads_the_configuration(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* the message's, or "": it is right */
    } rows[] = {
        {"readNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\nconfigmap: {name: t, key: kwok-config}\n", ""},
        /* as its README has it: the list of GPU types stands elsewhere, and is not asked for */
        {"apiVersion: v1alpha1\nreadNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: pool}\nnodes:\n  skipTaint: true\n"
         "  gpuConfig: {gpuLabelKey: accelerator}\navailableGPUTypes: {k80: {}}\n",
         ""},
        {"{\"ReadNodesFrom\": \"configmap\", \"nodegroups\": {\"fromNodeAnnotationKey\": \"x/y\"}, \"configmap\": {\"name\": \"t\"}}", ""},
        {"", "config.yaml: is empty; write the configuration of Cluster Autoscaler's provider kwok"},
        {"readNodesFrom: [\n", "config.yaml: line 2: "},
        {"nodegroups: {fromNodeLabelKey: pool}\n",
         "config.yaml: readNodesFrom: \"\" is neither \"configmap\" nor \"cluster\"; write one of them"},
        {"readNodesFrom: file\n", "config.yaml: readNodesFrom: \"file\" is neither"},
        {"readNodesFrom: configmap\nnodegroups: {fromNodeLabelKey: pool}\n", "config.yaml: configmap.name: is missing; write "},
        {"readNodesFrom: cluster\n", "config.yaml: nodegroups.fromNodeLabelKey: is missing; write the label"},
        {"readNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: a, fromNodeAnnotationKey: b}\n",
         "config.yaml: nodegroups: has fromNodeLabelKey and fromNodeAnnotationKey; remove one of them"},
        {"readNodesFrom: cluster\nnodegroups: {fromNodeAnnotationKey: b}\n",
         "config.yaml: nodegroups.fromNodeAnnotationKey: annotations of the cluster's Nodes are not kept; write "},
        {"readNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: kubernetes.io/hostname}\n",
         "config.yaml: nodegroups.fromNodeLabelKey: each Node has its own kubernetes.io/hostname; write "},
        {"readNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: pool}\nnodes: {gpuConfig: {availableGPUTypes: {}}}\n",
         "config.yaml: nodes.gpuConfig.gpuLabelKey: is missing; write "},
        {"readNodesFrom: cluster\nnodegroups:\n  fromNodeLabelKey: [pool]\n",
         "config.yaml, line 3: nodegroups.fromNodeLabelKey: "},
        {"readNodesFrom: cluster\nnodegroups: {fromNodeLabelKey: pool}\nnodes:\n  skipTaint: maybe\n",
         "config.yaml, line 4: nodes.skipTaint: "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err = {0};
        struct group_kwok_config c;
        arena_init(&a, 0);
        bool ok = group_kwok_read(&a, &(struct group_kwok_text){span_of(rows[i].text), SPAN("config.yaml")}, &c, &err);
        if (ok != (rows[i].want[0] == '\0') || !span_has_prefix(span_of(err.msg), span_of(rows[i].want)))
            fail_msg("row %zu: \"%s\", want \"%s\"", i, err.msg, rows[i].want);
        arena_release(&a);
    }
}

static void keeps_what_it_says(void **state)
{
    (void)state;
    struct arena a;
    struct err err;
    struct group_kwok_config c;
    arena_init(&a, 0);
    assert_true(group_kwok_read(&a,
                                &(struct group_kwok_text){SPAN("readNodesFrom: configmap\nnodegroups: {fromNodeAnnotationKey: "
                                                               "x/y}\nnodes: {skipTaint: true, gpuConfig: {gpuLabelKey: gpu}}\n"
                                                               "configmap: {name: mine}\n"),
                                                          SPAN("c")},
                                &c, &err));
    assert_true(c.by_annotation && c.skip_taint && !c.from_cluster);
    assert_true(span_eq(c.key, SPAN("x/y")));
    assert_true(span_eq(c.gpu_label, SPAN("gpu")));
    assert_true(span_eq(c.templates_map, SPAN("mine")));
    arena_release(&a);
}

#define HEAD "kind: List\nitems:\n"
#define NODE(name_, labels_, more_)                                                                                     \
    "- {kind: Node, metadata: {name: " name_ ", labels: {" labels_ "}" more_ "}, status: {capacity: {cpu: 1, pods: 9}}}\n"
#define MIN ", annotations: {cluster-autoscaler.kwok.nodegroup/min-count: "
#define MAX ", annotations: {cluster-autoscaler.kwok.nodegroup/max-count: "
#define DESIRED "cluster-autoscaler.kwok.nodegroup/desired-count: "

static void sets_groups_aside(void **state)
{
    (void)state;
    static const struct {
        const char *text, *groups, *aside;
    } rows[] = {
        {HEAD NODE("one", "pool: b", "") NODE("m", "pool: a", "") NODE("k", "pool: a", ""), "a b", ""},
        {"kind: Node\nmetadata: {name: one, labels: {pool: a}}\nstatus: {capacity: {cpu: 1}}\n---\n"
         "kind: Node\nmetadata: {name: one, labels: {pool: b}}\nstatus: {allocatable: {cpu: 1}}\n",
         "a b", ""},
        {HEAD NODE("one", "pool: a", ", annotations: {cluster-autoscaler.kwok.nodegroup/name: own}"), "own", ""},
        {HEAD NODE("one", "x: a", "") NODE("m", "pool: b", ""), "b",
         "t.yaml, line 3: Node one: metadata.labels: has no pool, by which templates are grouped; write it, with the group's name"},
        {HEAD NODE("one", "pool: a", MIN "two}") NODE("m", "pool: b", "") NODE("k", "pool: a", ""), "b",
         "t.yaml, line 3: Node one of group a: annotation cluster-autoscaler.kwok.nodegroup/min-count: \"two\" is not a size; "
         "write a whole number from 0 to 100000"},
        {HEAD NODE("one", "pool: a", MAX "'-1'}"), "",
         "t.yaml, line 3: Node one of group a: annotation cluster-autoscaler.kwok.nodegroup/max-count: \"-1\" is not a size; "},
        {HEAD NODE("one", "pool: a", MIN "'201'}"), "",
         "t.yaml, line 3: Node one of group a: annotation cluster-autoscaler.kwok.nodegroup/max-count: 200 is less than min-count, "
         "201; raise it"},
        {HEAD NODE("one", "pool: a", MAX "'3', " DESIRED "'4'}"), "",
         "t.yaml, line 3: Node one of group a: annotation cluster-autoscaler.kwok.nodegroup/desired-count: 4 is not between"},
        {HEAD NODE("one", "pool: a", ", annotations: {stowage.dev/price: '0.1'}"), "a", ""},
        {HEAD NODE("one", "pool: a", ", annotations: {stowage.dev/price: cheap}"), "",
         "t.yaml, line 3: Node one of group a: annotation stowage.dev/price: \"cheap\" is no price; write dollars an hour"},
        {HEAD NODE("one", "pool: a", MIN "''}"), "a", ""}, /* as if it was not there */
        {HEAD "- {kind: Node, metadata: {name: one, labels: {pool: a}}}\n" NODE("m", "pool: b", ""), "b",
         "t.yaml, line 3: Node one of group a: status.allocatable: is missing; write its cpu, memory and pods"},
        {HEAD "- {kind: Node, metadata: {name: one, labels: {pool: a}}, status: {capacity: {cpu: lots}}}\n", "",
         "t.yaml, line 3: Node one of group a: status.capacity.cpu: "},
        {HEAD "- {kind: Pod, metadata: {name: p}}\n" NODE("m", "pool: b", ""), "b",
         "t.yaml, line 3: kind: \"Pod\" is not Node, and left out; templates are Nodes"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err;
        struct symtab *syms = kube_symtab_new();
        struct kwok_shapes shapes = {0};
        struct kwok_asides asides = {0};
        struct group_kwok_config c = {.key = SPAN("pool")};
        char groups[64] = "";
        arena_init(&a, 0);
        if (!kwok_shapes_read(&a, syms, &c, &(struct group_kwok_text){span_of(rows[i].text), SPAN("t.yaml")}, &shapes, &asides,
                              &err))
            fail_msg("row %zu: %s", i, err.msg);
        for (uint32_t g = 0, at = 0; g < shapes.count; g++)
            at += (uint32_t)snprintf(groups + at, sizeof(groups) - at, "%s%.*s", g != 0 ? " " : "",
                                     SPAN_ARG(shapes.items[g].group));
        struct span told = asides.count != 0 ? asides.items[0] : SPAN("");
        if (!span_eq(span_of(groups), span_of(rows[i].groups)) || !span_has_prefix(told, span_of(rows[i].aside)) ||
            asides.count != (rows[i].aside[0] != '\0'))
            fail_msg("row %zu: groups \"%s\", %u aside: %.*s", i, groups, asides.count, SPAN_ARG(told));
        symtab_unref(syms);
        arena_release(&a);
    }
}

static void refuses_no_text(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "t.yaml: is empty; write a List of template Nodes"},
        {"kind: List\nitems: []\n", "t.yaml: is empty; write a List of template Nodes"},
        {"kind: [\n", "t.yaml: line "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena a;
        struct err err;
        struct kwok_shapes shapes = {0};
        struct kwok_asides asides = {0};
        struct symtab *syms = kube_symtab_new();
        struct group_kwok_config c = {.key = SPAN("pool")};
        arena_init(&a, 0);
        assert_false(kwok_shapes_read(&a, syms, &c, &(struct group_kwok_text){span_of(rows[i][0]), SPAN("t.yaml")}, &shapes,
                                      &asides, &err));
        if (!span_has_prefix(span_of(err.msg), span_of(rows[i][1])))
            fail_msg("row %zu: %s", i, err.msg);
        symtab_unref(syms);
        arena_release(&a);
    }
}

static void names_and_ordinals(void **state)
{
    (void)state;
    static const struct {
        const char *group, *node;
        int64_t ordinal; /* -1: no name that we give */
    } rows[] = {
        {"a", "a-0", 0},   {"a", "a-12", 12}, {"a", "a-", -1},       {"a", "a", -1},    {"a", "a-1x", -1},
        {"a", "b-1", -1},  {"a", "a-1-1", -1}, {"a-1", "a-1-1", 1},  {"A_b", "a-b-7", 7}, {"a", "a-9999999999", -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t ordinal = 0;
        bool ok = kwok_node_ordinal(span_of(rows[i].group), span_of(rows[i].node), &ordinal);
        if (ok != (rows[i].ordinal >= 0) || (ok && ordinal != (uint32_t)rows[i].ordinal))
            fail_msg("row %zu: %d %u", i, ok, ordinal);
        if (ok) {
            struct arena a;
            arena_init(&a, 0);
            assert_true(span_eq(kwok_group_node_name(&a, span_of(rows[i].group), ordinal), span_of(rows[i].node)));
            arena_release(&a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_configuration),
        cmocka_unit_test(keeps_what_it_says),
        cmocka_unit_test(sets_groups_aside),
        cmocka_unit_test(refuses_no_text),
        cmocka_unit_test(names_and_ordinals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
