#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "support_ask.h"

/* Has to be on one node with others of its kind. */
#define GROUPED(name, group, node, more)                                                           \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name ", labels: {app: " group "}}\n"    \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 10m}}}]\n"                        \
    "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                  \
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " group "}}}]}}\n" node \
    "status:\n  phase: Pending\n" more
/* Of a Deployment of its own. */
#define SPLIT(name, percent)                                                                       \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name ", annotations: "                   \
    "{stowage.dev/spot-percent: '" percent "'}}\n"                                                 \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 10m}}}]\n"                        \
    "status:\n  phase: Pending\n"
/* Of a workload half of whose pods are to be on spot. */
#define HALF_OWNER                                                                                 \
    "\"annotations\":{\"stowage.dev/spot-percent\":\"50\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\"," \
    "\"kind\":\"ReplicaSet\",\"name\":\"halves\",\"uid\":\"uid-halves\",\"controller\":true}]"
#define HALF_SPEC                                                                                  \
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"10m\"}}}]}"

/* n1 has 1 of 4 CPUs in use, n2 is empty, n3 is about to go, n4 was bought for claim c4, c9 has no
 * Node yet. */
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

/* And what single rules are about. */
static const char more_yaml[] =
    POD("urgent", "3", "  priority: 1000\n", WAITS)
    NODE("n5", "") POD("nominated", "3", "", "  nominatedNodeName: n5\n")
    NODE("n6", "  labels: {agents: here}\n") NODE("n7", "") POD("exact", "4", "", WAITS)
    "---\napiVersion: apps/v1\nkind: DaemonSet\n"
    "metadata: {namespace: web, name: agent, uid: uid-agent}\n"
    "spec:\n  template:\n    spec:\n      nodeSelector: {agents: here}\n"
    "      containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n"
    "---\napiVersion: v1\nkind: Pod\n"
    "metadata: {namespace: web, name: agent-n6, uid: uid-agent-n6, ownerReferences: "
    "[{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: uid-agent, controller: true}]}\n"
    "spec:\n  nodeSelector: {agents: here}\n"
    "  containers: [{name: c, resources: {requests: {cpu: 100m}}}]\nstatus: {phase: Pending}\n"
    GROUPED("crew-1", "crew", "", WAITS) GROUPED("crew-2", "crew", "", WAITS)
    GROUPED("band-1", "band", BOUND("n5"), "") GROUPED("band-2", "band", "", WAITS);

/* n8 is a spot node; the others do not say what they are. */
static const char split_yaml[] =
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\n"
    "metadata: {name: c9, uid: uid-c9, labels: {karpenter.sh/nodepool: p}}\n"
    "spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
    "requirements: []}\n"
    "status: {providerID: 'kwok://c9', capacity: {cpu: '4', memory: 16Gi, pods: '110'}, "
    "allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n"
    OWNED("thieves", "thief", "1", "", WAITS)
    NODE("n8", "  labels: {karpenter.sh/capacity-type: spot}\n")
    SPLIT("on-spot", "100") SPLIT("steady", "0");

static const char *objects(void)
{
    static char all[sizeof(yaml) + sizeof(more_yaml) + sizeof(split_yaml)];
    snprintf(all, sizeof(all), "%s%s%s", yaml, more_yaml, split_yaml);
    return all;
}

