/* Which Machines of Cluster API can be taken for a NodeClaim, and which MachineDeployment has them. */
#include "cloud/groups/cluster_api_inner.h"
#include "cloud/machines_inner.h"
#include "kube/kind.h"
#include "kube/machines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GROUP(spec) "metadata: {name: md, namespace: apps}\nspec: {" spec "}\n"
#define MACHINE(meta, spec, status) "metadata: {name: m-1, namespace: apps" meta "}\nspec: {" spec "}\nstatus: {" status "}\n"
#define LABELLED(more) ", labels: {md: web" more "}"

static struct arena arena;
static struct symtab *syms;

static const void *decoded(const char *text, const struct schema *schema)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    void *out = arena_alloc(&arena, schema->size);
    if (!doc_parse_yaml(p, span_of(text), &at, &doc, &err) || !decode_one(&arena, syms, doc_root(doc), schema, out, &err))
        fail_msg("%s: %s", text, err.msg);
    doc_parser_free(p);
    return out;
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

static void which_are_free(void **state)
{
    (void)state;
    static const struct {
        const char *label, *machine;
        bool is_free, is_marked;
    } rows[] = {
        {"without an owner", MACHINE("", "", ""), true, false},
        {"it is being deleted", MACHINE(", deletionTimestamp: '2026-01-01T00:00:00Z'", "", ""), false, false},
        {"a NodeClaim has it", MACHINE(", annotations: {stowage.dev/nodeclaim-uid: u1}", "", ""), false, false},
        {"it is a member", MACHINE(", labels: {node.cluster.x-k8s.io/karpenter-member: ''}", "", ""), false, false},
        {"it is marked to go, by us", MACHINE(", annotations: {cluster.x-k8s.io/delete-machine: " CAPI_MARK "}", "", ""), false, true},
        {"with another value", MACHINE(", annotations: {cluster.x-k8s.io/delete-machine: 'yes'}", "", ""), false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct cluster_machine *m = decoded(rows[i].machine, &cluster_machine_schema);
        const struct snapshot s = {.syms = syms};
        if (machines_is_free(&s, m) != rows[i].is_free)
            fail_msg("%s: %s", rows[i].label, rows[i].is_free ? "not free" : "free");
        if (machines_is_marked(&s, m) != rows[i].is_marked)
            fail_msg("%s: %s", rows[i].label, rows[i].is_marked ? "not marked" : "marked");
    }
}

static void which_group_has_them(void **state)
{
    (void)state;
    static const struct {
        const char *label, *group, *machine;
        bool is_of;
    } rows[] = {
        {"by its labels", GROUP("clusterName: c, selector: {matchLabels: {md: web}}"), MACHINE(LABELLED(", a: b"), "clusterName: c", ""), true},
        {"other labels", GROUP("clusterName: c, selector: {matchLabels: {md: api}}"), MACHINE(LABELLED(""), "clusterName: c", ""), false},
        {"another cluster", GROUP("clusterName: c, selector: {matchLabels: {md: web}}"), MACHINE(LABELLED(""), "clusterName: d", ""), false},
        {"a cluster that only one names", GROUP("clusterName: c, selector: {matchLabels: {md: web}}"), MACHINE(LABELLED(""), "", ""), true},
        {"that only the other names", GROUP("selector: {matchLabels: {md: web}}"), MACHINE(LABELLED(""), "clusterName: d", ""), true},
        {"another namespace", GROUP("selector: {matchLabels: {md: web}}"),
         "metadata: {name: m-1, namespace: other, labels: {md: web}}\nspec: {}\n", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (machines_is_of(decoded(rows[i].group, &machine_group_schema), decoded(rows[i].machine, &cluster_machine_schema)) != rows[i].is_of)
            fail_msg("%s: %s", rows[i].label, rows[i].is_of ? "not of the group" : "of the group");
}

static void which_have_failed(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        bool failed;
    } rows[] = {
        {MACHINE("", "", "phase: Failed"), true},
        {MACHINE("", "", "phase: Failed, nodeRef: {name: ip-10-0-0-1}"), false},
        {MACHINE("", "", "phase: Running, nodeRef: {name: ip-10-0-0-1}"), false},
        {MACHINE("", "", "phase: Provisioning"), false},
        {MACHINE("", "", ""), false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (machines_has_failed(decoded(rows[i].machine, &cluster_machine_schema)) != rows[i].failed)
            fail_msg("%s", rows[i].machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_are_free), cmocka_unit_test(which_group_has_them),
                                       cmocka_unit_test(which_have_failed)};
    return cmocka_run_group_tests_name("machines", tests, setup, teardown);
}
