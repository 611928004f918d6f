/* A pod that nothing is planned for is told one node, so that kube-scheduler need not choose: the best for packing that
 * keeps its replicas as far apart as kube-scheduler itself would. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_ask.h"

#define OF(kind, owner, name, spec, node, more)                                                    \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name more ", ownerReferences: "           \
    "[{apiVersion: x/v1, kind: " kind ", name: " owner ", uid: uid-" owner ", controller: true}]}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 200m, memory: 1Gi}}}]\n" spec node \
    "status: {phase: Pending}\n"
#define ZONED(name, zone) NODE(name, "  labels: {topology.kubernetes.io/zone: " zone "}\n")
#define LEAVING ", deletionTimestamp: '2026-10-10T10:00:00Z'"
#define VOLUME "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n"
#define CLAIM "  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]\n"
#define HARD "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: none, " \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]\n"
#define LABELLED(name, app)                                                                        \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name ", labels: {app: " app "}}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 200m, memory: 1Gi}}}]\n"           \
    "status: {phase: Pending}\n"
#define LIKES(app)                                                                                 \
    "  affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: "  \
    "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " app "}}}}]}}\n"
#define BARE(name)                                                                                 \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name "}\n" \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 200m, memory: 1Gi}}}]\n"           \
    "status: {phase: Pending}\n"

/* "used" is the fullest, with pods of "web" and "near" on it and one of "old" that ends; "part", with one of "db", comes
 * next; "empty" has nothing. Those are in zone a; "far" in zone b is as full as "part". */
static const char nodes_yaml[] =
    ZONED("empty", "a") ZONED("far", "b") ZONED("part", "a") ZONED("used", "a")
    OF("ReplicaSet", "web", "web-1", "", BOUND("used"), "")
    OF("ReplicaSet", "near", "near-1", HARD, BOUND("used"), "")
    OF("ReplicaSet", "old", "old-1", "", BOUND("used"), LEAVING)
    OF("ReplicaSet", "other", "other-2", "", BOUND("far"), "")
    OF("ReplicaSet", "other", "other-1", "", BOUND("far"), "")
    OF("ReplicaSet", "other", "other-3", "", BOUND("part"), "")
    OF("StatefulSet", "db", "db-1", "", BOUND("part"), "");
static const char comers_yaml[] =
    OF("ReplicaSet", "web", "web-new", "", "", "") OF("ReplicaSet", "web", "web-next", "", "", "")
    OF("ReplicaSet", "old", "old-new", "", "", "") OF("ReplicaSet", "alone", "alone-new", "", "", "")
    OF("ReplicaSet", "alone", "alone-next", "", "", "") OF("ReplicaSet", "alone", "alone-third", "", "", "")
    OF("StatefulSet", "web", "set-new", "", "", "");
static const char others_yaml[] =
    OF("StatefulSet", "db", "db-new", "", "", "")
    OF("ReplicationController", "rc", "rc-new", "", "", "") OF("Job", "job", "job-new", "", "", "")
    OF("CloneSet", "clones", "clone-new", "", "", "")
    OF("StatefulSet", "disks", "disk-new", VOLUME, "", "") OF("Job", "job", "disk-job", VOLUME, "", "")
    OF("Job", "gpus", "gpu-new", CLAIM, "", "") OF("ReplicaSet", "near", "hard-new", HARD, "", "")
    OF("ReplicaSet", "near", "hard-next", HARD, "", "") BARE("bare");

static void open_all(struct cluster *c)
{
    struct buf yaml = {0};
    buf_addf(&yaml, "%s%s%s", nodes_yaml, comers_yaml, others_yaml);
    buf_add_char(&yaml, '\0');
    cluster_open(c, yaml.ptr);
    buf_release(&yaml);
}

static void expect(struct cluster *c, const char *label, const char *pod, const char *names, const char *want)
{
    struct answer got;
    ask_filter_answer(c, pod, names, &got);
    if (strcmp(got.passed, want) != 0 || got.verdict.answer != EXTENDER_ROOM)
        fail_msg("%s: got \"%s\", want \"%s\"", label, got.passed, want);
}

static void test_who_gets_one(void **state)
{
    (void)state;
    static const char all[] = "empty far part used";
    static const struct {
        const char *label, *pod, *want;
    } rows[] = {
        {"nobody's pod: the fullest", "bare", "used"},
        {"a Job's", "job-new", "used"},
        {"a Job's with a volume", "disk-job", "used"},
        {"of a ReplicaSet that has no other", "alone-new", "used"},
        {"of a ReplicationController", "rc-new", "used"},
        {"of a set of another kind by that name", "set-new", "used"},
        {"whose fellow is ending", "old-new", "used"},
        {"with constraints of its own: the scheduler's filter has seen to them", "hard-new", "used"},
        {"a fellow is on the fullest: in the other zone", "web-new", "far"},
        {"of a StatefulSet, whose is elsewhere", "db-new", "far"},
        {"of a kind of controller that we do not know: the scheduler chooses", "clone-new", all},
        {"whose volumes may bind it", "disk-new", all},
        {"who needs a device", "gpu-new", all},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        open_all(&c);
        expect(&c, rows[i].label, rows[i].pod, all, rows[i].want);
        cluster_close(&c);
    }
}

/* Preferences that standing pods state towards the one that comes are weighed by the scheduler alone. */
static void test_whom_others_would_like_near_them(void **state)
{
    static const char yaml[] = ZONED("empty", "a") ZONED("part", "a")
        OF("StatefulSet", "db", "db-1", LIKES("liked"), BOUND("part"), "")
        LABELLED("liked", "liked") LABELLED("other", "other");
    (void)state;
    struct cluster c;
    cluster_open(&c, yaml);
    expect(&c, "liked", "liked", "empty part", "empty part");
    expect(&c, "another", "other", "empty part", "part");
    cluster_close(&c);
}

/* Who was let somewhere a moment ago is there, before any watch tells of it. */
static void test_fellows_sent_a_moment_ago(void **state)
{
    (void)state;
    struct cluster c;
    open_all(&c);
    expect(&c, "the first", "alone-new", "empty part used", "used");
    expect(&c, "the second", "alone-next", "empty part used", "part");
    expect(&c, "the first asks again: it stands nowhere", "alone-new", "empty part used", "used");
    expect(&c, "one with constraints of its own", "hard-new", "empty part used", "used");
    expect(&c, "another: those have seen to it", "hard-next", "empty part used", "used");
    cluster_close(&c);
}

/* A zone with a fellow is worse than one without, on another host as well; an emptier host than another's zone. */
static void test_zones(void **state)
{
    (void)state;
    struct cluster c;
    open_all(&c);
    expect(&c, "another host of the zone", "web-new", "part used", "part");
    expect(&c, "the other zone", "web-next", "far part", "far");
    cluster_close(&c);
}

/* An attempt that came to nothing is counted; not the first, and not one of several names. */
static void test_asked_again(void **state)
{
    (void)state;
    struct cluster c;
    struct answer got;
    open_all(&c);
    ask_filter_answer(&c, "bare", "empty part", &got);
    assert_false(got.verdict.again);
    ask_filter_answer(&c, "bare", "empty part", &got);
    assert_true(got.verdict.again);
    for (int i = 0; i < 2; i++) {
        ask_filter_answer(&c, "clone-new", "empty part", &got);
        assert_false(got.verdict.again);
    }
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_gets_one),
        cmocka_unit_test(test_whom_others_would_like_near_them),
        cmocka_unit_test(test_fellows_sent_a_moment_ago),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
