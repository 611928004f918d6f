/* Which nodes and machines a group has, what its size is, and which files are refused (spec node-groups 2.1, 2.2). */
#include "planner/groups/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "support_pass.h"

#define NOON INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */
#define NODE(name, labels, id)                                                                                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {" labels "}}\nspec: {providerID: " id "}\n"
#define GROUP(name, more) "- {name: " name ", minSize: 0, maxSize: 9, " more "}\n"
#define NODES NODE("n1", "pool: a, disk: ssd", "'x://1'") NODE("n2", "pool: a", "'x://2'") NODE("n3", "pool: b", "''")

/* want: of each group "name size: nodes; ", a machine without a Node as "-id"; or part of why the file is refused. */
static const struct {
    const char *label, *groups, *want;
} rows[] = {
    {"no nodes", GROUP("a", ""), "a 0:; "},
    {"by name", GROUP("a", "nodes: [n2, n1]"), "a 2: n1 n2; "},
    {"by providerID", GROUP("a", "nodes: ['x://2', 'x://1']"), "a 2: n1 n2; "},
    {"in both ways", GROUP("a", "nodes: [n1, 'x://1']"), "a 1: n1; "},
    {"one that is not there", GROUP("a", "nodes: [n9]"), "group a: nodes: the input has no Node \"n9\""},
    {"in two groups", GROUP("a", "nodes: [n1]") GROUP("b", "nodes: ['x://1']"), "group b: nodes: node \"n1\" is in group a, too; a node is in one"},
    {"by a selector", GROUP("a", "nodeSelector: {pool: a}"), "a 2: n1 n2; "},
    {"all of it has to match", GROUP("a", "nodeSelector: {pool: a, disk: ssd}"), "a 1: n1; "},
    {"a label that none has", GROUP("a", "nodeSelector: {rack: r}"), "a 0:; "},
    {"an empty selector takes no node", GROUP("a", "nodeSelector: {}"), "a 0:; "},
    {"by both, once", GROUP("a", "nodeSelector: {pool: a}, nodes: [n1, n3]"), "a 3: n1 n2 n3; "},
    {"two selectors that take one", GROUP("a", "nodeSelector: {pool: a}") GROUP("b", "nodeSelector: {disk: ssd}"),
     "group b: nodeSelector: node \"n1\" is in group a, too"},
    {"groups are by name", GROUP("b", "nodes: [n3]") GROUP("a", "nodes: [n1]"), "a 1: n1; b 1: n3; "},
    {"instances, with Nodes and without", GROUP("a", "instances: [{id: 'x://1'}, {id: 'x://9'}]"), "a 2: n1 -x://9; "},
    {"a Node without a providerID is called by its name", GROUP("a", "instances: [{id: n3}]"), "a 1: n3; "},
    {"one with a providerID is not", GROUP("a", "instances: [{id: n1}]"), "a 1: -n1; "},
    {"an instance of another group's Node", GROUP("a", "nodes: [n1]") GROUP("b", "instances: [{id: 'x://1'}]"),
     "group b: instances: node \"n1\" is in group a, too"},
    {"no instances, though it has nodes", GROUP("a", "nodes: [n1], instances: []"), "a 0:; "},
    {"its size is said", GROUP("a", "nodes: [n1], targetSize: 3"), "a 3: n1; "},
    {"and may be nothing", GROUP("a", "nodes: [n1], targetSize: 0"), "a 0: n1; "},
    {"what is unneeded has to be there", GROUP("a", "") "state: {unneeded: {n9: '2026-01-01T11:00:00Z'}}\n", "state.unneeded: the input has no Node \"n9\""},
    {"and may be in no group", GROUP("a", "") "state: {unneeded: {n1: '2026-01-01T11:00:00Z'}}\n", "a 0:; "},
    {"what cannot be removed has to be there", GROUP("a", "") "state: {unremovableUntil: {n9: '2026-01-01T13:00:00Z'}}\n",
     "state.unremovableUntil: the input has no Node \"n9\""},
    {"what is removed has to be in a group", GROUP("a", "nodes: [n1]") "state: {deletions: {empty: [n2]}}\n",
     "state.deletions.empty: Node \"n2\" is in no group; only nodes of groups are removed"},
    {"drained or not", GROUP("a", "nodes: [n1]") "state: {deletions: {drain: [n2]}}\n", "state.deletions.drain: Node \"n2\" is in no group"},
    {"as these are", GROUP("a", "nodes: [n1, n2]") "state: {deletions: {empty: [n1], drain: [n2]}}\n", "a 2: n1 n2; "},
};

