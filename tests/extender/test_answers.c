/* Rules of the extender's answers that show best in a small cluster of their own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "support_ask.h"

/* Of n6's 4 CPUs 3 are in use, and 500m are for an agent that still has to come. */
#define AGENTS                                                                                     \
    "---\napiVersion: apps/v1\nkind: DaemonSet\n"                                                  \
    "metadata: {namespace: web, name: agent, uid: uid-agent}\n"                                    \
    "spec:\n  template:\n    spec:\n      priority: 5000\n      nodeSelector: {agents: here}\n"      \
    "      containers: [{name: c, resources: {requests: {cpu: 500m}}}]\n"
#define AGENT_POD(name, node)                                                                      \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: web, name: " name ", uid: uid-" name ", "  \
    "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: uid-agent, "       \
    "controller: true}]}\n"                                                                        \
    "spec:\n  priority: 5000\n  nodeSelector: {agents: here}\n"                                    \
    "  containers: [{name: c, resources: {requests: {cpu: 500m}}}]\n" node "status: {phase: Pending}\n"

static const char agents_yaml[] =
    NODE("n6", "  labels: {agents: here}\n") NODE("n7", "  labels: {agents: here}\n") AGENTS
    POD("low", "3", BOUND("n6"), "") POD("less", "3", BOUND("n7"), "") AGENT_POD("there", BOUND("n7"))
    AGENT_POD("coming", "")
    POD("large", "3800m", "  priority: 1000\n", WAITS) POD("fitting", "3500m", "  priority: 1000\n", WAITS)
    POD("equal", "3800m", "  priority: 5000\n", WAITS) POD("higher", "3800m", "  priority: 5001\n", WAITS);

static void test_preempting_leaves_daemons_their_room(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *candidates, *want;
    } rows[] = {
        {"of higher priority", "large", "n6:low", ""},
        {"of equal priority", "equal", "n6:low", ""},
        {"not of lower", "higher", "n6:low", "n6"},
        {"who leaves it has the rest", "fitting", "n6:low", "n6"},
        {"one that has come has no more to come", "fitting", "n7:less", "n7"},
        {"they themselves need not leave it", "coming", "n6:low", "n6"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        char left[64];
        cluster_open(&c, agents_yaml);
        ask_preempt_left(&c, rows[i].pod, rows[i].candidates, left, sizeof(left));
        if (strcmp(left, rows[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].label, left, rows[i].want);
        cluster_close(&c);
    }
}

/* Nothing else comes free there. */
static void test_a_daemon_has_the_room_that_is_kept_for_it(void **state)
{
    (void)state;
    struct cluster c;
    char left[64];
    cluster_open(&c, NODE("n8", "  labels: {agents: here}\n") AGENTS POD("most", "3500m", BOUND("n8"), "")
                         POD("tiny", "500m", BOUND("n8"), "") AGENT_POD("coming", "")
                             POD("large", "500m", "  priority: 1000\n", WAITS));
    ask_preempt_left(&c, "large", "n8:tiny", left, sizeof(left));
    assert_string_equal(left, "");
    ask_preempt_left(&c, "coming", "n8:tiny", left, sizeof(left));
    assert_string_equal(left, "n8");
    cluster_close(&c);
}

/* A pod that prefers disk=ssd, and one that does not say what it prefers. */
static const char revised_yaml[] =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: shunned, labels: {disk: hdd}}\n"
    "spec: {providerID: 'kwok://shunned', taints: [{key: old, effect: PreferNoSchedule}]}\n"
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"
    "  conditions: [{type: Ready, status: 'True'}]\n"
    NODE("liked", "  labels: {disk: ssd}\n") NODE("full", "") NODE("target", "")
    POD("much", "2", BOUND("shunned"), "") POD("some", "2", BOUND("full"), "")
    POD("plain", "1", "", WAITS) POD("tolerant", "1", "  tolerations: [{key: old, operator: Exists}]\n", WAITS)
    POD("picky", "1", "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 100, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}}\n", WAITS);

