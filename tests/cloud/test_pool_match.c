/* Pools that were written for one provider, beside the catalogue of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cloud/catalogue.h"
#include "cloud/pool_match.h"

struct bench {
    struct arena a;
    struct symtab *syms;
    struct catalogue catalogue;
};

static struct bench bench_of(const char *file)
{
    struct bench b = {.syms = kube_symtab_new()};
    struct catalogue_source *s;
    struct err err;
    arena_init(&b.a, 0);
    if (file == NULL)
        s = catalogue_builtin();
    else if (!catalogue_decode(span_of(file), SPAN("types.json"), &s, &err))
        fail_msg("%s", err.msg);
    catalogue_build(s, &b.a, b.syms, &b.catalogue);
    catalogue_source_free(s);
    return b;
}

static void drop(struct bench *b)
{
    arena_release(&b->a);
    symtab_unref(b->syms);
}

static struct node_pool *pool_of(struct bench *b, const char *name, const char *group, const char *kind,
                                 const char *const *keys)
{
    struct node_pool *p = ARENA_NEW(&b->a, struct node_pool);
    p->meta.name = span_of(name);
    p->node_class = (struct node_class_ref){
        .group = span_of(group), .kind = span_of(kind), .name = SPAN("default")};
    p->requirements.items = ARENA_ARRAY(&b->a, struct expression, 4);
    for (; *keys != NULL; keys++)
        p->requirements.items[p->requirements.count++] =
            (struct expression){.key = sym_intern(b->syms, span_of(*keys)), .op = OP_EXISTS};
    return p;
}

/* All that is said, a line each. */
static const char *said(struct bench *b, const struct node_pool *const *pools, uint32_t count)
{
    const struct pool_mismatch *found;
    uint32_t n = pool_match(&b->a, pools, count, &b->catalogue, b->syms, &found);
    struct span all = SPAN("");
    for (uint32_t i = 0; i < n; i++)
        all = arena_printf(&b->a, "%.*s%.*s%.*s\n", SPAN_ARG(all), SPAN_ARG(found[i].pool->meta.name),
                           SPAN_ARG(found[i].text));
    return arena_cstr(&b->a, all);
}

#define AWS_TYPES                                                                                  \
    "{\"instanceTypes\": [{\"name\": \"m5.large\", \"architecture\": \"amd64\", "                   \
    "\"operatingSystems\": [\"linux\"], \"resources\": {\"cpu\": \"2\", \"memory\": \"8Gi\"}, "    \
    "\"requirements\": [{\"key\": \"karpenter.k8s.aws/instance-category\", \"operator\": \"In\", "  \
    "\"values\": [\"m\"]}], \"offerings\": []}]}"
#define EC2 "karpenter.k8s.aws", "EC2NodeClass"
#define KWOK "karpenter.kwok.sh", "KWOKNodeClass"

static void who_is_told_what(void **state)
{
    (void)state;
    static const struct {
        const char *label, *file, *group, *kind, *keys[4], *want;
    } rows[] = {
        {"its own", NULL, KWOK, {"karpenter.kwok.sh/instance-cpu", "topology.kubernetes.io/zone"}, ""},
        {"truly custom labels", NULL, KWOK, {"team", "example.com/tier", "karpenter.example/x"}, ""},
        {"a provider's label", NULL, KWOK, {"karpenter.k8s.aws/instance-category"},
         "p: spec.template.spec.requirements: no type of the built-in catalogue has "
         "karpenter.k8s.aws/instance-category, so that it leaves no type out and is taken for a label "
         "of the pool's own; give the provider's types with --instance-types\n"},
        {"several, each once", NULL, KWOK,
         {"cloud.google.com/machine-family", "node.kubernetes.io/pool", "cloud.google.com/machine-family"},
         "p: spec.template.spec.requirements: no type of the built-in catalogue has "
         "cloud.google.com/machine-family or node.kubernetes.io/pool, so that they leave no type out "
         "and are taken for labels of the pool's own; give the provider's types with --instance-types\n"},
        {"another provider's class", NULL, EC2, {NULL},
         "p: spec.template.spec.nodeClassRef: EC2NodeClass of karpenter.k8s.aws is not of the provider "
         "of the built-in catalogue: types and prices are made up; give the provider's with "
         "--instance-types (`stowage catalogue from-aws` makes the file)\n"},
        {"nobody knows that class", NULL, "acme.example", "Rack", {NULL},
         "p: spec.template.spec.nodeClassRef: Rack of acme.example is not of the provider of the "
         "built-in catalogue: types and prices are made up; give the provider's with --instance-types\n"},
        {"its own catalogue", AWS_TYPES, EC2, {"karpenter.k8s.aws/instance-category"}, ""},
        {"a label that its catalogue lacks", AWS_TYPES, EC2, {"karpenter.k8s.aws/instance-gpu-name"},
         "p: spec.template.spec.requirements: no type of catalogue types.json has "
         "karpenter.k8s.aws/instance-gpu-name, so that it leaves no type out and is taken for a label "
         "of the pool's own; give the provider's types with --instance-types\n"},
        {"another's catalogue", AWS_TYPES, "karpenter.azure.com", "AKSNodeClass", {NULL},
         "p: spec.template.spec.nodeClassRef: AKSNodeClass of karpenter.azure.com is not of the provider "
         "of catalogue types.json: types and prices are not those of its nodes; give the provider's "
         "with --instance-types\n"},
        {"who the file is of, nothing tells", "[]", EC2, {NULL}, ""},
        {"no class", NULL, "", "", {NULL}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b = bench_of(rows[i].file);
        const struct node_pool *p = pool_of(&b, "p", rows[i].group, rows[i].kind, rows[i].keys);
        const char *got = said(&b, &p, 1);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s:\n%s\nnot\n%s", rows[i].label, got, rows[i].want);
        drop(&b);
    }
}

static void what_is_true_of_many_is_said_once(void **state)
{
    (void)state;
    static const char *const none[] = {NULL}, *const label[] = {"karpenter.k8s.aws/instance-family", NULL};
    struct bench b = bench_of(NULL);
    const struct node_pool *pools[] = {pool_of(&b, "a", EC2, none), pool_of(&b, "b", EC2, label),
                                       pool_of(&b, "c", EC2, none)};
    const char *got = said(&b, pools, 3);
    assert_non_null(strstr(got, "a and 2 more: spec.template.spec.nodeClassRef: EC2NodeClass "));
    assert_non_null(strstr(got, "\nb: spec.template.spec.requirements: "));
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_told_what),
        cmocka_unit_test(what_is_true_of_many_is_said_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
