/* Pods that we have nominated ourselves (--nominate-from): the scheduler looks at the one node first, and asks of it
 * alone. Nobody had to go for them, as somebody had to for whom the scheduler nominates. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support_ask.h"

#define OURS(name, node)                                                                           \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name ", managedFields: [{manager: stowage, " \
    "operation: Update, subresource: status, fieldsV1: {'f:status': {'f:nominatedNodeName': {}}}}]}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: '3', memory: 1Gi}}}]\n"            \
    "status:\n  phase: Pending\n  nominatedNodeName: " node "\n" WAITS

/* n1 and n2 have room for one of 3 CPUs each, n3 is about to go. */
static const char objects[] =
    NODE("n1", "") NODE("n2", "")
    NODE("n3", "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n")
    OURS("ours", "n1") OURS("stranded", "n3") POD("theirs", "3", "", "  nominatedNodeName: n1\n" WAITS)
    POD("new", "3", "", WAITS) POD("other", "3", "", WAITS);

static struct extender_verdict ask(struct cluster *c, const char *pod, const char *nominated, const char *names,
                                   char *passed, size_t size)
{
    struct buf body = {0}, reply = {0};
    struct extender_verdict verdict;
    struct err err;
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\"},"
             "\"status\":{\"nominatedNodeName\":\"%s\"}},\"NodeNames\":[%s]}",
             pod, pod, nominated, names);
    assert_true(extender_filter(&c->scratch, &c->view, buf_span(&body), &reply, &verdict, &err));
    json_t *root = ask_parsed(&reply);
    ask_joined(json_object_get(root, "NodeNames"), passed, size);
    json_decref(root);
    buf_release(&body);
    buf_release(&reply);
    return verdict;
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *nominated, *place, *others; /* others: where "other" has its place */
        const char *names, *want;
        enum extender_answer answer;
        bool astray;
    } rows[] = {
        {"the node that it is nominated for is its place", "ours", "n1", "n1", "n2", "\"n1\"", "n1", EXTENDER_PLANNED, false},
        {"also when no watch has told of the nomination yet", "new", "n1", "n1", "n2", "\"n1\"", "n1", EXTENDER_PLANNED,
         false},
        {"nobody had to go for it: room that others hold is theirs", "ours", "n1", "n2", "n1", "\"n1\"", "",
         EXTENDER_REFUSED, false},
        {"while the scheduler's own has what was freed for it", "theirs", "n1", "n2", "n1", "\"n1\"", "n1",
         EXTENDER_REVISED, false},
        {"then it is asked of all, and goes to its place", "ours", "n1", "n2", "n1", "\"n1\",\"n2\",\"n3\"", "n2",
         EXTENDER_PLANNED, false},
        {"it is not held back by a node that goes", "stranded", "n3", "n2", "n1", "\"n3\"", "", EXTENDER_REFUSED, false},
        {"but goes where it is planned by now", "stranded", "n3", "n2", "n1", "\"n1\",\"n2\"", "n2", EXTENDER_PLANNED, false},
        {"that its place is not among all says that it was turned down", "stranded", "n3", "n2", "n1", "\"n1\",\"n3\"",
         "", EXTENDER_REFUSED, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char passed[128];
        cluster_open(&c, objects);
        cluster_place(&c, rows[i].pod, rows[i].place);
        cluster_place(&c, "other", rows[i].others);
        struct extender_verdict got = ask(&c, rows[i].pod, rows[i].nominated, rows[i].names, passed, sizeof(passed));
        if (strcmp(passed, rows[i].want) != 0 || got.answer != rows[i].answer)
            fail_msg("%s: \"%s\" by %s, want \"%s\" by %s", rows[i].label, passed, extender_answer_name(got.answer),
                     rows[i].want, extender_answer_name(rows[i].answer));
        if (got.astray != rows[i].astray)
            fail_msg("%s: %s", rows[i].label, got.astray ? "it is astray" : "it is not astray");
        cluster_close(&c);
    }
}

/* Nor does it have what evicting leaves it when that is not enough. */
static void preempts_as_who_is_not_nominated(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects);
    cluster_place(&c, "other", "n1");
    static const char victims[] = "\"n1\":{\"Pods\":[{\"UID\":\"uid-gone\"}],\"NumPDBViolations\":0}";
    ask_expect_preempt(&c, "ours", "n1", victims, "", "ours");
    ask_expect_preempt(&c, "theirs", "n1", victims, victims, "theirs");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(preempts_as_who_is_not_nominated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
