#include "kube/pool_validate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct span domains[] = {SPAN_INIT("karpenter.sh"), SPAN_INIT("karpenter.kwok.sh")};
static sym well_known[] = {SYM_NODEPOOL,      SYM_CAPACITY_TYPE, SYM_ZONE, SYM_REGION,
                           SYM_INSTANCE_TYPE, SYM_ARCH,          SYM_OS,   SYM_WINDOWS_BUILD};
static const struct label_rules rules = {
    .well_known = {well_known, COUNT_OF(well_known)}, .domains = domains, .domain_count = 2};
static struct arena arena;
static struct symtab *syms;

static sym s(const char *text)
{
    return sym_intern(syms, span_of(text));
}

/* The faults must be exactly one, at the path, and say the part; path NULL: none. */
static void expect(const char *label, const struct node_pool *p, const char *path, const char *part)
{
    struct findings f = {0};
    pool_validate(&arena, p, &rules, syms, &f);
    const char *all = arena_cstr(&arena, findings_refusal(&arena, &f));
    if (f.count != (path != NULL))
        fail_msg("%s: %u faults: %s", label, f.count, all);
    if (path == NULL)
        return;
    if (!span_eq(f.items[0].path, span_of(path)) || strstr(all, part) == NULL)
        fail_msg("%s: got \"%s\", want \"%s: …%s…\"", label, all, path, part);
}

#define LABELS "spec.template.metadata.labels"
#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_labels(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *path, *part;
    } rows[] = {
        {"a.b/c", "x", NULL, NULL},
        {"topology.kubernetes.io/zone", "z", NULL, NULL},
        {"example.com/x", "", NULL, NULL},
        {"karpenter.sh/nodepool", "x", LABELS "[karpenter.sh/nodepool]",
         "invalid key name \"karpenter.sh/nodepool\" in labels, restricted"},
        {"spaces are bad", "x", LABELS "[spaces are bad]", "is not a label key"},
        {A64, "x", LABELS "[" A64 "]", "is not a label key"},
        {"a", "/", LABELS "[a]", "is not a label value"},
        {"a", A64, LABELS "[a]", "is not a label value"},
        {"karpenter.sh/initialized", "true", LABELS "[karpenter.sh/initialized]", "is restricted"},
        {"karpenter.kwok.sh/foo", "x", LABELS "[karpenter.kwok.sh/foo]", "is restricted"},
        {"kubernetes.io/hostname", "x", LABELS "[kubernetes.io/hostname]", "is restricted"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sym_pair label = {s(rows[i].key), s(rows[i].value)};
        struct node_pool p = {.has_labels = true, .labels = {&label, 1}};
        expect(rows[i].key, &p, rows[i].path, rows[i].part);
    }
}

static void test_taints(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        enum taint_effect effect;
        const char *part; /* NULL: fine */
    } rows[] = {
        {"dedicated", "gpu", TAINT_NO_SCHEDULE, NULL},
        {"a.io/b", "a/b", TAINT_NO_EXECUTE, NULL},
        {"a", "", TAINT_PREFER_NO_SCHEDULE, NULL},
        {"a", "", TAINT_NONE, NULL},
        {"???", "x", TAINT_NO_SCHEDULE, "is not a taint key"},
        {"", "x", TAINT_NO_SCHEDULE, "needs a key"},
        {"a", "???", TAINT_NO_SCHEDULE, "is not a taint value"},
        {"a", "b", TAINT_OTHER, "must be NoSchedule"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct taint t = {
            .key = s(rows[i].key), .value = s(rows[i].value), .effect = rows[i].effect};
        struct node_pool p = {.taints = {&t, 1}};
        expect(rows[i].key, &p, rows[i].part != NULL ? "spec.template.spec.taints[0]" : NULL,
               rows[i].part);
        p = (struct node_pool){.startup_taints = {&t, 1}};
        expect(rows[i].key, &p, rows[i].part != NULL ? "spec.template.spec.startupTaints[0]" : NULL,
               rows[i].part);
    }
    struct taint two[] = {{.key = s("a"), .value = s("1"), .effect = TAINT_NO_SCHEDULE},
                          {.key = s("a"), .value = s("2"), .effect = TAINT_NO_SCHEDULE}};
    struct node_pool twice = {.taints = {two, 2}};
    expect("one key and effect twice", &twice, "spec.template.spec.taints[1]", "there twice");
    struct node_pool across = {.taints = {two, 1}, .startup_taints = {two + 1, 1}};
    expect("once in each list", &across, "spec.template.spec.startupTaints[0]", "there twice");
    struct taint many[] = {two[0], {.key = s("b")}, two[0], {.key = s("c")}, two[1]};
    struct node_pool thrice = {.taints = {many, 4}, .startup_taints = {many + 4, 1}};
    struct findings all = {0};
    pool_validate(&arena, &thrice, &rules, syms, &all);
    assert_int_equal(all.count, 2);
    assert_true(span_eq(all.items[0].path, SPAN("spec.template.spec.taints[2]")));
    assert_true(span_eq(all.items[1].path, SPAN("spec.template.spec.startupTaints[0]")));
    two[1].effect = TAINT_NO_EXECUTE;
    expect("another effect", &across, NULL, NULL);
}

