/* Random budgets and pods: those that the index finds are those that select the pod when all are asked. */
#include "kube/pod_budgets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { ROUNDS = 300, BUDGETS = 12, PODS = 40, KEYS = 3, VALUES = 3, FIRST_SYM = 1000 };

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static struct span any_ns(void)
{
    return draw(2) == 0 ? SPAN("a") : SPAN("b");
}

static sym any_key(void)
{
    return FIRST_SYM + draw(KEYS);
}

static sym any_value(void)
{
    return FIRST_SYM + KEYS + draw(VALUES);
}

static struct sym_pairs any_labels(struct arena *a)
{
    struct sym_pairs out = {ARENA_ARRAY(a, struct sym_pair, KEYS), 0};
    for (sym key = FIRST_SYM; key < FIRST_SYM + KEYS; key++)
        if (draw(2) == 0)
            out.items[out.count++] = (struct sym_pair){key, any_value()};
    return out;
}

static struct label_selector any_selector(struct arena *a)
{
    static const enum op ops[] = {OP_IN, OP_IN, OP_NOT_IN, OP_EXISTS, OP_DOES_NOT_EXIST};
    struct label_selector s = {.match_expressions = {ARENA_ARRAY(a, struct expression, 2), draw(3)}};
    for (uint32_t i = 0; i < s.match_expressions.count; i++) {
        struct expression *e = &s.match_expressions.items[i];
        *e = (struct expression){.key = any_key(), .op = ops[draw(5)]};
        e->values = (struct syms){ARENA_ARRAY(a, sym, 3), draw(3) + 1}; /* a value may be there twice */
        for (uint32_t k = 0; k < e->values.count; k++)
            e->values.items[k] = any_value();
    }
    if (draw(2) == 0)
        s.match_labels = any_labels(a);
    return s;
}

static uint32_t ask_all(const struct disruption_budget *const *all, uint32_t count, const struct pod *p,
                        uint32_t out[BUDGETS])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i]->has_selector && span_eq(all[i]->meta.ns, p->meta.ns) &&
            label_selector_matches(&all[i]->selector, p->meta.labels))
            out[found++] = i;
    return found;
}

/* The second is in no order. */
static bool same(const uint32_t *want, const uint32_t *got, uint32_t count)
{
    uint32_t both = 0;
    for (uint32_t i = 0; i < count * count; i++)
        both += want[i / count] == got[i % count];
    return both == count;
}

static void look(struct arena *a, uint32_t round, uint32_t found[3])
{
    const struct disruption_budget *all[BUDGETS];
    uint32_t count = draw(BUDGETS + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct disruption_budget *b = ARENA_NEW(a, struct disruption_budget);
        *b = (struct disruption_budget){
            .meta = {.ns = any_ns()}, .has_selector = draw(8) != 0, .selector = any_selector(a)};
        all[i] = b;
    }
    struct pod_budgets index = pod_budgets_make(a, all, count);
    for (uint32_t i = 0; i < PODS; i++) {
        struct pod p = {.meta = {.ns = any_ns(), .labels = any_labels(a)}};
        uint32_t want[BUDGETS], got[BUDGETS];
        uint32_t all_of_it = ask_all(all, count, &p, want), m = pod_budgets_of(&index, &p, got);
        uint32_t n = all_of_it < 2 ? all_of_it : 2;
        if (n != m || (n > 0 && want[0] != got[0]) || (n > 1 && want[1] != got[1]))
            fail_msg("round %u, pod %u: %u budgets select it, found %u", round, i, n, m);
        if (pod_budgets_all(&index, &p, got) != all_of_it || !same(want, got, all_of_it))
            fail_msg("round %u, pod %u: not all of %u budgets", round, i, all_of_it);
        found[n]++;
    }
}

static void test_random(void **unused)
{
    (void)unused;
    uint32_t found[3] = {0};
    state = 1;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct arena a;
        arena_init(&a, 0);
        look(&a, round, found);
        arena_release(&a);
    }
    for (int i = 0; i < 3; i++)
        assert_true(found[i] > ROUNDS); /* none, one, and more than one: all are common */
}

static void test_none(void **unused)
{
    (void)unused;
    uint32_t at[2];
    struct pod p = {.meta = {.ns = SPAN("a")}};
    assert_int_equal(pod_budgets_of(NULL, &p, at), 0);
}

/* As policy/v1 says: no selector covers no pod, the empty one each pod of the namespace, also one without labels. */
static void test_absent_and_empty(void **unused)
{
    (void)unused;
    struct arena a;
    arena_init(&a, 0);
    struct sym_pair label = {FIRST_SYM, FIRST_SYM + KEYS};
    const struct disruption_budget none = {.meta = {.ns = SPAN("a"), .name = SPAN("none")}},
                                   every = {.meta = {.ns = SPAN("a"), .name = SPAN("every")}, .has_selector = true};
    const struct pod bare = {.meta = {.ns = SPAN("a")}}, labelled = {.meta = {.ns = SPAN("a"), .labels = {&label, 1}}},
                     elsewhere = {.meta = {.ns = SPAN("b"), .labels = {&label, 1}}};
    const struct disruption_budget *const only_none[] = {&none}, *const both[] = {&none, &every};
    struct pod_budgets without = pod_budgets_make(&a, only_none, 1), with = pod_budgets_make(&a, both, 2);
    uint32_t at[2];
    assert_int_equal(pod_budgets_of(&without, &bare, at), 0);
    assert_int_equal(pod_budgets_of(&without, &labelled, at), 0);
    assert_int_equal(pod_budgets_of(&with, &bare, at), 1);
    assert_int_equal(at[0], 1);
    assert_int_equal(pod_budgets_of(&with, &labelled, at), 1);
    assert_int_equal(at[0], 1);
    assert_int_equal(pod_budgets_of(&with, &elsewhere, at), 0);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_none),
                                                cmocka_unit_test(test_absent_and_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