static void describe(struct buf *out, const struct group_model *m)
{
    for (uint32_t g = 0; g < m->group_count; g++) {
        const struct group *x = &m->groups[g];
        buf_addf(out, "%.*s %d:", SPAN_ARG(x->spec->name), x->target);
        if (x->instance_count == 0)
            for (uint32_t i = 0; i < x->node_count && x->spec->has_target; i++)
                buf_addf(out, " %.*s", SPAN_ARG(x->nodes[i]->meta.name));
        for (uint32_t i = 0; i < x->instance_count; i++)
            buf_addf(out, x->instances[i].node != NULL ? " %.*s" : " -%.*s",
                     SPAN_ARG(x->instances[i].node != NULL ? x->instances[i].node->meta.name : x->instances[i].id));
        buf_addf(out, "; ");
    }
}

static void what_a_group_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct node_groups file = {0};
        struct group_flags flags = group_flags_default();
        struct buf yaml = {0}, got = {0};
        struct err err = {0};
        cluster_init(&c);
        cluster_add(&c, NODES);
        buf_addf(&yaml, "groups:\n%s", rows[i].groups);
        buf_add_char(&yaml, '\0');
        pass_read(&c, yaml.ptr, &node_groups_schema, &file);
        struct group_objects objects = pass_objects(&c);
        const struct group_model *m = group_model_make(&file, &flags, &objects, NOON, &c.arena, &err);
        if (m != NULL)
            describe(&got, m);
        else
            buf_addf(&got, "%s", err.msg);
        if (m != NULL ? !span_eq(buf_span(&got), span_of(rows[i].want)) : !span_contains(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: \"%.*s\", not \"%s\"", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
        buf_release(&yaml);
        buf_release(&got);
        cluster_release(&c);
    }
}

/* A group's own option goes before the flag, also where it says no or nothing. */
static void options_go_before_flags(void **state)
{
    (void)state;
    struct cluster c;
    struct node_groups file = {0};
    struct group_flags flags = group_flags_default();
    struct err err;
    flags.scaling.ignore_daemon_sets = true;
    flags.scaling.unneeded_time = 7 * MS_MINUTE;
    cluster_init(&c);
    pass_read(&c, "groups:\n" GROUP("a", "") GROUP("b", "options: {ignoreDaemonSetsUtilization: false, scaleDownUnneededTime: 0s, "
                  "scaleDownUtilizationThreshold: 0.9, maxNodeProvisionTime: 3m}"), &node_groups_schema, &file);
    struct group_objects objects = pass_objects(&c);
    const struct group_model *m = group_model_make(&file, &flags, &objects, NOON, &c.arena, &err);
    assert_non_null(m);
    const struct group_scaling *a = &m->groups[0].scaling, *b = &m->groups[1].scaling;
    assert_true(a->ignore_daemon_sets && a->unneeded_time == 7 * MS_MINUTE);
    assert_true(a->utilization_threshold < 0.6 && a->provision_time == flags.scaling.provision_time);
    assert_true(!b->ignore_daemon_sets && b->unneeded_time == 0);
    assert_true(b->utilization_threshold > 0.8 && b->provision_time == 3 * MS_MINUTE);
    assert_true(b->unready_time == flags.scaling.unready_time);
    cluster_release(&c);
}

/* Names of nodes go before providerIDs: one that is both is the node of the name. */
static void which_node_is_meant(void **state)
{
    (void)state;
    struct cluster c;
    struct node_groups file = {0};
    struct group_flags flags = group_flags_default();
    struct err err;
    cluster_init(&c);
    cluster_add(&c, NODE("alpha", "", "beta") NODE("beta", "", "gamma") NODE("delta", "", "''"));
    pass_read(&c, "groups:\n" GROUP("g", "") GROUP("h", ""), &node_groups_schema, &file);
    struct group_objects objects = pass_objects(&c);
    const struct group_model *m = group_model_make(&file, &flags, &objects, NOON, &c.arena, &err);
    assert_non_null(m);
    int32_t beta = group_model_node(m, SPAN("beta")), gamma = group_model_node(m, SPAN("gamma"));
    assert_true(beta >= 0 && span_eq(m->nodes[beta]->meta.name, SPAN("beta")));
    assert_int_equal(gamma, beta);
    assert_int_equal(group_model_node(m, SPAN("epsilon")), -1);
    assert_true(group_model_node(m, SPAN("delta")) >= 0);
    assert_int_equal(group_model_group(m, SPAN("h")), 1);
    assert_int_equal(group_model_group(m, SPAN("i")), -1);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_group_has), cmocka_unit_test(options_go_before_flags),
                                       cmocka_unit_test(which_node_is_meant)};
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