static void test_requirements(void **state)
{
    (void)state;
    sym one = s("1"), word = s("foo"), slash = s("a/b");
    const struct {
        const char *label;
        struct expression e;
        const char *path, *part;
    } rows[] = {
        {"fine", {.key = s("a"), .op = OP_IN, .values = {&one, 1}}, NULL, NULL},
        {"nodepool",
         {.key = SYM_NODEPOOL, .op = OP_EXISTS},
         "spec.template.spec.requirements[1].key",
         "\"karpenter.sh/nodepool\" is restricted"},
        {"restricted",
         {.key = s("karpenter.sh/foo"), .op = OP_EXISTS},
         "spec.template.spec.requirements[1].key",
         "is restricted"},
        {"the class label",
         {.key = SYM_KWOK_NODECLASS, .op = OP_IN, .values = {&word, 1}},
         "spec.template.spec.requirements[1].key",
         "is restricted"},
        {"operator",
         {.key = s("a"), .op = OP_NONE, .op_text = SPAN("in")},
         "spec.template.spec.requirements[1].operator",
         "\"in\" is not an operator"},
        {"value",
         {.key = s("a"), .op = OP_IN, .values = {&slash, 1}},
         "spec.template.spec.requirements[1].values",
         "is not a label value"},
        {"capacity type",
         {.key = SYM_CAPACITY_TYPE, .op = OP_IN, .values = {&word, 1}},
         "spec.template.spec.requirements[1].values",
         "is not a capacity type"},
        {"key",
         {.key = s("a b"), .op = OP_EXISTS},
         "spec.template.spec.requirements[1].key",
         "is not a label key"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct expression both[] = {{.key = s("fine"), .op = OP_EXISTS}, rows[i].e};
        struct node_pool p = {.requirements = {both, 2}};
        expect(rows[i].label, &p, rows[i].path, rows[i].part);
    }
}

static void test_together(void **state)
{
    (void)state;
    struct sym_pair label = {s("a"), s("/")};
    struct taint t = {.key = s("???"), .effect = TAINT_NO_SCHEDULE};
    struct node_pool p = {.labels = {&label, 1},
                          .taints = {&t, 1},
                          .has_expire_after = true,
                          .expire_after = DURATION_TOO_LONG};
    struct findings f = {0};
    pool_validate(&arena, &p, &rules, syms, &f);
    assert_int_equal(f.count, 3); /* all are told, in the order of the checks */
    assert_string_equal(f.items[2].path.ptr, "spec.template.spec.expireAfter");
    assert_non_null(strstr(findings_refusal(&arena, &f).ptr,
                           "; spec.template.spec.taints[0]: \"???\" is not a taint key; "));
}

/* However much is wrong, and however long it is, a condition's message holds it. */
static void test_message_of_many(void **state)
{
    (void)state;
    enum { WRONG = 300, LENGTH = 5000, MESSAGE_MAX = 32768 };
    struct sym_pair labels[WRONG];
    struct node_pool pool = {.labels = {labels, WRONG}};
    struct findings f = {0};
    char text[LENGTH + 1];
    memset(text, '-', LENGTH);
    text[LENGTH] = '\0';
    for (uint32_t i = 0; i < WRONG; i++)
        labels[i] = (struct sym_pair){sym_intern(syms, arena_printf(&arena, "%u%s", i, text)), SYM_EMPTY};
    pool_validate(&arena, &pool, &rules, syms, &f);
    assert_in_range(findings_refusal(&arena, &f).len, FINDINGS_SHOWN * 1000, MESSAGE_MAX);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),       cmocka_unit_test(test_taints),
        cmocka_unit_test(test_requirements), cmocka_unit_test(test_together),
        cmocka_unit_test(test_message_of_many),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