static const struct {
    const char *label;
    const char *places[2][2]; /* pod, target */
    const char *pod, *uid;    /* asked about; uid NULL: uid-<pod> */
    const char *names;        /* offered */
    const char *want, *refused; /* of those refused for one reason the first */
    enum extender_answer answer;
} rows[] = {
    {"a planned pod goes to its planned node", {{"small", "n2"}}, "small", NULL, "n1 n2 n4", "n2",
     "", EXTENDER_PLANNED},
    {"also when the plan names the claim", {{"small", "claim/c4"}}, "small", NULL, "n1 n2 n4",
     "n4", "", EXTENDER_PLANNED},
    {"and to the fullest other when that node is not offered", {{"small", "n2"}}, "small", NULL,
     "n4 n1", "n1", "", EXTENDER_REVISED},
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
     EXTENDER_REVISED},
    {"higher priority takes a lower one's place", {{"large", "n1"}}, "urgent", NULL, "n1", "n1", "",
     EXTENDER_ROOM},
    {"lower priority takes nobody's", {{"urgent", "n1"}}, "large", NULL, "n1", "", "n1",
     EXTENDER_REFUSED},
    {"not by a trade either", {{"large", "n4"}, {"urgent", "n7"}}, "large", NULL, "n7", "", "n7",
     EXTENDER_REFUSED},
    {"nor does the higher one get what may be taken again", {{"large", "n4"}, {"urgent", "n7"}}, "urgent",
     NULL, "n4", "n4", "", EXTENDER_REVISED},
    {"a nominated pod owns its room", {{0}}, "other", NULL, "n5 n1", "n1", "n5", EXTENDER_ROOM},
    {"and may use it", {{0}}, "nominated", NULL, "n5", "n5", "", EXTENDER_ROOM},
    {"room for DaemonSet pods to come is theirs", {{0}}, "exact", NULL, "n6 n7", "n7", "n6",
     EXTENDER_ROOM},
    {"they themselves go where they are sent", {{"exact", "n6"}}, "agent-n6", NULL, "n6 n3", "n6 n3",
     "", EXTENDER_ROOM},
    {"the first of a group waits for its node", {{"crew-1", "claim/soon"}}, "crew-1", NULL,
     "n1 n2 n4", "", "n1", EXTENDER_WAITS},
    {"also when the scheduler turns down that node: one for all is planned anew", {{"crew-1", "n2"}}, "crew-1",
     NULL, "n1 n4", "", "n1", EXTENDER_WAITS},
    {"the next follow those who stand", {{"band-2", "claim/soon"}}, "band-2", NULL, "n1 n4", "n1", "",
     EXTENDER_REVISED},
    {"a pod that is to be on spot is kept off other nodes", {{0}}, "on-spot", NULL, "n1 n8 n2", "n8",
     "n1", EXTENDER_ROOM},
    {"one that is to be on-demand goes where nothing says spot", {{0}}, "steady", NULL, "n1 n8", "n1",
     "n8", EXTENDER_ROOM},
    {"and waits when there is nothing else", {{0}}, "steady", NULL, "n8", "", "n8", EXTENDER_REFUSED},
    {"a place on its side is its place", {{"on-spot", "n8"}}, "on-spot", NULL, "n1 n8", "n8", "",
     EXTENDER_PLANNED},
    {"one on the other is none any more", {{"steady", "n8"}}, "steady", NULL, "n1 n8", "n1", "n8",
     EXTENDER_REVISED},
    {"a Node that is not seen yet is its claim's", {{"large", "claim/c9"}}, "other", NULL, "n1 c9", "n1",
     "c9", EXTENDER_ROOM},
    {"where who has a place goes", {{"large", "claim/c9"}}, "large", NULL, "n1 c9", "c9", "",
     EXTENDER_PLANNED},
    {"a node that is not known is not refused", {{"large", "n1"}}, "other", NULL, "n1 new", "new",
     "n1", EXTENDER_ROOM},
    {"a pod that is not known may go anywhere", {{"large", "n1"}}, "stranger", NULL, "n1 n3",
     "n1 n3", "", EXTENDER_NO_OPINION},
    {"so may one of an older life", {{"large", "n1"}}, "other", "uid-before", "n1 n3", "n1 n3", "",
     EXTENDER_NO_OPINION},
    {"no candidates, no answer", {{0}}, "small", NULL, "", "", "", EXTENDER_REFUSED},
};

