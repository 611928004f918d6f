/* Who may be disrupted at all (spec disruption 3, scenarios 14 to 36), and what that costs and saves (4, 37 to 45 and
 * 302). */
#include "planner/disruption/candidate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define POD(meta_) D_POD("a", "n1", "1", meta_)
#define STARTED(meta_, time_) D_POD_OF("a", "n1", "1", meta_, "", ", startTime: \"" time_ "\"")
#define LABELLED "labels: {app: x}, "
#define CLOSED D_BUDGET("b", "default", "maxUnavailable: 1", "disruptionsAllowed: 0")
#define PDB_EVENT "Pdb prevents pod evictions (PodDisruptionBudget=[default/b], Pod=default/a)"
#define KEEP_EVENT "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/a)"
#define N1 D_NODE("n1", "")
#define GRACEFUL DISRUPT_GRACEFUL
/* A node that has registered and no more, or not even that. */
#define COMING(labels_)                                                                            \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: default}}\n" \
    "spec: {requirements: []}\nstatus: {providerID: \"x://n1\"}\n"                                 \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {" labels_ "karpenter.sh/nodepool: default}}\n" \
    "spec: {providerID: \"x://n1\"}\n"

static const struct {
    const char *label, *objects;
    enum disruption_class class;
    enum blocked want;
    const char *event; /* NULL: none */
    bool nominated, queued;
} rows[] = {
    {"an ordinary node", D_ANY N1 POD(""), GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"14: nominated", D_ANY N1, GRACEFUL, BLOCKED_NOMINATED, "Node is nominated for a pending pod", true, false},
    {"14: nominated, of repair", D_ANY N1, DISRUPT_REPAIR, BLOCKED_NOMINATED,
     "Node is nominated for a pending pod", true, false},
    {"in a command", D_ANY N1, GRACEFUL, BLOCKED_QUEUED, NULL, false, true},
    {"16: the node's annotation", D_ANY D_NODE_OF("n1", "default", "t", "", D_KEEP("true"), "", "", "", D_READY),
     GRACEFUL, BLOCKED_DO_NOT_DISRUPT,
     "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation", false, false},
    {"16: it does not stop repair",
     D_ANY D_NODE_OF("n1", "default", "t", "", D_KEEP("true"), "", "", "", D_READY), DISRUPT_REPAIR, BLOCKED_NOT,
     NULL, false, false},
    {"16: \"false\"", D_ANY D_NODE_OF("n1", "default", "t", "", D_KEEP("false"), "", "", "", D_READY), GRACEFUL,
     BLOCKED_NOT, NULL, false, false},
    {"16: a length of time on a node", D_ANY D_NODE_OF("n1", "default", "t", "", D_KEEP("10m"), "", "", "", D_READY),
     GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"17: a pod's annotation", D_ANY N1 POD(D_KEEP("true")), GRACEFUL, BLOCKED_POD_DO_NOT_DISRUPT, KEEP_EVENT, false,
     false},
    {"17: of a pod that has ended",
     D_ANY N1 "---\napiVersion: v1\nkind: Pod\nmetadata: {" D_KEEP("true") "name: a}\n"
     "spec: {nodeName: n1, containers: []}\nstatus: {phase: Succeeded}\n",
     GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"17: of a pod that is ending",
     D_ANY N1 POD(D_KEEP("true") "deletionTimestamp: \"2026-01-01T11:59:00Z\", "), GRACEFUL, BLOCKED_NOT, NULL, false,
     false},
    {"18: of a DaemonSet's", D_ANY N1 POD(D_KEEP("true") D_OWNER("DaemonSet")), GRACEFUL, BLOCKED_POD_DO_NOT_DISRUPT,
     KEEP_EVENT, false, false},
    {"18: of a mirror pod",
     D_ANY N1 POD(D_KEEP("true") "ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u}], "), GRACEFUL,
     BLOCKED_POD_DO_NOT_DISRUPT, KEEP_EVENT, false, false},
    {"19: ten minutes, of which five are over", D_ANY N1 STARTED(D_KEEP("10m"), "2026-01-01T11:55:00Z"), GRACEFUL,
     BLOCKED_POD_DO_NOT_DISRUPT, KEEP_EVENT, false, false},
    {"19: all ten are over", D_ANY N1 STARTED(D_KEEP("10m"), "2026-01-01T11:50:00Z"), GRACEFUL, BLOCKED_NOT, NULL,
     false, false},
    {"20: nobody knows since when", D_ANY N1 POD(D_KEEP("10m")), GRACEFUL, BLOCKED_POD_DO_NOT_DISRUPT, KEEP_EVENT,
     false, false},
    {"21: no length of time", D_ANY N1 STARTED(D_KEEP("-5m"), "2026-01-01T11:59:00Z"), GRACEFUL, BLOCKED_NOT, NULL,
     false, false},
    {"21: no time", D_ANY N1 STARTED(D_KEEP("0"), "2026-01-01T11:59:00Z"), GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"21: a word", D_ANY N1 STARTED(D_KEEP("abc"), "2026-01-01T11:59:00Z"), GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"21: days are none", D_ANY N1 STARTED(D_KEEP("1d"), "2026-01-01T11:59:00Z"), GRACEFUL, BLOCKED_NOT, NULL, false,
     false},
    {"22: the longer of two",
     D_ANY N1 STARTED(D_KEEP("10m"), "2026-01-01T11:45:00Z")
         D_POD_OF("b", "n1", "1", D_KEEP("1h"), "", ", startTime: \"2026-01-01T11:45:00Z\""),
     GRACEFUL, BLOCKED_POD_DO_NOT_DISRUPT, "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/b)", false,
     false},
    {"23: a closed budget", D_ANY CLOSED N1 POD(LABELLED), GRACEFUL, BLOCKED_POD_BUDGET, PDB_EVENT, false, false},
    {"23: of a DaemonSet's pod", D_ANY CLOSED N1 POD(LABELLED D_OWNER("DaemonSet")), GRACEFUL, BLOCKED_POD_BUDGET,
     "Pdb prevents pod evictions (PodDisruptionBudget=[default/b], Pod=default/a, DaemonSet=o)", false, false},
    {"23: whose controller is of a kind of somebody's own", D_ANY CLOSED N1 POD(LABELLED D_OWNER("Rollout")), GRACEFUL,
     BLOCKED_POD_BUDGET, "Pdb prevents pod evictions (PodDisruptionBudget=[default/b], Pod=default/a, Owner=o)", false,
     false},
    {"23: a mirror pod is nobody's",
     D_ANY CLOSED N1 POD(LABELLED "ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u}], "), GRACEFUL,
     BLOCKED_NOT, NULL, false, false},
    {"24: of another namespace", D_ANY D_BUDGET("b", "other", "maxUnavailable: 1", "disruptionsAllowed: 0") N1
     POD(LABELLED), GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"25: two budgets that would both allow it",
     D_ANY D_BUDGET("b", "default", "maxUnavailable: 1", "disruptionsAllowed: 1")
         D_BUDGET("c", "default", "maxUnavailable: 1", "disruptionsAllowed: 1") N1 POD(LABELLED),
     GRACEFUL, BLOCKED_POD_BUDGETS,
     "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/b default/c], Pod=default/a)", false,
     false},
    {"26: unhealthy, and the budget lets such go",
     D_ANY D_BUDGET("b", "default", "maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow", "disruptionsAllowed: 0")
         N1 D_POD_OF("a", "n1", "1", LABELLED, "", ", conditions: [{type: Ready, status: \"False\"}]"),
     GRACEFUL, BLOCKED_NOT, NULL, false, false},
    {"26: healthy",
     D_ANY D_BUDGET("b", "default", "maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow", "disruptionsAllowed: 0")
         N1 D_POD_OF("a", "n1", "1", LABELLED, "", ", conditions: [{type: Ready, status: \"True\"}]"),
     GRACEFUL, BLOCKED_POD_BUDGET, PDB_EVENT, false, false},
    {"27: who tolerates the taint is not evicted",
     D_ANY CLOSED N1 D_POD_OF("a", "n1", "1", LABELLED, "tolerations: [{operator: Exists}], ", ""), GRACEFUL,
     BLOCKED_NOT, NULL, false, false},
    {"28: drift waits for nobody where there is a grace period", D_ANY D_GRACE("n1", "") POD(D_KEEP("true")),
     DISRUPT_EVENTUAL, BLOCKED_NOT, NULL, false, false},
    {"28: without one it does", D_ANY N1 POD(D_KEEP("true")), DISRUPT_EVENTUAL, BLOCKED_POD_DO_NOT_DISRUPT,
     KEEP_EVENT, false, false},
    {"28: consolidation does all the same", D_ANY D_GRACE("n1", "") POD(D_KEEP("true")), GRACEFUL,
     BLOCKED_POD_DO_NOT_DISRUPT, KEEP_EVENT, false, false},
    {"29: budgets alike", D_ANY CLOSED D_GRACE("n1", "") POD(LABELLED), DISRUPT_EVENTUAL, BLOCKED_NOT, NULL, false,
     false},
    {"30: no such pool", N1, GRACEFUL, BLOCKED_NO_POOL, "NodePool not found (NodePool=default)", false, false},
    {"31, 248: nothing is known of what the pool buys",
     D_ANY D_POOL("other", "", "", "") D_NODE_OF("n1", "other", "t", "", "", "", "", "", D_READY)
     "---\nkind: InstanceTypes\nitems:\n- {name: t, nodePools: [default], resources: {cpu: 4, memory: 4Gi, pods: 5}, "
     "offerings: [{zone: z1, capacity: spot, price: 1}]}\n",
     GRACEFUL, BLOCKED_NO_POOL, "NodePool not found (NodePool=other)", false, false},
    {"32: no label that names a pool",
     D_ANY "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1}\nspec: {requirements: []}\n"
     "status: {providerID: \"x://n1\"}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: "
     "{karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\nspec: {providerID: \"x://n1\"}\n",
     GRACEFUL, BLOCKED_NO_LABEL, "Node doesn't have required label (label=karpenter.sh/nodepool)", false, false},
    {"32, 230: of repair",
     D_ANY "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1}\nspec: {requirements: []}\n"
     "status: {providerID: \"x://n1\"}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: "
     "{karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\nspec: {providerID: \"x://n1\"}\n",
     DISRUPT_REPAIR, BLOCKED_POOLLESS, "repair requires a NodePool to construct and budget a safe replacement", false,
     false},
    {"33: no zone, type or capacity type", D_ANY D_NODE_OF("n1", "default", "unknown", "", "", "", "", "", D_READY),
     DISRUPT_EVENTUAL, BLOCKED_NOT, NULL, false, false},
    {"34: not initialised", D_ANY COMING("karpenter.sh/registered: \"true\", "), DISRUPT_EVENTUAL,
     BLOCKED_NOT_INITIALIZED, "Node isn't initialized", false, false},
    {"34: repair takes it, and does not ask who is coming", D_ANY COMING("karpenter.sh/registered: \"true\", "),
     DISRUPT_REPAIR, BLOCKED_NOT, NULL, true, false},
    {"255: not even registered", D_ANY COMING(""), DISRUPT_REPAIR, BLOCKED_NOT_REGISTERED,
     "Node isn't initialized nor registered", false, false},
    {"35: its instance is being terminated", D_ANY D_NODE("n1", ", " D_TRUE("InstanceTerminating")), GRACEFUL,
     BLOCKED_LEAVING, "Node is deleting or marked for deletion", false, false},
    {"its claim is being deleted",
     D_ANY D_NODE_OF("n1", "default", "t", "", "", "deletionTimestamp: \"2026-01-01T11:59:00Z\", ", "", "", D_READY),
     DISRUPT_REPAIR, BLOCKED_LEAVING, "Node is deleting or marked for deletion", false, false},
    {"290: it is rebooting", D_ANY D_NODE("n1", ", " D_TRUE("Rebooting")), DISRUPT_REPAIR, BLOCKED_REBOOTING,
     "Node is rebooting", false, false},
    {"36: nobody's", D_ANY "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", GRACEFUL, BLOCKED_UNMANAGED,
     NULL, false, false},
    {"its claim has no node yet",
     D_ANY "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: "
     "default}}\nspec: {requirements: []}\n",
     GRACEFUL, BLOCKED_NO_NODE, "Nodeclaim does not have an associated node", false, false},
};

static struct candidate_facts facts_of(struct deciding *x)
{
    return (struct candidate_facts){.budgets = &x->c.world->budgets, .now = x->c.plan_options.now};
}

static void who_may_be_disrupted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        struct candidate c;
        deciding_init(&x, rows[i].objects);
        deciding_world(&x);
        struct candidate_facts facts = facts_of(&x);
        uint64_t all = UINT64_MAX;
        facts.nominated = rows[i].nominated ? &all : NULL;
        facts.queued = rows[i].queued ? &all : NULL;
        struct blocked_answer got = candidate_make(x.c.world, deciding_row(&x, "n1"), rows[i].class, &facts, &c);
        struct span event = blocked_event(&x.c.arena, &got), want = span_of(rows[i].event);
        if (got.what != rows[i].want || !span_eq(event, want))
            fail_msg("%s: got %d \"%.*s\", want %d \"%.*s\"", rows[i].label, (int)got.what, SPAN_ARG(event),
                     (int)rows[i].want, SPAN_ARG(want));
        deciding_release(&x);
    }
}

