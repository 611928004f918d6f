/* What is learned of groups from their nodes, and what becomes of it when those are gone (planner/groups/learned.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "planner/groups/learned.h"
#include "support_pass.h"

#define NOW INT64_C(1767268800000) /* 2026-01-01T12:00:00Z */

static const char NODE[] =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: a-1, labels: {pool: a, rack: r1, kubernetes.io/hostname: ip-10, "
    "example.com/machine: a-1, example.com/id: 'cloud://a-1'}}\nspec: {providerID: 'cloud://a-1', taints: [{key: dedicated, value: a, "
    "effect: NoSchedule}, {key: DeletionCandidateOfClusterAutoscaler, value: '1', effect: PreferNoSchedule}, {key: example.com/agent, "
    "effect: NoSchedule}]}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 110, example.com/gpu: 2}, allocatable: {cpu: 3800m, "
    "memory: 7Gi, pods: 110, example.com/gpu: 2}, conditions: [{type: Ready, status: 'True', lastTransitionTime: "
    "\"2026-01-01T11:00:00Z\"}]}\n";
#define GROUP(provided)                                                                                                \
    "groups: [{name: Kind/ns/a, minSize: 0, maxSize: 9, nodeSelector: {pool: a}, template: {metadata: {labels: {pool: a}}, status: "   \
    "{capacity: {cpu: " provided ", memory: 8Gi, pods: 110}}}}]"

struct look { /* at a cluster and its groups */
    struct cluster c;
    struct arena a;
    struct node_groups file;
    struct group_objects objects;
    struct group_model *m;
};

/* `l` is recalled and learns. */
static void look(struct look *x, struct learned *l, const char *objects, const char *groups)
{
    static const struct span passing = SPAN_INIT("example.com/agent");
    struct group_flags flags = group_flags_default();
    struct err err = {0};
    flags.status_taints = (struct spans){(struct span *)(uintptr_t)&passing, 1};
    cluster_init(&x->c);
    arena_init(&x->a, 0);
    if (objects[0] != '\0')
        cluster_add(&x->c, objects);
    pass_read(&x->c, groups, &node_groups_schema, &x->file);
    learned_recall(l, &x->file, x->c.syms, &x->a);
    x->objects = pass_objects(&x->c);
    x->m = group_model_make(&x->file, &flags, &x->objects, NOW, &x->a, &err);
    assert_non_null(x->m);
    learned_take(l, x->m, x->c.syms);
}

static void look_away(struct look *x)
{
    arena_release(&x->a);
    cluster_release(&x->c);
}

/* As another process reads it. */
static struct learned *read_anew(const struct learned *l)
{
    struct learned *next = learned_new();
    struct arena a;
    arena_init(&a, 0);
    learned_read(next, learned_text(l, &a));
    arena_release(&a);
    return next;
}

static void expect_text(const struct learned *l, const char *want)
{
    struct arena a;
    arena_init(&a, 0);
    struct span text = learned_text(l, &a);
    if (!span_eq(text, span_of(want)))
        fail_msg("%.*s", SPAN_ARG(text));
    arena_release(&a);
}

static bool has_label(const struct look *x, const char *key, const char *value)
{
    struct symtab *syms = x->c.syms;
    return sym_pairs_get(x->m->groups[0].template.node->meta.labels, sym_intern(syms, span_of(key))) ==
           sym_intern(syms, span_of(value));
}

static void one_more_is_as_those_before(void **state)
{
    (void)state;
    struct look x;
    struct learned *l = learned_new(), *next;
    expect_text(l, "");
    look(&x, l, NODE, GROUP("4"));
    look_away(&x);
    next = read_anew(l);
    look(&x, next, "", GROUP("4"));
    const struct group_template *t = &x.m->groups[0].template;
    assert_int_equal(t->origin, TEMPLATE_LEARNED);
    assert_true(has_label(&x, "rack", "r1"));
    assert_true(has_label(&x, "pool", "a"));
    assert_true(has_label(&x, "kubernetes.io/hostname", "template-node-for-Kind/ns/a"));
    assert_int_equal(t->node->meta.labels.count, 4); /* and that it is a template */
    assert_int_equal(t->node->taints.count, 1);
    assert_true(span_eq(sym_text(x.c.syms, t->node->taints.items[0].key), SPAN("dedicated")));
    assert_true(span_eq(sym_text(x.c.syms, t->node->taints.items[0].value), SPAN("a")));
    assert_int_equal(resources_get(t->node->allocatable, sym_intern(x.c.syms, SPAN("cpu"))), 3800);
    assert_int_equal(resources_get(t->node->allocatable, sym_intern(x.c.syms, SPAN("example.com/gpu"))), 2);
    assert_int_equal(resources_get(t->node->capacity, sym_intern(x.c.syms, SPAN("memory"))), INT64_C(8) << 30);
    look_away(&x);
    look(&x, next, "", GROUP("4")); /* it is not forgotten for having been used */
    assert_int_equal(x.m->groups[0].template.origin, TEMPLATE_LEARNED);
    look_away(&x);
    learned_free(next);
    learned_free(l);
}

/* What the ConfigMap says is for a process that knows nothing: it does not replace what the nodes said. */
static void what_is_known_stays(void **state)
{
    (void)state;
    struct look x;
    struct learned *l = learned_new();
    struct arena a;
    arena_init(&a, 0);
    look(&x, l, NODE, GROUP("4"));
    look_away(&x);
    struct span before = learned_text(l, &a);
    learned_read(l, SPAN("Kind/ns/a: {}\nb: {}\n"));
    struct span after = learned_text(l, &a);
    assert_true(span_has_prefix(after, before));
    assert_true(span_eq((struct span){after.ptr + before.len, after.len - before.len}, SPAN("b: {}\n")));
    learned_free(l);
    arena_release(&a);
}

/* Whoever makes the group's next nodes larger means it. */
static void a_provider_that_says_otherwise_is_believed(void **state)
{
    (void)state;
    struct look x;
    struct learned *l = learned_new();
    look(&x, l, NODE, GROUP("4"));
    look_away(&x);
    look(&x, l, "", GROUP("8"));
    assert_int_equal(x.m->groups[0].template.origin, TEMPLATE_OF_PROVIDER);
    look_away(&x);
    learned_free(l);
}

static void a_group_that_is_gone_is_forgotten(void **state)
{
    (void)state;
    struct look x;
    struct learned *l = learned_new();
    look(&x, l, NODE, GROUP("4"));
    look_away(&x);
    look(&x, l, "", "groups: [{name: b, minSize: 0, maxSize: 9}]");
    look_away(&x);
    expect_text(l, "");
    learned_free(l);
}

/* What somebody has written into the ConfigMap does no harm, and what nodes say goes before it. */
static const struct {
    const char *label, *text;
} lines[] = {
    {"nothing", "\n\n"},
    {"no name", ": {}\n"},
    {"no text", "Kind/ns/a: \n"},
    {"not JSON", "Kind/ns/a: {\n"},
    {"a list", "Kind/ns/a: []\n"},
    {"no node", "Kind/ns/a: {\"providerTemplate\": \"\"}\n"},
    {"of another template", "Kind/ns/a: {\"providerTemplate\": \"\", \"node\": {\"status\": {\"allocatable\": {\"cpu\": \"1\"}}}}\n"},
    {"a group of none", "b: {\"providerTemplate\": \"\", \"node\": {}}"},
};

static void texts_that_are_none_of_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct look x;
        struct learned *l = learned_new();
        learned_read(l, span_of(lines[i].text));
        look(&x, l, "", GROUP("4"));
        if (x.m->groups[0].template.origin != TEMPLATE_OF_PROVIDER)
            fail_msg("%s: %d", lines[i].label, (int)x.m->groups[0].template.origin);
        look_away(&x);
        look(&x, l, NODE, GROUP("4"));
        look_away(&x);
        look(&x, l, "", GROUP("4"));
        if (x.m->groups[0].template.origin != TEMPLATE_LEARNED)
            fail_msg("%s, then a node: %d", lines[i].label, (int)x.m->groups[0].template.origin);
        look_away(&x);
        learned_free(l);
    }
}