static void test_filter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_open(&c, objects());
        for (size_t p = 0; p < 2 && rows[i].places[p][0] != NULL; p++)
            cluster_place(&c, rows[i].places[p][0], rows[i].places[p][1]);
        struct buf body = {0}, reply = {0};
        ask_put_args(&body, rows[i].pod, rows[i].uid, rows[i].names);
        struct extender_verdict verdict;
        struct err err;
        if (!extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &verdict, &err))
            fail_msg("%s: %s", rows[i].label, err.msg);
        json_t *root = ask_parsed(&reply);
        char passed[128], refused[128];
        ask_joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
        ask_joined(json_object_get(root, "FailedAndUnresolvableNodes"), refused, sizeof(refused));
        if (strcmp(passed, rows[i].want) != 0 || strcmp(refused, rows[i].refused) != 0)
            fail_msg("%s: got \"%s\", refused \"%s\"; want \"%s\", refused \"%s\"", rows[i].label,
                     passed, refused, rows[i].want, rows[i].refused);
        if (verdict.answer != rows[i].answer)
            fail_msg("%s: answered %s, want %s", rows[i].label, extender_answer_name(verdict.answer),
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

/* In our eyes who had to go for it may still be there, and others' room be held: it was weighed when
 * somebody had to go. The request tells of it before the snapshot does. */
static void test_freed_room_is_used(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "large", "n1");
    static const struct {
        const char *status, *want;
    } told[] = {
        {"{}", "[]"},
        {"{\"nominatedNodeName\":\"n1\"}", "[\"n1\"]"},
        {"{\"nominatedNodeName\":\"n3\"}", "[]"},
        {"{\"nominatedNodeName\":\"unknown\"}", "[]"},
    };
    for (size_t i = 0; i < COUNT_OF(told); i++) {
        struct buf body = {0}, reply = {0};
        buf_addf(&body,
                 "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"other\","
                 "\"uid\":\"uid-other\"},\"status\":%s},\"NodeNames\":[\"n1\",\"n3\"]}",
                 told[i].status);
        struct extender_verdict verdict;
        struct err err;
        assert_true(extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &verdict, &err));
        json_t *root = ask_parsed(&reply);
        char *names = json_dumps(json_object_get(root, "NodeNames"), JSON_COMPACT);
        assert_string_equal(names, told[i].want);
        free(names);
        json_decref(root);
        buf_release(&body);
        buf_release(&reply);
    }
    cluster_close(&c);
}

/* Which names of the question pass; takes the body. */
static void expect_passed(struct cluster *c, struct buf *body, const char *want, const char *label)
{
    struct buf reply = {0};
    struct extender_verdict verdict;
    struct err err;
    if (!extender_filter(&c->scratch, &c->view, buf_span(body), &reply, &verdict, &err))
        fail_msg("%s: %s", label, err.msg);
    json_t *root = ask_parsed(&reply);
    char passed[128];
    ask_joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
    if (strcmp(passed, want) != 0)
        fail_msg("%s: got \"%s\", want \"%s\"", label, passed, want);
    json_decref(root);
    buf_release(body);
    buf_release(&reply);
}

static void ask_filter(struct cluster *c, const char *pod, const char *names, const char *want,
                       const char *label)
{
    struct buf body = {0};
    ask_put_args(&body, pod, NULL, names);
    expect_passed(c, &body, want, label);
}

/* Of a pod that the scheduler has nominated for a node. */
static void ask_freed(struct cluster *c, const char *pod, const char *node, const char *name,
                      const char *want, const char *label)
{
    struct buf body = {0};
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\"},"
             "\"status\":{\"nominatedNodeName\":\"%s\"}},\"NodeNames\":[\"%s\"]}",
             pod, pod, node, name);
    expect_passed(c, &body, want, label);
}

/* What was answered a moment ago counts before the watch tells of it: large (3 CPUs) has a place on
 * n4, which leaves room for one small pod. */
static void test_free_room_is_given_once(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "large", "claim/c4");
    cluster_place(&c, "done", "n1"); /* bound: holds nothing */
    c.view.now = 1000;
    ask_filter(&c, "small", "n4", "n4", "the first takes what is free");
    ask_filter(&c, "second", "n4", "", "nothing is left for the second");
    ask_filter(&c, "second", "n1 n4", "n1", "elsewhere there is");
    ask_filter(&c, "large", "n4", "n4", "who has the place gets it");
    ask_filter(&c, "small", "n4", "n4", "the first itself may ask again");
    c.view.now = 1000 + LEDGER_ONE_MS;
    ask_filter(&c, "second", "n4", "n4", "what was not seen bound by now is forgotten");
    c.view.now += LEDGER_ONE_MS;
    ask_filter(&c, "nobody", "n4", "n4", "a stranger has no opinion, but time goes on");
    ask_filter(&c, "third", "n7", "n7", "and what is booked there");
    c.view.now += LEDGER_ONE_MS;
    ask_filter(&c, "third", "n7 n2", "n7 n2", "is all that stands");
    assert_int_equal(ledger_count(c.ledger), 1); /* that it may be on either */
    const struct sent_pod *sent;
    c.view.now += LEDGER_MANY_MS;
    assert_int_equal(ledger_sent(c.ledger, c.view.now, &c.scratch.arena, &sent), 0);
    assert_int_equal(ledger_count(c.ledger), 0);
    cluster_close(&c);
}