/* Repair remembers that pods are in the way. */
static void repair_knows_of_blocked_pods(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects;
        bool want;
    } pods[] = {
        {"256: a pod not to be disrupted", D_ANY N1 POD(D_KEEP("true")), true},
        {"256: a closed budget", D_ANY CLOSED N1 POD(LABELLED), true},
        {"256: neither", D_ANY CLOSED N1 POD(""), false},
    };
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        struct deciding x;
        struct candidate c;
        deciding_init(&x, pods[i].objects);
        deciding_world(&x);
        struct candidate_facts facts = facts_of(&x);
        assert_int_equal(candidate_make(x.c.world, deciding_row(&x, "n1"), DISRUPT_REPAIR, &facts, &c).what,
                         BLOCKED_NOT);
        if (c.has_pod_blockers != pods[i].want)
            fail_msg("%s: got %d", pods[i].label, c.has_pod_blockers);
        deciding_release(&x);
    }
}

#define COST(value_) "annotations: {controller.kubernetes.io/pod-deletion-cost: \"" value_ "\"}, "
#define OWN_COST(value_, other_)                                                                   \
    "annotations: {karpenter.sh/disruption-cost: \"" value_ "\", controller.kubernetes.io/pod-deletion-cost: \"" other_ "\"}, "

static void what_a_pod_costs(void **state)
{
    (void)state;
    static const struct {
        const char *label, *meta, *spec;
        double want, ranked; /* gate PodDeletionCostManagement off, on */
    } costs[] = {
        {"37: nothing is said", "", "", 1, 1},
        {"38: the most", COST("2147483647"), "", 10, 1},
        {"38: the least", COST("-2147483648"), "", -10, 1},
        {"38: one more", COST("134217728"), "", 2, 1},
        {"39: a high priority", "", "priority: 1000000000, ", 10, 10},
        {"39: a low one", "", "priority: -1000000000, ", -10, -10},
        {"39: one that counts one", "", "priority: 33554432, ", 2, 2},
        {"40: no number", COST("not-a-number"), "", 1, 1},
        {"40: a fraction", COST("1.5"), "", 1, 1},
        {"40: an exponent", COST("1e3"), "", 1, 1},
        {"40: one too many", COST("2147483648"), "", 1, 1},
        {"302: our own annotation comes first", OWN_COST("134217728", "-134217728"), "", 2, 2},
        {"302: the other one alone", COST("-134217728"), "", 0, 1},
        {"302: it is not asked where ours is wrong", OWN_COST("1.5", "-134217728"), "", 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(costs); i++) {
        struct deciding x;
        char text[700];
        snprintf(text, sizeof(text),
                 "---\napiVersion: v1\nkind: Pod\nmetadata: {%sname: a, namespace: default}\nspec: {%scontainers: []}\n",
                 costs[i].meta, costs[i].spec);
        deciding_init(&x, text);
        const struct pod *p = x.c.kinds[KIND_POD].items[0];
        double got = pod_eviction_cost(p, false), ranked = pod_eviction_cost(p, true);
        /* 2^31 - 1 over 2^27 and such: what is clamped is exact, and so is what is a power of two. */
        if (got != costs[i].want || ranked != costs[i].ranked)
            fail_msg("%s: got %g and %g, want %g and %g", costs[i].label, got, ranked, costs[i].want,
                     costs[i].ranked);
        deciding_release(&x);
    }
}

#define PRICED                                                                                     \
    "---\nkind: InstanceTypes\nitems:\n- {name: t, resources: {cpu: 4, memory: 4Gi, pods: 5}, offerings: "           \
    "[{zone: test-zone-1, capacity: spot, price: 0.4, available: false}, {zone: test-zone-2, capacity: spot, price: 9}]}\n"
#define IN(name_, zone_, claim_spec_)                                                              \
    D_NODE_OF(name_, "default", "t", "topology.kubernetes.io/zone: " zone_ ", karpenter.sh/capacity-type: spot, ", "", "", \
              claim_spec_, "", D_READY)

static void what_a_node_costs(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects;
        double price, reschedule, disruption, ratio;
        uint32_t reschedulable;
        bool empty;
    } nodes[] = {
        {"a node with nothing on it", D_ANY PRICED IN("n1", "test-zone-1", ""), 0.4, 1, 0, 0.4, 0, true},
        {"42: three plain pods",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ") D_POD("a", "n1", "1", "") D_POD("b", "n1", "1", "")
             D_POD("c", "n1", "1", ""),
         0.4, 4, 3, 0.1, 3, false},
        {"41: pods that cost less than nothing",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ") D_POD("a", "n1", "1", COST("-268435456")), 0.4, 1, -1, 0.4, 1, true},
        {"61: a DaemonSet's pod need not go elsewhere",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ") D_POD("a", "n1", "1", D_OWNER("DaemonSet")), 0.4, 1, 1, 0.4, 0, true},
        {"62: nor one that is ending",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ")
             D_POD("a", "n1", "1", D_OWNER("ReplicaSet") "deletionTimestamp: \"2026-01-01T11:59:00Z\", "),
         0.4, 1, 1, 0.4, 0, true},
        {"62: but a StatefulSet's does",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ")
             D_POD("a", "n1", "1", D_OWNER("StatefulSet") "deletionTimestamp: \"2026-01-01T11:59:00Z\", "),
         0.4, 2, 1, 0.2, 1, false},
        {"43: half its life is over",
         D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: 24h, ") D_POD("a", "n1", "1", "") D_POD("b", "n1", "1", ""),
         0.4, 3, 1, 0.4 / 3, 2, false},
        {"43: all of it", D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: 6h, ") D_POD("a", "n1", "1", ""), 0.4, 2, 0,
         0.2, 1, false},
        {"43: it never ends", D_ANY PRICED IN("n1", "test-zone-1", "expireAfter: Never, ") D_POD("a", "n1", "1", ""), 0.4,
         2, 1, 0.2, 1, false},
        {"45: no such offering", D_ANY PRICED IN("n1", "elsewhere", ""), 0, 1, 0, 0, 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        struct deciding x;
        struct candidate c;
        deciding_init(&x, nodes[i].objects);
        deciding_world(&x);
        struct candidate_facts facts = facts_of(&x);
        assert_int_equal(candidate_make(x.c.world, deciding_row(&x, "n1"), GRACEFUL, &facts, &c).what, BLOCKED_NOT);
        if (c.price != nodes[i].price || c.reschedule_cost != nodes[i].reschedule ||
            c.disruption_cost != nodes[i].disruption || c.ratio != nodes[i].ratio ||
            c.reschedulable != nodes[i].reschedulable || candidate_is_empty(&c) != nodes[i].empty)
            fail_msg("%s: price %g, to move %g, to disrupt %g, ratio %g, %u pods, empty %d", nodes[i].label, c.price,
                     c.reschedule_cost, c.disruption_cost, c.ratio, c.reschedulable, candidate_is_empty(&c));
        deciding_release(&x);
    }
}

static void the_best_ratio_comes_first(void **state)
{
    (void)state;
    struct deciding x;
    struct candidate list[] = {{.row = 2, .ratio = 0.1}, {.row = 1, .ratio = 0.1}, {.row = 0, .ratio = 0.133}};
    deciding_init(&x, D_ANY N1 D_NODE("n2", "") D_NODE("n3", ""));
    deciding_world(&x);
    assert_true(candidate_order(&list[2], &list[0], x.c.world) < 0); /* 44 */
    assert_true(candidate_order(&list[0], &list[1], x.c.world) > 0); /* equal: by name */
    deciding_release(&x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_be_disrupted),
        cmocka_unit_test(repair_knows_of_blocked_pods),
        cmocka_unit_test(what_a_pod_costs),
        cmocka_unit_test(what_a_node_costs),
        cmocka_unit_test(the_best_ratio_comes_first),
    };
    return cmocka_run_group_tests_name("candidate", tests, NULL, NULL);
}
