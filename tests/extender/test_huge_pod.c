/* A pod that says more than is planned for is kube-scheduler's alone. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "kube/object_bounds.h"
#include "support_ask.h"

static void put_pod(struct buf *b, const char *name, unsigned tolerations)
{
    buf_addf(b,
             "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: %s, uid: uid-%s}\n"
             "spec:\n  containers: [{name: c, resources: {requests: {cpu: 1}}}]\n  tolerations: [",
             name, name);
    for (unsigned i = 0; i < tolerations; i++)
        buf_addf(b, "{operator: Exists, key: k%u}, ", i);
    buf_addf(b, "]\nstatus: {phase: Pending}\n");
}

static void test_no_opinion_on_a_pod_beyond_the_bounds(void **state)
{
    struct cluster c;
    struct buf yaml = {0};
    struct answer answer;
    (void)state;
    buf_addf(&yaml, "%s", NODE("n1", "") NODE("n2", ""));
    put_pod(&yaml, "large", OBJECT_LIST_MAX);
    put_pod(&yaml, "huge", OBJECT_LIST_MAX + 1);
    cluster_open(&c, yaml.ptr);
    ask_filter_answer(&c, "large", "n1 n2", &answer);
    assert_int_equal(answer.verdict.answer, EXTENDER_ROOM);
    ask_filter_answer(&c, "huge", "n1 n2", &answer);
    assert_int_equal(answer.verdict.answer, EXTENDER_NO_OPINION);
    assert_string_equal(answer.passed, "n1 n2");
    cluster_close(&c);
    buf_release(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_opinion_on_a_pod_beyond_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