/* kube-scheduler binds a pod's volumes first, which takes as long as it takes: all the while the pod has its
 * room. What else it has not bound it may have given up. */
static void test_room_is_kept_while_volumes_are_bound(void **state)
{
    (void)state;
    static const char claims[] =
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
        "metadata: {namespace: web, name: made}\nspec: {storageClassName: slow}\n"
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
        "metadata: {namespace: web, name: bound, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\n"
        "spec: {volumeName: v}\n";
    static const struct {
        const char *claim;
        bool kept;
    } cases[] = {{"made", true}, {"not-there-yet", true}, {"bound", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char all[sizeof(yaml) + sizeof(claims) + 512];
        snprintf(all, sizeof(all), "%s%s" POD("keeper", "3",
                 "  volumes: [{name: d, persistentVolumeClaim: {claimName: %s}}]\n", WAITS),
                 yaml, claims, cases[i].claim);
        struct cluster c;
        cluster_open(&c, all);
        cluster_place(&c, "keeper", "n4");
        c.view.now = 1000;
        ask_filter(&c, "keeper", "n1 n4", "n4", "it goes to its place");
        cluster_unplan(&c); /* it seems to wait: another plan has it elsewhere */
        cluster_place(&c, "small", "n4");
        c.view.now += LEDGER_ONE_MS + 100;
        ask_filter(&c, "other", "n4", cases[i].kept ? "" : "n4", cases[i].claim);
        c.view.now += LEDGER_BINDING_MS;
        ask_filter(&c, "other", "n4", "n4", "not for ever");
        cluster_close(&c);
    }
}

/* Not even when the Node is so new that only its claim is seen: large leaves room for one on c9. */
static void test_room_of_a_new_node_is_given_once(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "large", "claim/c9");
    c.view.now = 1000;
    ask_filter(&c, "small", "c9", "c9", "the first takes what is free");
    ask_filter(&c, "second", "c9", "", "nothing is left for the second");
    ask_filter(&c, "large", "c9", "c9", "who has the place gets it");
    cluster_close(&c);
}

/* Where it is not known which of several nodes it will be, room is kept on all where others have places;
 * not for long. */
static void test_room_is_kept_on_all_it_may_take(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "small", "n1"); /* 2 CPUs are left there */
    cluster_place(&c, "large", "n4"); /* 1 */
    c.view.now = 1000;
    ask_filter(&c, "third", "n1 n4 n7", "n1 n4 n7", "any of three");
    ask_filter(&c, "second", "n1 n4 n7", "n1 n7", "n4 may be full by now");
    assert_int_equal(ledger_count(c.ledger), 2);
    c.view.now += LEDGER_MANY_MS + 100;
    ask_filter(&c, "nobody", "n1", "n1", "time goes on");
    ask_filter(&c, "second", "n4", "n4", "it went elsewhere");
    cluster_close(&c);
}

/* --- equal pods trade places --- */

/* Small is planned for n1, second for n2, where there is no more room. */
static void open_traders(struct cluster *c)
{
    cluster_open(c, objects());
    cluster_place(c, "small", "n1");
    cluster_place(c, "second", "n2");
    c->view.now = 1000;
}

/* As the reconciler publishes it; NULL: nothing was traded that the places do not say. */
static struct places *traded(const struct cluster *c)
{
    struct arena a;
    const struct sent_pod *sent;
    arena_init(&a, 0);
    uint32_t count = ledger_sent(c->ledger, c->view.now, &a, &sent);
    struct places *p = places_traded(c->places, sent, count, c->view.world);
    arena_release(&a);
    return p;
}

static void expect_place(const struct cluster *c, const char *uid, const char *node)
{
    assert_true(span_eq(places_find(c->places, span_of(uid))->target, span_of(node)));
}

