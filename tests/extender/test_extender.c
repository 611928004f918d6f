#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>

#include "support_cluster.h"

#define POD(name, cpu, node, more)                                                                 \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name "}\n"                              \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: '" cpu "', memory: 1Gi}}}]\n" node \
    "status:\n  phase: Pending\n" more
#define WAITS "  conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]\n"
#define BOUND(node) "  nodeName: " node "\n"
#define NODE(name, more)                                                                           \
    "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " name "\n" more                          \
    "spec: {providerID: 'kwok://" name "'}\n"                                                      \
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"                              \
    "  capacity: {cpu: '4', memory: 16Gi, pods: '110'}\n"                                          \
    "  conditions: [{type: Ready, status: 'True'}]\n"

/* n1 has 1 of 4 CPUs in use, n2 is empty, n3 is about to go, n4 was bought for claim c4. */
static const char yaml[] =
    NODE("n1", "") NODE("n2", "")
    NODE("n3", "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n")
    NODE("n4", "  labels: {karpenter.sh/nodepool: p, karpenter.sh/registered: 'true', "
               "node.kubernetes.io/instance-type: t}\n")
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\n"
    "metadata: {name: c4, uid: uid-c4, labels: {karpenter.sh/nodepool: p}}\n"
    "spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
    "requirements: []}\n"
    "status: {nodeName: n4, providerID: 'kwok://n4', capacity: {cpu: '4', memory: 16Gi, pods: '110'}, "
    "allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n"
    POD("running", "1", BOUND("n1"), "")
    POD("small", "1", "", WAITS) POD("large", "3", "", WAITS) POD("other", "3", "", WAITS)
    POD("second", "1", "", WAITS) POD("third", "1", "", WAITS)
    POD("done", "3", BOUND("n2"), "");

static const struct {
    const char *label;
    const char *places[2][2]; /* pod, target */
    const char *pod, *uid;    /* asked about; uid NULL: uid-<pod> */
    const char *names;        /* offered */
    const char *want, *refused;
    enum extender_answer answer;
} rows[] = {
    {"a planned pod goes to its planned node", {{"small", "n2"}}, "small", NULL, "n1 n2 n4", "n2",
     "", EXTENDER_PLANNED},
    {"also when the plan names the claim", {{"small", "claim/c4"}}, "small", NULL, "n1 n2 n4",
     "n4", "", EXTENDER_PLANNED},
    {"and elsewhere when that node is not offered", {{"small", "n2"}}, "small", NULL, "n1 n4",
     "n1 n4", "", EXTENDER_ROOM},
    {"nobody's room is free for all", {{0}}, "large", NULL, "n1 n2 n4", "n1 n2 n4", "",
     EXTENDER_ROOM},
    {"held room is refused", {{"large", "n1"}}, "other", NULL, "n1 n2", "n2", "n1", EXTENDER_ROOM},
    {"what the held room leaves may be used", {{"small", "n1"}}, "other", NULL, "n1 n4", "n4",
     "n1", EXTENDER_ROOM},
    {"and is enough for a small one", {{"small", "n4"}}, "other", NULL, "n4", "n4", "",
     EXTENDER_ROOM},
    {"room held on a claim counts on its node", {{"large", "claim/c4"}}, "other", NULL, "n4", "",
     "n4", EXTENDER_REFUSED},
    {"a place whose pod is bound holds nothing", {{"done", "n1"}}, "large", NULL, "n1", "n1", "",
     EXTENDER_ROOM},
    {"a node about to go takes nobody", {{0}}, "small", NULL, "n1 n3", "n1", "n3", EXTENDER_ROOM},
    {"not even who was planned there", {{"small", "n3"}}, "small", NULL, "n1 n3", "n1", "n3",
     EXTENDER_ROOM},
    {"a node that is not known is not refused", {{"large", "n1"}}, "other", NULL, "n1 new", "new",
     "n1", EXTENDER_ROOM},
    {"a pod that is not known may go anywhere", {{"large", "n1"}}, "stranger", NULL, "n1 n3",
     "n1 n3", "", EXTENDER_NO_OPINION},
    {"so may one of an older life", {{"large", "n1"}}, "other", "uid-before", "n1 n3", "n1 n3", "",
     EXTENDER_NO_OPINION},
    {"no candidates, no answer", {{0}}, "small", NULL, "", "", "", EXTENDER_REFUSED},
};

static void put_names(struct buf *b, const char *names)
{
    struct span rest = span_of(names);
    for (bool first = true; rest.len != 0; first = false) {
        struct span name = span_cut(rest, ' ', &rest);
        buf_addf(b, "%s\"%.*s\"", first ? "" : ",", SPAN_ARG(name));
    }
}