static void it_is_bounded(void **state)
{
    (void)state;
    struct buf text = {0};
    struct arena a;
    struct learned *l = learned_new();
    arena_init(&a, 0);
    for (int i = 0; i < 40; i++) {
        buf_addf(&text, "g%02d: ", i);
        for (int k = 0; k < LEARNED_GROUP_MAX + (i == 7); k++)
            buf_add_char(&text, 'x');
        buf_add_char(&text, '\n');
    }
    learned_read(l, buf_span(&text));
    struct span kept = learned_text(l, &a);
    assert_true(kept.len <= LEARNED_MAX && kept.len > LEARNED_MAX - 2 * LEARNED_GROUP_MAX);
    assert_true(span_has_prefix(kept, SPAN("g00: x")));
    assert_false(span_contains(kept, SPAN("g07: ")));
    learned_free(l);
    arena_release(&a);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_more_is_as_those_before),
        cmocka_unit_test(what_is_known_stays), cmocka_unit_test(a_provider_that_says_otherwise_is_believed),
        cmocka_unit_test(a_group_that_is_gone_is_forgotten), cmocka_unit_test(texts_that_are_none_of_ours),
        cmocka_unit_test(it_is_bounded)};
    return cmocka_run_group_tests_name("learned", tests, NULL, NULL);
}
