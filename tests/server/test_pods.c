#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "server/page/pods.h"
#include "support_view.h"

#define POD(ns, name, owner, spec, phase)                                                                                        \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: " ns ", uid: uid-" ns "-" name owner "}\n"                  \
    "spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 10m}}}]}\nstatus: {phase: " phase "}\n---\n"
#define OF(kind, name) ", ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", uid: u, controller: true}]"
#define NODE(name)                                                                                                               \
    "apiVersion: v1\nkind: Node\nmetadata: {name: " name "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n---\n"

static const char CLUSTER[] =
    NODE("n1") NODE("n2")
    POD("web", "api-2", OF("StatefulSet", "api"), "nodeName: n1, ", "Running")
    POD("web", "api-1", OF("StatefulSet", "api"), "nodeName: n2, ", "Running")
    POD("web", "api-3", OF("StatefulSet", "api"), "", "Pending")
    POD("web", "api-0", OF("StatefulSet", "api"), "nodeName: n1, ", "Succeeded")
    POD("web", "api-10", OF("StatefulSet", "api-1"), "nodeName: n1, ", "Running")
    POD("we", "b-api", OF("StatefulSet", "api"), "nodeName: n1, ", "Running")
    POD("web", "lone", "", "nodeName: n1, ", "Running");

static void test_what_is_asked(void **state)
{
    (void)state;
    static const struct span none = {NULL, 0};
    const struct {
        const char *label;
        struct pods_asked q;
        const char *want;
    } rows[] = {
        {"of a node", {SPAN("n2"), none, none}, "{\"pods\":[{\"pod\":\"web/api-1\",\"node\":\"n2\"}],\"found\":1}"},
        {"of one that is not there", {SPAN("n3"), none, none}, "{\"pods\":[],\"found\":0}"},
        {"of a workload, by name, whoever is over left out",
         {none, SPAN("StatefulSet web/api"), none},
         "{\"pods\":[{\"pod\":\"web/api-1\",\"node\":\"n2\"},{\"pod\":\"web/api-2\",\"node\":\"n1\"},{\"pod\":\"web/api-3\"}],\"found\":3}"},
        {"of it without a node", {SPAN(""), SPAN("StatefulSet web/api"), none}, "{\"pods\":[{\"pod\":\"web/api-3\"}],\"found\":1}"},
        {"of it on a node",
         {SPAN("n1"), SPAN("StatefulSet web/api"), none},
         "{\"pods\":[{\"pod\":\"web/api-2\",\"node\":\"n1\"}],\"found\":1}"},
        {"of another kind", {none, SPAN("Deployment web/api"), none}, "{\"pods\":[],\"found\":0}"},
        {"of half a workload", {none, SPAN("StatefulSet web"), none}, "{\"pods\":[],\"found\":0}"},
        {"of nobody", {none, SPAN(""), none}, "{\"pods\":[],\"found\":0}"},
        {"of its own", {none, SPAN("Pod web/lone"), none}, "{\"pods\":[{\"pod\":\"web/lone\",\"node\":\"n1\"}],\"found\":1}"},
        {"a word", {SPAN("n1"), none, SPAN("lo")}, "{\"pods\":[{\"pod\":\"web/lone\",\"node\":\"n1\"}],\"found\":1}"},
        {"a word with its namespace", {SPAN("n1"), none, SPAN("we/b-")}, "{\"pods\":[{\"pod\":\"we/b-api\",\"node\":\"n1\"}],\"found\":1}"},
        {"across the slash only where it is", {SPAN("n1"), none, SPAN("b/l")}, "{\"pods\":[{\"pod\":\"web/lone\",\"node\":\"n1\"}],\"found\":1}"},
        {"a word that none has", {SPAN("n1"), none, SPAN("x")}, "{\"pods\":[],\"found\":0}"},
    };
    struct view v;
    view_open(&v, CLUSTER, "");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = {0};
        pods_json(v.snapshot, v.world, &rows[i].q, &out);
        if (!span_eq(buf_span(&out), span_of(rows[i].want)))
            fail_msg("%s: %s", rows[i].label, out.ptr);
        buf_release(&out);
    }
    view_close(&v);
}

/* However many there are, the first by name are told, whatever order they came in. */
static void test_the_first_of_many(void **state)
{
    (void)state;
    enum { MANY = 3 * PODS_NAMED };
    struct buf yaml = {0}, out = {0};
    struct view v;
    for (int i = 0; i < MANY; i++)
        buf_addf(&yaml, "apiVersion: v1\nkind: Pod\nmetadata: {name: p-%03d, namespace: web, uid: u-%d}\nspec: {containers: []}\n---\n",
                 i * 7 % MANY, i);
    view_open(&v, yaml.ptr, "");
    pods_json(v.snapshot, v.world, &(struct pods_asked){.find = SPAN("web/p")}, &out);
    const char *at = out.ptr;
    for (int i = 0; i < PODS_NAMED; i++) {
        char want[32];
        snprintf(want, sizeof(want), "{\"pod\":\"web/p-%03d\"}", i);
        at = strstr(at, want);
        if (at == NULL)
            fail_msg("no %s in its place: %s", want, out.ptr);
    }
    assert_null(strstr(out.ptr, "p-100"));
    assert_non_null(strstr(out.ptr, "\"found\":300}"));
    buf_release(&out);
    buf_release(&yaml);
    view_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test(test_the_first_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