static void put_args(struct buf *b, const char *pod, const char *uid, const char *names)
{
    char derived[64];
    snprintf(derived, sizeof(derived), "uid-%s", pod);
    buf_addf(b,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"%s\"},"
             "\"spec\":{\"containers\":[]},\"status\":{}},\"Nodes\":null,\"NodeNames\":[",
             pod, uid != NULL ? uid : derived);
    put_names(b, names);
    buf_add(b, SPAN("]}"));
}

static json_t *parsed(const struct buf *reply)
{
    json_error_t error;
    json_t *root = json_loadb(reply->ptr, reply->len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s: %s", error.text, reply->ptr);
    return root;
}

/* Names of an array, or keys of an object, joined by spaces. */
static void joined(json_t *from, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    if (json_is_array(from)) {
        for (size_t i = 0; i < json_array_size(from); i++)
            at += (size_t)snprintf(out + at, size - at, "%s%s", at != 0 ? " " : "",
                                   json_string_value(json_array_get(from, i)));
        return;
    }
    for (void *it = json_object_iter(from); it != NULL; it = json_object_iter_next(from, it))
        at += (size_t)snprintf(out + at, size - at, "%s%s", at != 0 ? " " : "",
                               json_object_iter_key(it));
}

static void test_filter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_open(&c, yaml);
        for (size_t p = 0; p < 2 && rows[i].places[p][0] != NULL; p++)
            cluster_place(&c, rows[i].places[p][0], rows[i].places[p][1]);
        struct buf body = {0}, reply = {0};
        put_args(&body, rows[i].pod, rows[i].uid, rows[i].names);
        enum extender_answer answer;
        struct err err;
        if (!extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &answer, &err))
            fail_msg("%s: %s", rows[i].label, err.msg);
        json_t *root = parsed(&reply);
        char passed[128], refused[128];
        joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
        joined(json_object_get(root, "FailedAndUnresolvableNodes"), refused, sizeof(refused));
        if (strcmp(passed, rows[i].want) != 0 || strcmp(refused, rows[i].refused) != 0)
            fail_msg("%s: got \"%s\", refused \"%s\"; want \"%s\", refused \"%s\"", rows[i].label,
                     passed, refused, rows[i].want, rows[i].refused);
        if (answer != rows[i].answer)
            fail_msg("%s: answered %s, want %s", rows[i].label, extender_answer_name(answer),
                     extender_answer_name(rows[i].answer));
        assert_string_equal(json_string_value(json_object_get(root, "Error")), "");
        assert_true(json_is_null(json_object_get(root, "Nodes")));
        assert_int_equal(json_object_size(json_object_get(root, "FailedNodes")), 0);
        json_decref(root);
        buf_release(&body);
        buf_release(&reply);
        cluster_close(&c);
    }
}

static void ask_filter(struct cluster *c, const char *pod, const char *names, const char *want,
                       const char *label)
{
    struct buf body = {0}, reply = {0};
    put_args(&body, pod, NULL, names);
    enum extender_answer answer;
    struct err err;
    if (!extender_filter(&c->scratch, &c->view, buf_span(&body), &reply, &answer, &err))
        fail_msg("%s: %s", label, err.msg);
    json_t *root = parsed(&reply);
    char passed[128];
    joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
    if (strcmp(passed, want) != 0)
        fail_msg("%s: got \"%s\", want \"%s\"", label, passed, want);
    json_decref(root);
    buf_release(&body);
    buf_release(&reply);
}

/* What was answered a moment ago counts before the watch tells of it: large (3 CPUs) has a place on
 * n4, which leaves room for one small pod. */
static void test_free_room_is_given_once(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    cluster_place(&c, "large", "claim/c4");
    cluster_place(&c, "done", "n1"); /* bound: holds nothing */
    c.view.now = 1000;
    ask_filter(&c, "small", "n4", "n4", "the first takes what is free");
    ask_filter(&c, "second", "n4", "", "nothing is left for the second");
    ask_filter(&c, "second", "n1 n4", "n1", "elsewhere there is");
    ask_filter(&c, "large", "n4", "n4", "who has the place gets it");
    ask_filter(&c, "small", "n4", "n4", "the first itself may ask again");
    c.view.now = 1000 + RECENT_MS;
    ask_filter(&c, "second", "n4", "n4", "what was not seen bound by now is forgotten");
    cluster_close(&c);
}

/* Among nodes where others have places one is chosen, the fullest; the rest is the scheduler's choice. */
static void test_one_of_those_with_places(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    cluster_place(&c, "small", "n1");
    cluster_place(&c, "second", "n2");
    ask_filter(&c, "third", "n1 n2 n4", "n1 n4", "n1 is fuller than n2");
    cluster_close(&c);
}

