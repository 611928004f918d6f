/* What one more node of a group would be: where it comes from, and whether it is as it was before (spec node-groups 2.4). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "planner/groups/template.h"
#include "support_pass.h"

#define NOW INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

#define NODE(name, label, since)                                                                                        \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {pool: a, rack: " label "}}\nstatus: {capacity: "   \
    "{cpu: 4, memory: 8Gi, pods: 110}, allocatable: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: Ready, "        \
    "status: 'True', lastTransitionTime: \"2026-01-01T" since "Z\"}]}\n"
#define DAEMON(name, node)                                                                                              \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: kube-system, uid: " name ", ownerReferences: [{"  \
    "apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d, controller: true}]}\nspec: {nodeName: " node             \
    ", containers: [{name: c, resources: {requests: {cpu: 100m}}}]}\nstatus: {phase: Running}\n"
#define PLAIN(name, node)                                                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: shop, uid: " name "}\nspec: {nodeName: " node     \
    ", containers: [{name: c}]}\nstatus: {phase: Running}\n"

static const char SELECTED[] = "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}}]";
static const char PROVIDED[] = "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}, template: {metadata: "
                               "{labels: {pool: a}}, status: {capacity: {cpu: 4, memory: 8Gi, pods: 110}}}}]";
static const char LEARNED[] = "groups: [{name: a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}, template: {status: {capacity: "
                              "{cpu: 4, memory: 8Gi, pods: 110}}}, learned: {metadata: {labels: {rack: r9}}, status: {allocatable: "
                              "{cpu: 3800m, memory: 7Gi, pods: 110}}}}]";

struct made {
    struct cluster c;
    struct arena a;
    struct group_model *m;
};

static const struct group_template *make_with(struct made *x, const char *objects, const char *groups, wall_ms now,
                                              struct symtab *syms, struct group_flags flags)
{
    struct node_groups *file;
    struct err err = {0};
    cluster_init(&x->c);
    if (syms != NULL) {
        symtab_unref(x->c.syms);
        x->c.syms = symtab_ref(syms);
    }
    arena_init(&x->a, 0);
    file = ARENA_NEW(&x->a, struct node_groups);
    if (objects[0] != '\0')
        cluster_add(&x->c, objects);
    pass_read(&x->c, groups, &node_groups_schema, file);
    struct group_objects *o = ARENA_NEW(&x->a, struct group_objects);
    *o = pass_objects(&x->c);
    x->m = group_model_make(file, &flags, o, now, &x->a, &err);
    assert_non_null(x->m);
    return &x->m->groups[0].template;
}

/* `syms` (NULL: its own): of the cluster that it is compared with. */
static const struct group_template *make(struct made *x, const char *objects, const char *groups, wall_ms now,
                                         struct symtab *syms)
{
    return make_with(x, objects, groups, now, syms, group_flags_default());
}

static void release(struct made *x)
{
    arena_release(&x->a);
    cluster_release(&x->c);
}

static const struct {
    const char *label, *objects, *groups;
    enum group_template_origin origin;
    const char *of;
    uint32_t pods;
} rows[] = {
    {"nobody knows", "", SELECTED, TEMPLATE_NONE, NULL, 0},
    {"its provider does", "", PROVIDED, TEMPLATE_OF_PROVIDER, NULL, 0},
    {"a node that is ready", NODE("a-1", "r1", "11:00:00") DAEMON("agent-1", "a-1") PLAIN("web", "a-1"), PROVIDED, TEMPLATE_OF_NODE,
     "a-1", 1},
    {"the one that has been for a minute", NODE("a-1", "r1", "11:59:30") NODE("a-2", "r2", "11:00:00") DAEMON("agent-1", "a-1")
     DAEMON("agent-2", "a-2") DAEMON("other-2", "a-2"), SELECTED, TEMPLATE_OF_NODE, "a-2", 2},
    {"none has, and its provider knows", NODE("a-1", "r1", "11:59:30") DAEMON("agent-1", "a-1"), PROVIDED, TEMPLATE_OF_PROVIDER, NULL, 0},
    {"34: its nodes are remembered", "", LEARNED, TEMPLATE_LEARNED, NULL, 0},
    {"one has come that may be another", NODE("a-1", "r1", "11:59:30") DAEMON("agent-1", "a-1"), LEARNED, TEMPLATE_OF_PROVIDER, NULL, 0},
    {"34: one is", NODE("a-1", "r1", "11:00:00") DAEMON("agent-1", "a-1"), LEARNED, TEMPLATE_OF_NODE, "a-1", 1},
    {"none has, and it does not", NODE("a-1", "r1", "11:59:30") DAEMON("agent-1", "a-1"), SELECTED, TEMPLATE_OF_ANY_NODE, "a-1", 1},
};

static void where_it_comes_from(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct made x;
        const struct group_template *t = make(&x, rows[i].objects, rows[i].groups, NOW, NULL);
        if (t->origin != rows[i].origin || t->pod_count != rows[i].pods || (t->node == NULL) != (t->origin == TEMPLATE_NONE) ||
            (rows[i].of != NULL && !span_eq(t->of->meta.name, span_of(rows[i].of))))
            fail_msg("%s: origin %d, %u pods", rows[i].label, (int)t->origin, t->pod_count);
        release(&x);
    }
}

static void greedy_goes_by_the_provider(void **state)
{
    (void)state;
    struct made x;
    struct group_flags flags = group_flags_default();
    flags.as_upstream = true;
    assert_int_equal(make_with(&x, "", LEARNED, NOW, NULL, flags)->origin, TEMPLATE_OF_PROVIDER);
    release(&x);
}

static const struct {
    const char *label, *before, *after, *groups;
    wall_ms later;
    bool same;
} changes[] = {
    {"time goes by", NODE("a-1", "r1", "11:00:00") DAEMON("agent-1", "a-1"), NULL, SELECTED, 10 * MS_MINUTE, true},
    {"a node has been ready for a minute", NODE("a-1", "r1", "11:59:30"), NULL, PROVIDED, MS_MINUTE, false},
    {"a label", NODE("a-1", "r1", "11:00:00"), NODE("a-1", "r2", "11:00:00"), SELECTED, 0, false},
    {"a DaemonSet's pod", NODE("a-1", "r1", "11:00:00"), NODE("a-1", "r1", "11:00:00") DAEMON("agent-1", "a-1"), SELECTED, 0, false},
    {"another pod", NODE("a-1", "r1", "11:00:00"), NODE("a-1", "r1", "11:00:00") PLAIN("web", "a-1"), SELECTED, 0, true},
    {"the first node", "", NODE("a-1", "r1", "11:00:00"), SELECTED, 0, false},
    {"the provider's", "", NULL, PROVIDED, MS_HOUR, true},
};

static void whether_it_is_as_it_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct made x, y;
        const char *after = changes[i].after != NULL ? changes[i].after : changes[i].before;
        const struct group_template *before = make(&x, changes[i].before, changes[i].groups, NOW, NULL);
        const struct group_template *now = make(&y, after, changes[i].groups, NOW + changes[i].later, x.c.syms);
        if (group_template_same(before, now) != changes[i].same)
            fail_msg("%s: %s", changes[i].label, changes[i].same ? "another" : "the same");
        release(&x);
        release(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_it_comes_from), cmocka_unit_test(greedy_goes_by_the_provider),
                                       cmocka_unit_test(whether_it_is_as_it_was)};
    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
