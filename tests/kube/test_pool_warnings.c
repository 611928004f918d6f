/* What is told of NodePools that are valid and do not do what was meant; and that good ones are passed in silence. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/decode.h"
#include "kube/node_asks.h"
#include "kube/pool_warnings.h"
#include "kube/requirement.h"

static struct arena arena;
static struct symtab *syms;
static struct doc_parser *parser;

static struct findings look(const char *yaml)
{
    struct err err;
    struct node_pool pool;
    const struct doc *doc;
    struct findings f = {0};
    size_t at = 0;
    if (!doc_parse_yaml(parser, span_of(yaml), &at, &doc, &err) ||
        !decode_one(&arena, syms, doc_root(doc), &node_pool_schema, &pool, &err))
        fail_msg("%s: %s", yaml, err.msg);
    pool_warnings(&arena, &pool, syms, &f);
    return f;
}

#define CLASS "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: d}"
#define POOL(meta, labels, requirements, rest)                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general" meta "}, spec: {template: {metadata: {"      \
    labels "}, spec: {" CLASS ", requirements: [" requirements "]}}" rest "}}"
#define NOTED(annotations) POOL(", annotations: {" annotations "}", "", "", "")
#define ASKS(requirements) POOL("", "", requirements, "")
#define DISRUPTS(disruption) POOL("", "", "", ", disruption: {" disruption "}")
#define BUDGET(budget) DISRUPTS("consolidateAfter: 30s, budgets: [{nodes: 10%}, {" budget "}]")
#define ARCH "kubernetes.io/arch"

static const struct row {
    const char *label, *yaml, *path, *part; /* path NULL: nothing is told */
} rows[] = {
    /* requirements */
    {"none", ASKS(""), NULL, NULL},
    {"one value after several", ASKS("{key: a, operator: In, values: [x, v]}, {key: a, operator: NotIn, values: [x]}"), NULL, NULL},
    {"both may be absent", ASKS("{key: a, operator: DoesNotExist}, {key: a, operator: NotIn, values: [x]}"), NULL, NULL},
    {"two that share nothing", ASKS("{key: b, operator: Exists}, {key: a, operator: In, values: [x]}, {key: a, operator: In, values: [v]}"),
     "spec.template.spec.requirements[2]", "a In [v] leaves no value after a In [x]: "},
    {"all excluded one by one",
     ASKS("{key: a, operator: In, values: [x, v]}, {key: a, operator: NotIn, values: [x]}, {key: a, operator: NotIn, values: [v]}"),
     "spec.template.spec.requirements[2]", "a NotIn [v] leaves no value after a In [v]: "},
    {"bounds that cross", ASKS("{key: a, operator: Gt, values: ['4']}, {key: a, operator: Lt, values: ['5']}"),
     "spec.template.spec.requirements[1]", "leaves no value after"},
    {"bounds that leave one", ASKS("{key: a, operator: Gt, values: ['4']}, {key: a, operator: Lt, values: ['6']}"), NULL, NULL},
    {"a value of what must not be there", ASKS("{key: a, operator: In, values: [x]}, {key: a, operator: DoesNotExist}"),
     "spec.template.spec.requirements[1]", "a DoesNotExist leaves no value after a In [x]"},
    {"two names of one label", ASKS("{key: " ARCH ", operator: In, values: [amd64]}, {key: beta." ARCH ", operator: In, values: [arm64]}"),
     "spec.template.spec.requirements[1]", ARCH " In [arm64] leaves no value after " ARCH " In [amd64]"},
    {"one that is refused anyway", ASKS("{key: a, operator: Gt, values: [x]}, {key: a, operator: In, values: ['1']}"), NULL, NULL},
    /* minValues */
    {"as many as are left", ASKS("{key: a, operator: In, values: [x, v, w], minValues: 2}, {key: a, operator: NotIn, values: [w]}"), NULL, NULL},
    {"more than are left", ASKS("{key: a, operator: In, values: [x, v, w], minValues: 3}, {key: a, operator: NotIn, values: [w]}"),
     "spec.template.spec.requirements[0].minValues", "3 cannot be met: the pool's requirements together leave 2 "},
    {"asked by one that lists none", ASKS("{key: a, operator: In, values: [x]}, {key: a, operator: Exists, minValues: 2}"),
     "spec.template.spec.requirements[1].minValues", "2 cannot be met"},
    {"of many unknown", ASKS("{key: a, operator: Exists, minValues: 2}"), NULL, NULL},
    /* labels of the template */
    {"a label that is asked for", POOL("", "labels: {a: x}", "{key: a, operator: In, values: [x, v]}", ""), NULL, NULL},
    {"a label of which nothing is said", POOL("", "labels: {b: x}", "{key: a, operator: In, values: [x, v]}", ""), NULL, NULL},
    {"a label that is excluded", POOL("", "labels: {a: w}", "{key: a, operator: In, values: [x, v]}", ""),
     "spec.template.metadata.labels[a]", "\"w\" is not what the pool's requirements allow (a In [v x])"},
    /* limits */
    {"no node at all", POOL("", "", "", ", limits: {cpu: 0}"), NULL, NULL},
    {"below nothing", POOL("", "", "", ", limits: {cpu: -1}"), "spec.limits.cpu", "is negative"},
    {"a resource with dots", POOL("", "", "", ", limits: {example.com/gpu: -1}"), "spec.limits[example.com/gpu]", "is negative"},
    /* budgets */
    {"broken", BUDGET("nodes: '1', schedule: a b c d e, duration: 1h"), "spec.disruption.budgets[1]", "is not a minute of a schedule"},
    {"some at any time", BUDGET("nodes: '1'"), NULL, NULL},
    {"none by day", BUDGET("nodes: '0', schedule: 0 9 * * mon-fri, duration: 8h"), NULL, NULL},
    {"none for a reason", BUDGET("nodes: '0', reasons: [Drifted]"), NULL, NULL},
    {"none", BUDGET("nodes: '0'"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"no percent", BUDGET("nodes: 0%"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none, day by day", BUDGET("nodes: '0', schedule: '@daily', duration: 24h"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none, but for a minute a day", BUDGET("nodes: '0', schedule: '@daily', duration: 23h59m"), NULL, NULL},
    {"none, week by week", BUDGET("nodes: '0', schedule: '@weekly', duration: 168h"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none, month by month", BUDGET("nodes: '0', schedule: '@monthly', duration: 744h"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none in months of 30 days", BUDGET("nodes: '0', schedule: '@monthly', duration: 720h"), NULL, NULL},
    {"none, each hour", BUDGET("nodes: '0', schedule: '@hourly', duration: 1h"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none, minute by minute", BUDGET("nodes: '0', schedule: '* * * * *', duration: 20m"), "spec.disruption.budgets[1]", "allows none at any time"},
    {"none on working days", BUDGET("nodes: '0', schedule: 0 0 * * mon-fri, duration: 24h"), NULL, NULL},
    {"at no time", BUDGET("nodes: '1', schedule: 0 0 31 2 *, duration: 1h"), "spec.disruption.budgets[1]", "never holds: its schedule \"0 0 31 2 *\""},
    {"for no time", BUDGET("nodes: '1', schedule: '@daily', duration: 0h"), "spec.disruption.budgets[1]", "never holds"},
    {"for what never is", DISRUPTS("consolidateAfter: 30s, consolidationPolicy: WhenEmpty, budgets: [{nodes: '1', reasons: [Underutilized]}]"),
     "spec.disruption.budgets[0]", "has no effect: nothing is disrupted for its reason, since spec.disruption.consolidationPolicy is WhenEmpty"},
    {"for one that is, too", DISRUPTS("consolidateAfter: 30s, consolidationPolicy: WhenEmpty, budgets: [{nodes: '1', reasons: [Underutilized, Empty]}]"),
     NULL, NULL},
    {"for none while it is off", DISRUPTS("consolidateAfter: Never, budgets: [{nodes: '1', reasons: [Underutilized, Empty]}]"),
     "spec.disruption.budgets[0]", "its reasons, since spec.disruption.consolidateAfter is Never"},
    {"for drift while it is off", DISRUPTS("consolidateAfter: Never, budgets: [{nodes: '1', reasons: [Drifted]}]"), NULL, NULL},
    {"of a pool of a fixed size", POOL("", "", "", ", replicas: 3, disruption: {consolidateAfter: 0s, budgets: [{nodes: '1', reasons: [Empty]}]}"),
     "spec.disruption.budgets[0]", "since the pool has spec.replicas"},
    /* annotations */
    {"right", NOTED("stowage.dev/node-cost: '0.01', stowage.dev/mode: act, karpenter.sh/nodepool-hash: '1', a/b: c"), NULL, NULL},
    {"a wrong value", NOTED("stowage.dev/node-cost: cheap"), "metadata.annotations[stowage.dev/node-cost]",
     "\"cheap\" has no effect. Fix: write dollars per hour"},
    {"a wrong key", NOTED("stowage.dev/node-csot: '0.01'"), "metadata.annotations[stowage.dev/node-csot]",
     "there is no such annotation. Fix: write stowage.dev/node-cost"},
    {"a key like none", NOTED("stowage.dev/zebra: x"), "metadata.annotations[stowage.dev/zebra]", "there is no such annotation. Fix: remove it"},
    {"a workload's", NOTED("stowage.dev/spot-percent: '50'"), "metadata.annotations[stowage.dev/spot-percent]", "the template of the workload's pods"},
    {"at the wrong place", POOL("", "annotations: {stowage.dev/mode: observe}", "", ""), "spec.template.metadata.annotations[stowage.dev/mode]",
     "is for nodes, and has no effect there"},
    {"savings where nothing is consolidated",
     POOL(", annotations: {stowage.dev/min-savings: 10%}", "", "", ", disruption: {consolidateAfter: 30s, consolidationPolicy: WhenEmpty}"),
     "metadata.annotations[stowage.dev/min-savings]", "has no effect: nothing is consolidated, since"},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        struct findings f = look(r->yaml);
        if (f.count != (r->path != NULL))
            fail_msg("%s: %u are told: %s", r->label, f.count, f.count != 0 ? f.items[0].text.ptr : "");
        if (r->path == NULL)
            continue;
        if (f.items[0].refuses)
            fail_msg("%s: refuses", r->label);
        if (!span_eq(f.items[0].path, span_of(r->path)) || !span_contains(f.items[0].text, span_of(r->part)))
            fail_msg("%s: got \"%.*s: %.*s\"", r->label, SPAN_ARG(f.items[0].path), SPAN_ARG(f.items[0].text));
    }
}

static void test_all_are_told(void **state)
{
    (void)state;
    struct findings f = look(POOL(", annotations: {stowage.dev/mode: x}", "labels: {a: w}", "{key: a, operator: In, values: [x]}",
                                  ", limits: {cpu: -1}, disruption: {consolidateAfter: 30s, budgets: [{nodes: '0'}]}"));
    static const char *const paths[] = {"metadata.annotations[stowage.dev/mode]", "spec.template.metadata.labels[a]",
                                        "spec.limits.cpu", "spec.disruption.budgets[0]"};
    assert_int_equal(f.count, COUNT_OF(paths));
    for (uint32_t i = 0; i < f.count; i++)
        assert_true(span_eq(f.items[i].path, span_of(paths[i])));
    assert_null(findings_refusal(&arena, &f).ptr);
}

/* The last of those that are listed says that others are not. */
static void test_more_than_are_listed(void **state)
{
    (void)state;
    enum { WRONG = 2 * FINDINGS_MAX };
    struct annotation list[WRONG];
    struct node_pool pool = {.meta.annotations = {list, WRONG}};
    struct findings f = {0};
    for (uint32_t i = 0; i < WRONG; i++)
        list[i] = (struct annotation){.key = sym_intern(syms, arena_printf(&arena, "stowage.dev/wrong-%u", i)), .value = SPAN("x")};
    pool_warnings(&arena, &pool, syms, &f);
    assert_int_equal(f.count, FINDINGS_MAX);
    assert_string_equal(f.items[FINDINGS_MAX - 2].text.ptr, "there is no such annotation. Fix: remove it");
    assert_string_equal(f.items[FINDINGS_MAX - 1].text.ptr, "there is no such annotation. Fix: remove it; there may be more, which are "
                                                            "not listed before some are fixed");
}

/* The API server admits 50. Of more, which come from another sender, nothing is said. */
static void test_many_budgets(void **state)
{
    (void)state;
    enum { ADMITTED = 50 };
    struct budget list[2 * ADMITTED];
    struct node_pool pool = {.budgets = {list, COUNT_OF(list)}, .has_consolidate_after = true};
    struct findings f = {0};
    for (size_t i = 0; i < COUNT_OF(list); i++)
        list[i] = (struct budget){.nodes = SPAN("ten")};
    pool_warnings(&arena, &pool, syms, &f);
    assert_int_equal(f.count, ADMITTED);
}

/* ---- requirements that leave no value ---- */

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static struct expression random_expression(uint64_t *seed)
{
    enum { KEYS = 2, VALUES = 4, LIST_MAX = 3 };
    static const sym keys[KEYS] = {SYM_ZONE, SYM_ARCH};
    struct expression e = {.key = keys[next_random(seed) % KEYS],
                           .op = (enum op)(OP_IN + (int)(next_random(seed) % (OP_LTE - OP_IN + 1)))};
    e.values.count = e.op >= OP_GT ? 1 : 1 + next_random(seed) % LIST_MAX;
    e.values.items = ARENA_ARRAY(&arena, sym, e.values.count);
    for (uint32_t i = 0; i < e.values.count; i++)
        e.values.items[i] = sym_intern(syms, arena_printf(&arena, "%u", next_random(seed) % VALUES));
    return e;
}

static bool allows_absence(const struct requirement *r)
{
    enum op op = requirement_op(r);
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

/* The first that shares no value with what those of its key before it come to, one after the other; count: none. */
static uint32_t first_contradiction(struct expressions list)
{
    struct requirements all = {NULL, 0};
    for (uint32_t i = 0; i < list.count; i++) {
        struct requirement r = requirement_of(&arena, syms, &list.items[i]);
        const struct requirement *before = requirements_get(&all, r.key);
        if (before != NULL && !requirement_intersects(before, &r, syms) && !(allows_absence(before) && allows_absence(&r)))
            return i;
        requirements_add(&arena, &all, &r, syms);
    }
    return list.count;
}

static void test_first_contradiction(void **state)
{
    (void)state;
    enum { ROUNDS = 20000, LIST_MAX = 8 };
    uint64_t seed = 1;
    uint32_t told = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct expression list[LIST_MAX];
        struct node_pool pool = {.requirements = {list, next_random(&seed) % (LIST_MAX + 1)}};
        struct findings f = {0};
        for (uint32_t i = 0; i < pool.requirements.count; i++)
            list[i] = random_expression(&seed);
        struct node_asks asks = node_asks_of_pool(&pool);
        node_asks_warnings(&arena, &asks, syms, &f);
        uint32_t want = first_contradiction(pool.requirements);
        assert_int_equal(f.count, want < pool.requirements.count);
        if (f.count != 0)
            assert_string_equal(f.items[0].path.ptr, arena_printf(&arena, "spec.template.spec.requirements[%u]", want).ptr);
        told += f.count;
        arena_clear(&arena);
    }
    assert_in_range(told, ROUNDS / 10, ROUNDS * 9 / 10);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    syms = kube_symtab_new();
    parser = doc_parser_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    doc_parser_free(parser);
    symtab_unref(syms);
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_all_are_told),
                                       cmocka_unit_test(test_many_budgets),
                                       cmocka_unit_test(test_more_than_are_listed),
                                       cmocka_unit_test(test_first_contradiction)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