static void test_revised_by_the_pods_own_constraints_first(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pod, *names, *want;
    } rows[] = {
        {"who prefers nodes is told all that are free", "picky", "shunned full liked", "shunned full liked"},
        {"who does not, the fullest", "plain", "liked full", "full"},
        {"which is not one to be avoided", "plain", "shunned liked", "liked"},
        {"unless there is no other", "plain", "shunned new", "shunned"},
        {"or it does not mind", "tolerant", "liked shunned", "shunned"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer got;
        cluster_open(&c, revised_yaml);
        cluster_place(&c, rows[i].pod, "target");
        ask_filter_answer(&c, rows[i].pod, rows[i].names, &got);
        if (strcmp(got.passed, rows[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].label, got.passed, rows[i].want);
        assert_int_equal(got.verdict.answer, EXTENDER_REVISED);
        cluster_close(&c);
    }
}

/* Two zones; b1, a machine that is not ready yet, is the place of whoever is asked about. */
#define IN_ZONE(name, zone) NODE(name, "  labels: {topology.kubernetes.io/zone: " zone ", kubernetes.io/hostname: " name "}\n")
#define LABELLED(name, more) OF_APP(name, name, more)
#define OF_APP(name, app, more)                                                                    \
    "---\napiVersion: v1\nkind: Pod\n"                                                             \
    "metadata: {namespace: web, name: " name ", uid: uid-" name ", labels: {app: " app "}}\n"       \
    "spec:\n  containers: [{name: c, resources: {requests: {cpu: 10m}}}]\n" more                   \
    "status:\n  phase: Pending\n" WAITS
#define ZONE "topology.kubernetes.io/zone"
#define SPREAD(key, when)                                                                          \
    "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: " when    \
    ", labelSelector: {matchLabels: {app: p}}}]\n"
#define TERM(kind, app)                                                                            \
    "  affinity: {" kind ": {requiredDuringSchedulingIgnoredDuringExecution: "                      \
    "[{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: " app "}}}]}}\n"
static const char misplaced_yaml[] =
    IN_ZONE("a1", "a") IN_ZONE("b2", "b")
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: b1, labels: {topology.kubernetes.io/zone: b, "
    "kubernetes.io/hostname: b1, karpenter.sh/nodepool: p, karpenter.sh/registered: 'true'}}\n"
    "spec: {providerID: 'kwok://b1', taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}\n"
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"
    "  conditions: [{type: Ready, status: 'False'}]\n"
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: b1, uid: uid-c-b1, "
    "labels: {karpenter.sh/nodepool: p}}\nspec: {requirements: []}\n"
    "status: {nodeName: b1, providerID: 'kwok://b1'}\n";

/* The scheduler measures spread by the pods that are there: as it takes them, it would let one go where a fellow has
 * his place, which is none then, and a machine more be bought. */
static void test_who_is_counted_stays_where_he_is_planned(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pods, *names, *want;
        enum extender_answer answer;
    } rows[] = {
        {"spread over zones: not to another zone", LABELLED("p", SPREAD(ZONE, "DoNotSchedule")),
         "a1", "", EXTENDER_WAITS},
        {"another node of the zone will do", LABELLED("p", SPREAD(ZONE, "DoNotSchedule")),
         "a1 b2", "b2", EXTENDER_REVISED},
        {"and its own when that is ready", LABELLED("p", SPREAD(ZONE, "DoNotSchedule")),
         "a1 b1 b2", "b1", EXTENDER_PLANNED},
        {"a node that is not known is not refused", LABELLED("p", SPREAD(ZONE, "DoNotSchedule")),
         "a1 new", "new", EXTENDER_REVISED},
        {"spread over nodes: to no other", LABELLED("p", SPREAD("kubernetes.io/hostname", "DoNotSchedule")), "a1 b2", "",
         EXTENDER_WAITS},
        {"who would only like to be spread goes", LABELLED("p", SPREAD(ZONE, "ScheduleAnyway")),
         "a1", "a1", EXTENDER_REVISED},
        {"who keeps others off, not where they may have their place", LABELLED("p", TERM("podAntiAffinity", "other")),
         "a1", "", EXTENDER_WAITS},
        {"nor whom others keep off", LABELLED("p", "") LABELLED("other", TERM("podAntiAffinity", "p")), "a1", "",
         EXTENDER_WAITS},
        {"nor whom others have to be near", LABELLED("p", "") LABELLED("other", TERM("podAffinity", "p")), "a1", "",
         EXTENDER_WAITS},
        {"who has to be near others may where they are", LABELLED("p", TERM("podAffinity", "other")), "a1", "a1",
         EXTENDER_REVISED},
        {"whom nobody looks at goes", LABELLED("p", ""), "a1", "a1", EXTENDER_REVISED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer got;
        char yaml[4096];
        snprintf(yaml, sizeof(yaml), "%s%s", misplaced_yaml, rows[i].pods);
        cluster_open(&c, yaml);
        cluster_place(&c, "p", "b1");
        ask_filter_answer(&c, "p", rows[i].names, &got);
        if (strcmp(got.passed, rows[i].want) != 0)
            fail_msg("%s: got \"%s\", want \"%s\"", rows[i].label, got.passed, rows[i].want);
        if (got.verdict.answer != rows[i].answer)
            fail_msg("%s: answered %s", rows[i].label, extender_answer_name(got.verdict.answer));
        assert_false(got.verdict.astray); /* nobody has refused a node that is not ready */
        cluster_close(&c);
    }
}

/* A planned node that is ready and not offered is refused by the scheduler, and its plan made anew; but not while it
 * may be one of its kind that has to come first. */
static void test_who_waits_for_his_kind_is_not_refused(void **state)
{
    (void)state;
    static const struct {
        const char *label, *pods, *mate, *names;
        bool astray;
    } rows[] = {
        {"spread, and another's place is in the other zone",
         OF_APP("p", "p", SPREAD(ZONE, "DoNotSchedule")) OF_APP("q", "p", SPREAD(ZONE, "DoNotSchedule")), "a1", "a3", false},
        {"also where there is no room", OF_APP("p", "p", SPREAD(ZONE, "DoNotSchedule"))
             OF_APP("q", "p", SPREAD(ZONE, "DoNotSchedule")), "a1", "b3", false},
        {"its place is in the same zone", OF_APP("p", "p", SPREAD(ZONE, "DoNotSchedule"))
             OF_APP("q", "p", SPREAD(ZONE, "DoNotSchedule")), "b1", "a3", true},
        {"it is bound by now", OF_APP("p", "p", SPREAD(ZONE, "DoNotSchedule"))
             OF_APP("q", "p", SPREAD(ZONE, "DoNotSchedule") BOUND("a1")), "a1", "a3", true},
        {"they only keep off each other", OF_APP("p", "p", TERM("podAntiAffinity", "p"))
             OF_APP("q", "p", TERM("podAntiAffinity", "p")), "a1", "a3", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        struct answer got;
        char yaml[4096];
        snprintf(yaml, sizeof(yaml), "%s" IN_ZONE("a3", "a") IN_ZONE("b3", "b") POD("most", "4", "", WAITS) "%s",
                 misplaced_yaml, rows[i].pods);
        cluster_open(&c, yaml);
        cluster_place(&c, "p", "b2");
        cluster_place(&c, "q", rows[i].mate);
        cluster_place(&c, "most", "b3");
        ask_filter_answer(&c, "p", rows[i].names, &got);
        assert_string_equal(got.passed, "");
        if (got.verdict.astray != rows[i].astray)
            fail_msg("%s: it is %s", rows[i].label, got.verdict.astray ? "astray" : "not astray");
        cluster_close(&c);
    }
}

/* Nodes of a pool that stand, in every state that says that they are about to go, and one in none. */
#define POOL_LABELS                                                                                \
    "labels: {karpenter.sh/nodepool: p, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}\n"
#define POOL_NODE(name, meta, spec, status)                                                        \
    "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " name "\n" meta "  " POOL_LABELS          \
    "spec: {providerID: 'kwok://" name "'" spec "}\n"                                              \
    "status:\n  allocatable: {cpu: '4', memory: 16Gi, pods: '110'}\n"                              \
    "  conditions: [{type: Ready, status: 'True'}]\n"                                             \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c-" name ", uid: uid-c-" name \
    ", labels: {karpenter.sh/nodepool: p}}\nspec: {requirements: []}\n"                            \
    "status: {nodeName: " name ", providerID: 'kwok://" name "'" status "}\n"
static const char going_yaml[] =
    POOL_NODE("stays", "", "", "") POOL_NODE("undecided", "", "",
        ", conditions: [{type: DisruptionReason, status: 'False', reason: Empty}]")
    POOL_NODE("deleted", "  deletionTimestamp: '2026-10-10T10:00:00Z'\n  finalizers: [karpenter.sh/termination]\n",
              "", "")
    POOL_NODE("tainted", "", ", taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]", "")
    POOL_NODE("reasoned", "", "", ", conditions: [{type: DisruptionReason, status: 'True', reason: Empty}]")
    POD("tolerant", "1", "  tolerations: [{operator: Exists}]\n", WAITS) POD("victim", "1", BOUND("stays"), "");

static void test_nobody_new_comes_onto_a_node_about_to_go(void **state)
{
    (void)state;
    static const char all[] = "deleted reasoned stays tainted undecided";
    struct cluster c;
    struct answer got;
    char left[128];
    cluster_open(&c, going_yaml);
    ask_filter_answer(&c, "tolerant", all, &got);
    assert_string_equal(got.passed, "stays undecided");
    assert_string_equal(got.unresolvable, "deleted"); /* and speaks for the others */
    ask_preempt_left(&c, "tolerant", "deleted:a reasoned:b stays:victim tainted:c", left, sizeof(left));
    assert_string_equal(left, "stays");
    cluster_place(&c, "tolerant", "tainted");
    ask_filter_answer(&c, "tolerant", all, &got);
    assert_int_equal(got.verdict.answer, EXTENDER_REVISED);
    assert_true(got.verdict.astray); /* so that it is planned elsewhere */
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempting_leaves_daemons_their_room),
        cmocka_unit_test(test_a_daemon_has_the_room_that_is_kept_for_it),
        cmocka_unit_test(test_revised_by_the_pods_own_constraints_first),
        cmocka_unit_test(test_who_is_counted_stays_where_he_is_planned),
        cmocka_unit_test(test_who_waits_for_his_kind_is_not_refused),
        cmocka_unit_test(test_nobody_new_comes_onto_a_node_about_to_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