static void test_no_view_is_no_opinion(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    struct buf body = {0}, reply = {0};
    put_args(&body, "small", NULL, "n1 n3");
    enum extender_answer answer;
    struct err err;
    struct extender_view blind = {0};
    assert_true(extender_filter(&c.scratch, &blind, buf_span(&body), &reply, &answer, &err));
    assert_int_equal(answer, EXTENDER_NO_OPINION);
    assert_string_equal(reply.ptr, "{\"Nodes\":null,\"NodeNames\":[\"n1\",\"n3\"],\"FailedNodes\":{},"
                                   "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    buf_clear(&reply);
    assert_true(extender_prioritize(&c.scratch, &blind, buf_span(&body), &reply, &answer, &err));
    assert_string_equal(reply.ptr, "[]");
    buf_release(&body);
    buf_release(&reply);
    cluster_close(&c);
}

static void test_what_is_not_a_request(void **state)
{
    (void)state;
    static const struct {
        const char *body, *want;
    } wrong[] = {
        {"", ""},
        {"[]", ""},
        {"{\"NodeNames\":[]}", "Pod"},
        {"{\"Pod\":{\"metadata\":{}},\"Nodes\":{\"items\":[]},\"NodeNames\":null}",
         "nodeCacheCapable: true"},
        {"{\"Pod\":{\"metadata\":{\"name\":1}},\"NodeNames\":[]}", "Pod.metadata.name"},
        {"{\"Pod\":{\"metadata\":{}},\"NodeNames\":[\"n1\",7]}", "NodeNames[1]: 7 is a number"},
    };
    struct cluster c;
    cluster_open(&c, yaml);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct buf reply = {0};
        enum extender_answer answer;
        struct err err;
        if (extender_filter(&c.scratch, &c.view, span_of(wrong[i].body), &reply, &answer, &err))
            fail_msg("%s: accepted", wrong[i].body);
        if (!span_contains(span_of(err.msg), span_of(wrong[i].want)))
            fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i].body, err.msg, wrong[i].want);
        buf_release(&reply);
    }
    cluster_close(&c);
}

static int64_t score_of(json_t *list, const char *node)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(entry, "Host")), node) == 0)
            return json_integer_value(json_object_get(entry, "Score"));
    }
    return -1;
}

static void test_prioritize_packs(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    cluster_place(&c, "large", "n4");
    struct buf body = {0}, reply = {0};
    put_args(&body, "small", NULL, "n1 n2 n3 n4 new");
    enum extender_answer answer;
    struct err err;
    assert_true(extender_prioritize(&c.scratch, &c.view, buf_span(&body), &reply, &answer, &err));
    json_t *list = parsed(&reply);
    assert_true(score_of(list, "n4") > score_of(list, "n1")); /* held room counts as taken */
    assert_true(score_of(list, "n2") > score_of(list, "n1")); /* "done" stands there with 3 CPUs */
    assert_true(score_of(list, "n1") > 0);
    assert_int_equal(score_of(list, "n3"), -1);
    assert_int_equal(score_of(list, "new"), -1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t score = json_integer_value(json_object_get(json_array_get(list, i), "Score"));
        assert_true(score >= 0 && score <= 10);
    }
    json_decref(list);
    buf_release(&body);
    buf_release(&reply);
    cluster_close(&c);
}

static void test_preempt_strikes_what_others_own(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    cluster_place(&c, "large", "n1"); /* 3 of n1's 4 CPUs; evicting "running" leaves 1 */
    struct span body =
        SPAN("{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"other\",\"uid\":\"uid-other\"}},"
             "\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
             "\"n1\":{\"Pods\":[{\"UID\":\"uid-running\"}],\"NumPDBViolations\":0},"
             "\"n2\":{\"Pods\":[{\"UID\":\"uid-done\"}],\"NumPDBViolations\":1},"
             "\"n3\":{\"Pods\":[{\"UID\":\"x\"}],\"NumPDBViolations\":0},"
             "\"new\":{\"Pods\":[{\"UID\":\"y\"}],\"NumPDBViolations\":0}}}");
    struct buf reply = {0};
    enum extender_answer answer;
    struct err err;
    assert_true(extender_preempt(&c.scratch, &c.view, body, &reply, &answer, &err));
    assert_string_equal(
        reply.ptr, "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"uid-done\"}],"
                   "\"NumPDBViolations\":1},\"new\":{\"Pods\":[{\"UID\":\"y\"}],"
                   "\"NumPDBViolations\":0}}}");
    buf_clear(&reply);
    struct extender_view blind = {0};
    assert_true(extender_preempt(&c.scratch, &blind, body, &reply, &answer, &err));
    json_t *root = parsed(&reply);
    assert_int_equal(json_object_size(json_object_get(root, "NodeNameToMetaVictims")), 4);
    json_decref(root);
    buf_release(&reply);
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_free_room_is_given_once),
        cmocka_unit_test(test_one_of_those_with_places),
        cmocka_unit_test(test_no_view_is_no_opinion),
        cmocka_unit_test(test_what_is_not_a_request),
        cmocka_unit_test(test_prioritize_packs),
        cmocka_unit_test(test_preempt_strikes_what_others_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
