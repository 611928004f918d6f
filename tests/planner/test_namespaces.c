/* Which namespaces a pod affinity term means (spec provisioning 4.9.6). */
#include "planner/pods/namespaces.h"
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NS(name_, labels_)                                                                         \
    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " name_ ", labels: {" labels_ "}}\n"
#define POD(ns_, name_, term_)                                                                     \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: " ns_ "}\n"            \
    "spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["            \
    "{topologyKey: zone, labelSelector: {}" term_ "}]}}}\n"

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static struct span text_of(struct arena *a, const struct symtab *t, struct syms list)
{
    struct span *names = ARENA_ARRAY(a, struct span, list.count), out = {"", 0};
    for (uint32_t i = 0; i < list.count; i++) {
        names[i] = sym_text(t, list.items[i]);
        assert_true(i == 0 || list.items[i - 1] < list.items[i]); /* sorted by id, unique */
    }
    if (list.count > 1)
        qsort(names, list.count, sizeof(*names), by_text);
    for (uint32_t i = 0; i < list.count; i++)
        out = arena_printf(a, "%.*s%s%.*s", SPAN_ARG(out), i != 0 ? " " : "", SPAN_ARG(names[i]));
    return out;
}

static void test_terms(void **state)
{
    (void)state;
    static const struct {
        const char *label, *term, *want;
    } rows[] = {
        {"neither list nor selector: the pod's own", "", "own"},
        {"an empty list is none", ", namespaces: []", "own"},
        {"a list only: that list", ", namespaces: [a, nowhere, a]", "a nowhere"},
        {"a selector only: what it matches, not the own", ", namespaceSelector: {matchLabels: {env: prod}}", "a b"},
        {"both: together", ", namespaces: [c, a], namespaceSelector: {matchLabels: {env: prod}}", "a b c"},
        {"the empty selector: all, also those known from pods only", ", namespaceSelector: {}",
         "a b c own unseen"},
        {"null is no selector", ", namespaceSelector: null", "own"},
        {"by the name that every namespace carries as a label",
         ", namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [c, unseen]}]}",
         "c unseen"},
        {"a selector that matches nothing", ", namespaceSelector: {matchLabels: {env: nope}}", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct arena a;
        cluster_init(&c);
        arena_init(&a, 0);
        cluster_add(&c, NS("a", "env: prod") NS("b", "env: prod, kubernetes.io/metadata.name: b") NS("c", "env: test")
                        NS("own", "") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: unseen}\n"
                        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: a}\n"
                        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: w, namespace: unseen}\n");
        struct buf b = {0};
        buf_addf(&b, POD("own", "p", "%s"), rows[i].term);
        cluster_add(&c, b.ptr);
        buf_release(&b);
        struct world_input in = cluster_input(&c);
        struct namespaces n;
        namespaces_init(&n, &a, &in);
        const struct pod *p = in.pods[in.pod_count - 1];
        const struct pod_term *t = &p->affinity->required_pod.items[0];
        sym own = sym_intern(c.syms, p->meta.ns);
        struct span got = text_of(&a, c.syms, namespaces_of_term(&n, &a, t, own));
        if (!span_eq(got, span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\", want \"%s\"", rows[i].label, SPAN_ARG(got), rows[i].want);
        if (!t->has_namespace_selector) /* then nobody need know them */
            assert_true(span_eq(text_of(&a, c.syms, namespaces_of_term(NULL, &a, t, own)), got));
        arena_release(&a);
        cluster_release(&c);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_terms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