/* The scheduler offers small what is second's. */
static void test_equal_pods_trade_places(void **state)
{
    (void)state;
    struct cluster c;
    open_traders(&c);
    cluster_place(&c, "exact", "n7"); /* the whole of it */
    ask_freed(&c, "small", "n4", "n2", "", "for whom somebody has to go on n4 waits for that");
    cluster_place(&c, "thief", "n4");
    ask_filter(&c, "thief", "n2", "", "another's pod is not equal, whatever it asks for");
    ask_filter(&c, "small", "n4 n2", "n2", "what is second's is as good");
    ask_filter(&c, "second", "n1 n2 n4", "n1", "and second has small's place now");
    ask_filter(&c, "small", "n1 n4", "n1", "what small got came to nothing: second has its place again");
    ask_filter(&c, "second", "n1 n2", "n2", "which it takes");
    ask_filter(&c, "small", "n7", "", "the place of a pod that is not equal is none for it");
    ask_filter(&c, "second", "n1 n4", "n1", "traded the other way round");
    ask_filter(&c, "third", "n2", "", "who has no place gets none by that");
    cluster_close(&c);
}

/* Until the published places tell it, also when it is seen bound. */
static void test_trade_outlasts_the_bind(void **state)
{
    (void)state;
    struct cluster c;
    open_traders(&c);
    ask_filter(&c, "small", "n2", "n2", "small takes second's");
    cluster_tell(&c, WATCH_PUT,
                 SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\","
                      "\"name\":\"small\",\"uid\":\"uid-small\"},\"spec\":{\"nodeName\":\"n2\",\"containers\":"
                      "[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}}"));
    cluster_publish(&c);
    ask_filter(&c, "other", "n1", "", "n1 is second's by now, which leaves it too little");
    ask_filter(&c, "second", "n1 n2", "n1", "and second goes there");
    cluster_replan(&c, traded(&c));
    expect_place(&c, "uid-small", "n2");
    expect_place(&c, "uid-second", "n1");
    assert_null(traded(&c)); /* that is all */
    ask_filter(&c, "second", "n1 n2", "n1", "as the places have it now");
    cluster_close(&c);
}

/* Also when who made it is gone: what it had before is free by then, and second keeps that. */
static void test_trade_outlasts_the_pod(void **state)
{
    (void)state;
    struct cluster c;
    open_traders(&c);
    ask_filter(&c, "small", "n2", "n2", "small takes second's");
    cluster_tell(&c, WATCH_DELETE,
                 SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\","
                      "\"name\":\"small\",\"uid\":\"uid-small\"}}"));
    cluster_publish(&c);
    ask_filter(&c, "other", "n1", "", "n1 is second's, which leaves it too little");
    ask_filter(&c, "second", "n1 n2", "n1", "and second goes there");
    cluster_close(&c);
}

/* Also when the places that it was made on are no more: of two trades the first is published alone, and what
 * third took was small's place before. */
static void test_trade_outlasts_other_places(void **state)
{
    (void)state;
    struct cluster c;
    open_traders(&c);
    cluster_place(&c, "third", "n4");
    ask_filter(&c, "small", "n2", "n2", "small takes second's");
    struct places *first = traded(&c);
    ask_filter(&c, "third", "n1", "n1", "third takes what is second's by now");
    cluster_replan(&c, first);
    ask_filter(&c, "second", "n1 n4", "n4", "and second has third's");
    cluster_replan(&c, traded(&c));
    expect_place(&c, "uid-small", "n2");
    expect_place(&c, "uid-second", "n4");
    expect_place(&c, "uid-third", "n1");
    assert_null(traded(&c));
    cluster_close(&c);
}

/* A planned node that is there and not offered was turned down by the scheduler: the planner hears of it,
 * and where else the pod was let. */
static void test_refused_where_it_was_planned(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "small", "n2");
    c.view.now = 1000;
    ask_filter(&c, "small", "n1", "n1", "another node");
    ask_filter(&c, "large", "n4 n7", "n4 n7", "one without a place is not astray");
    struct arena a;
    arena_init(&a, 0);
    const struct sent_pod *sent;
    assert_int_equal(ledger_sent(c.ledger, 1000, &a, &sent), 3);
    assert_true(!sent[0].refused && !sent[0].several && sent[0].node == span_hash(SPAN("n1")));
    assert_true(sent[1].several && sent[1].told_count == 2 && span_eq(sent[1].uid, SPAN("uid-large")));
    assert_true(sent[2].refused && sent[2].node == span_hash(SPAN("n2")));
    assert_true(span_eq(sent[0].uid, SPAN("uid-small")) && span_eq(sent[2].uid, sent[0].uid));
    assert_int_equal(ledger_sent(c.ledger, 1000 + LEDGER_REFUSED_MS, &a, &sent), 0);
    assert_int_equal(ledger_last_asked(c.ledger), 1000);
    arena_release(&a);
    cluster_close(&c);
}

