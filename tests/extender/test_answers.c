/* Rules of the extender's answers that show best in a small cluster of their own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

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
    assert_string_equal(got.unresolvable, "deleted reasoned tainted");
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
        cmocka_unit_test(test_nobody_new_comes_onto_a_node_about_to_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