/* A pod that no snapshot can have yet is judged by what the scheduler says of it. */
static void test_new_pod_takes_no_place(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_place(&c, "large", "n4");
    c.view.now = 1000;
    static const struct {
        const char *label, *made, *cpu, *want;
    } told[] = {
        {"a thief of this second", "2026-10-10T10:00:00Z", "2", "n2"},
        {"one that leaves enough", "2026-10-10T10:00:00Z", "200m", "n4 n2"},
        {"an old one: our snapshot is behind", "2026-10-10T09:59:00Z", "2", "n4 n2"},
    };
    assert_true(time_parse(SPAN("2026-10-10T10:00:03Z"), &c.view.wall));
    for (size_t i = 0; i < COUNT_OF(told); i++) {
        struct buf body = {0}, reply = {0};
        buf_addf(&body,
                 "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"thief\",\"uid\":\"t%u\","
                 "\"creationTimestamp\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"a/v1\","
                 "\"kind\":\"CloneSet\",\"name\":\"set\",\"uid\":\"set\",\"controller\":true}]},"
                 "\"spec\":{\"containers\":[{\"name\":\"c\","
                 "\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]},\"status\":{}},"
                 "\"NodeNames\":[\"n4\",\"n2\"]}",
                 (unsigned)i, told[i].made, told[i].cpu);
        struct extender_verdict verdict;
        struct err err;
        assert_true(extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &verdict, &err));
        json_t *root = ask_parsed(&reply);
        char passed[128];
        ask_joined(json_object_get(root, "NodeNames"), passed, sizeof(passed));
        if (strcmp(passed, told[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", told[i].label, passed, told[i].want);
        json_decref(root);
        buf_release(&body);
        buf_release(&reply);
    }
    cluster_close(&c);
}

static void ask_half(struct cluster *c, const char *name, const char *want, const char *label)
{
    struct buf body = {0};
    buf_addf(&body,
             "{\"Pod\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"%s\",\"uid\":\"uid-%s\","
             "\"creationTimestamp\":\"2026-10-10T10:00:01Z\"," HALF_OWNER "}," HALF_SPEC ",\"status\":{}},"
             "\"NodeNames\":[\"n2\",\"n8\"]}",
             name, name);
    expect_passed(c, &body, want, label);
}

/* Of pods that come in one instant each has a side of its own, though no snapshot has any of them. */
static void test_new_pods_are_split(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    cluster_tell(&c, WATCH_PUT,
                 SPAN("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"web\","
                      "\"name\":\"half-0\",\"uid\":\"uid-half-0\"," HALF_OWNER "}," HALF_SPEC ","
                      "\"status\":{\"phase\":\"Pending\"}}"));
    cluster_publish(&c);
    c.view.now = 1000;
    assert_true(time_parse(SPAN("2026-10-10T10:00:02Z"), &c.view.wall));
    ask_half(&c, "half-1", "n8", "of two one is on spot");
    ask_half(&c, "half-2", "n2", "of three one is");
    ask_half(&c, "half-3", "n8", "of four two are");
    ask_half(&c, "half-1", "n8", "who is asked about again is not counted twice");
    c.view.now += LEDGER_ONE_MS + 100;
    ask_half(&c, "half-2", "n8", "who was not heard of again is not there");
    cluster_close(&c);
}

/* What nobody speaks of the scheduler takes for what cannot be had by evicting. */
static void test_one_node_speaks_for_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *target, *asked, *names, *want;
    } answers[] = {
        {"each kind has its own", "large", "n1", "other", "n3 n1",
         "\"n1\":\"whose room is held for planned pods\",\"n3\":\"about to be removed\""},
        {"of several the first tells how many", "crew-1", "claim/soon", "crew-1", "n1 n2 n4",
         "\"n1\":\"of 3 where the pod's group does not have its place\""},
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct cluster c;
        cluster_open(&c, objects());
        cluster_place(&c, answers[i].pod, answers[i].target);
        struct buf body = {0}, reply = {0};
        struct extender_verdict verdict;
        struct err err;
        char want[512];
        ask_put_args(&body, answers[i].asked, NULL, answers[i].names);
        assert_true(extender_filter(&c.scratch, &c.view, buf_span(&body), &reply, &verdict, &err));
        snprintf(want, sizeof(want),
                 "{\"Nodes\":null,\"NodeNames\":[],\"FailedNodes\":{},"
                 "\"FailedAndUnresolvableNodes\":{%s},\"Error\":\"\"}", answers[i].want);
        buf_add_char(&reply, '\0');
        if (strcmp(reply.ptr, want) != 0)
            fail_msg("%s: got %s, want %s", answers[i].label, reply.ptr, want);
        buf_release(&body);
        buf_release(&reply);
        cluster_close(&c);
    }
}

static void test_no_view_is_no_opinion(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, objects());
    struct buf body = {0}, reply = {0};
    ask_put_args(&body, "small", NULL, "n1 n3");
    struct extender_verdict verdict;
    struct err err;
    struct extender_view blind = {0};
    assert_true(extender_filter(&c.scratch, &blind, buf_span(&body), &reply, &verdict, &err));
    assert_int_equal(verdict.answer, EXTENDER_NO_OPINION);
    assert_string_equal(reply.ptr, "{\"Nodes\":null,\"NodeNames\":[\"n1\",\"n3\"],\"FailedNodes\":{},"
                                   "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    buf_clear(&reply);
    assert_true(extender_prioritize(&c.scratch, &blind, buf_span(&body), &reply, &verdict, &err));
    assert_string_equal(reply.ptr, "[]");
    buf_release(&body);
    buf_release(&reply);
    cluster_close(&c);
}

/* Kinds that are not looked at may be blind for as long as they like. */
static void test_a_watch_broken_for_long_is_no_opinion(void **state)
{
    (void)state;
    static const struct {
        enum kind kind;
        mono_ms since;
        bool has_opinion;
    } cases[] = {
        {KIND_POD, LEDGER_ONE_MS, true},        {KIND_POD, LEDGER_ONE_MS + 1, false},
        {KIND_NODE, LEDGER_ONE_MS, true},       {KIND_NODE, LEDGER_ONE_MS + 1, false},
        {KIND_NODE_CLAIM, LEDGER_ONE_MS, true}, {KIND_NODE_CLAIM, LEDGER_ONE_MS + 1, false},
        {KIND_SERVICE, MS_HOUR, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c;
        struct answer got;
        cluster_open(&c, objects());
        struct snapshot *seen = (struct snapshot *)(uintptr_t)c.view.snapshot;
        seen->state[cases[i].kind].broken_since = 1000;
        c.view.now = 1000 + cases[i].since;
        ask_filter_answer(&c, "small", "n1 n3", &got);
        if ((got.verdict.answer != EXTENDER_NO_OPINION) != cases[i].has_opinion)
            fail_msg("%s broken for %lld ms: %s", kind_info(cases[i].kind)->name, (long long)cases[i].since,
                     extender_answer_name(got.verdict.answer));
        cluster_close(&c);
    }
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
    cluster_open(&c, objects());
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct buf reply = {0};
        struct extender_verdict verdict;
        struct err err;
        if (extender_filter(&c.scratch, &c.view, span_of(wrong[i].body), &reply, &verdict, &err))
            fail_msg("%s: accepted", wrong[i].body);
        if (!span_contains(span_of(err.msg), span_of(wrong[i].want)))
            fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i].body, err.msg, wrong[i].want);
        buf_release(&reply);
    }
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_freed_room_is_used),
        cmocka_unit_test(test_free_room_is_given_once),
        cmocka_unit_test(test_room_is_kept_on_all_it_may_take),
        cmocka_unit_test(test_new_pod_takes_no_place),
        cmocka_unit_test(test_room_is_kept_while_volumes_are_bound),
        cmocka_unit_test(test_room_of_a_new_node_is_given_once),
        cmocka_unit_test(test_equal_pods_trade_places),
        cmocka_unit_test(test_trade_outlasts_the_bind),
        cmocka_unit_test(test_trade_outlasts_the_pod),
        cmocka_unit_test(test_trade_outlasts_other_places),
        cmocka_unit_test(test_refused_where_it_was_planned),
        cmocka_unit_test(test_new_pods_are_split),
        cmocka_unit_test(test_one_node_speaks_for_its_kind),
        cmocka_unit_test(test_no_view_is_no_opinion),
        cmocka_unit_test(test_a_watch_broken_for_long_is_no_opinion),
        cmocka_unit_test(test_what_is_not_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
