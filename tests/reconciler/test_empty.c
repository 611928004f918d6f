#include "reconciler/disruption/empty.h"
#include "tests/reconciler/support_objects.h"

#define NODE(more)                                                                                 \
    "metadata: {name: m, uid: m, labels: {karpenter.sh/initialized: 'true'}" more "}\n"
#define CLAIM(conditions, more)                                                                    \
    "metadata: {name: c, uid: c" more "}\nstatus: {conditions: [" conditions "]}\n"
#define CONSOLIDATABLE "{type: Consolidatable, status: 'True', reason: Consolidatable}"
#define POOL(after)                                                                                \
    "metadata: {name: p, uid: p}\nspec: {disruption: {consolidateAfter: " after "}, template: "    \
    "{spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n"
#define WEB_DAEMON(status)                                                                         \
    "metadata: {name: d, namespace: d, uid: d, labels: {app: x}, ownerReferences: [{apiVersion: "  \
    "apps/v1, kind: DaemonSet, name: o, uid: o}]}\nstatus: {" status "}\n"
#define ALWAYS_ALLOW                                                                               \
    "metadata: {name: b, namespace: d, uid: b}\nspec: {maxUnavailable: 0, "                        \
    "unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchLabels: {app: x}}}\n"                \
    "status: {disruptionsAllowed: 0}\n"
#define PLAIN_NODE NODE("")
#define REGISTERED_NODE "metadata: {name: m, uid: m, labels: {karpenter.sh/registered: 'true'}}\n"
#define PLAIN_CLAIM CLAIM(CONSOLIDATABLE, "")
#define PLAIN_POOL POOL("0s")

static const struct {
    const char *label;
    const char *node, *claim, *pool, *pod, *budget;
    bool nominated;
    enum empty_verdict want;
} rows[] = {
    {"no pods", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL, NULL, NULL, false, EMPTY_YES},
    {"no claim", PLAIN_NODE, NULL, PLAIN_POOL, NULL, NULL, false, EMPTY_UNMANAGED},
    {"no pool", PLAIN_NODE, PLAIN_CLAIM, NULL, NULL, NULL, false, EMPTY_NO_POOL},
    {"a static pool", PLAIN_NODE, PLAIN_CLAIM,
     "metadata: {name: p, uid: p}\nspec: {replicas: 1, template: {spec: {nodeClassRef: {group: g, "
     "kind: k, name: m}}}}\n",
     NULL, NULL, false, EMPTY_STATIC},
    {"deleted already", PLAIN_NODE,
     CLAIM(CONSOLIDATABLE, ", deletionTimestamp: '" NOW_TEXT "'"), PLAIN_POOL, NULL, NULL, false,
     EMPTY_LEAVING},
    {"its machine is going", PLAIN_NODE, CLAIM(CONSOLIDATABLE ", {type: InstanceTerminating, status: 'True', reason: R}", ""), PLAIN_POOL,
     NULL, NULL, false, EMPTY_LEAVING},
    {"not registered", "metadata: {name: m, uid: m}\n", PLAIN_CLAIM, PLAIN_POOL, NULL, NULL,
     false, EMPTY_NOT_REGISTERED},
    {"not initialised", REGISTERED_NODE, PLAIN_CLAIM, PLAIN_POOL, NULL, NULL, false,
     EMPTY_NOT_INITIALIZED},
    {"nominated", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL, NULL, NULL, true, EMPTY_NOMINATED},
    {"do-not-disrupt", NODE(", annotations: {karpenter.sh/do-not-disrupt: 'true'}"), PLAIN_CLAIM,
     PLAIN_POOL, NULL, NULL, false, EMPTY_DO_NOT_DISRUPT},
    {"on a node only exactly true counts",
     NODE(", annotations: {karpenter.sh/do-not-disrupt: '10m'}"), PLAIN_CLAIM, PLAIN_POOL, NULL,
     NULL, false, EMPTY_YES},
    {"only a DaemonSet pod", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: d, namespace: d, uid: d, ownerReferences: [{apiVersion: apps/v1, kind: "
     "DaemonSet, name: o, uid: o}]}\n",
     NULL, false, EMPTY_YES},
    {"a DaemonSet pod that must not be disrupted", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: d, namespace: d, uid: d, annotations: {karpenter.sh/do-not-disrupt: "
     "'true'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: o, uid: o}]}\n",
     NULL, false, EMPTY_POD_DO_NOT_DISRUPT},
    {"a DaemonSet pod that a budget holds", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: d, namespace: d, uid: d, labels: {app: x}, ownerReferences: [{apiVersion: "
     "apps/v1, kind: DaemonSet, name: o, uid: o}]}\n",
     "metadata: {name: b, namespace: d, uid: b}\nspec: {maxUnavailable: 0, selector: {matchLabels: "
     "{app: x}}}\nstatus: {disruptionsAllowed: 0}\n",
     false, EMPTY_POD_BUDGET},
    {"a budget that lets one go", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: d, namespace: d, uid: d, labels: {app: x}, ownerReferences: [{apiVersion: "
     "apps/v1, kind: DaemonSet, name: o, uid: o}]}\n",
     "metadata: {name: b, namespace: d, uid: b}\nspec: {maxUnavailable: 1, selector: {matchLabels: "
     "{app: x}}}\nstatus: {disruptionsAllowed: 1}\n",
     false, EMPTY_YES},
    {"a budget of which any pod may go that is not ready", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     WEB_DAEMON("conditions: [{type: Ready, status: 'False'}]"), ALWAYS_ALLOW, false, EMPTY_YES},
    {"of which one that is ready may not", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     WEB_DAEMON("conditions: [{type: Ready, status: 'True'}]"), ALWAYS_ALLOW, false, EMPTY_POD_BUDGET},
    {"nor one of which nobody says so", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL, WEB_DAEMON("phase: Running"),
     ALWAYS_ALLOW, false, EMPTY_POD_BUDGET},
    {"a running pod", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: a, namespace: d, uid: a}\n", NULL, false, EMPTY_HAS_PODS},
    {"a ReplicaSet's pod that is ending", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: a, namespace: d, uid: a, deletionTimestamp: '" NOW_TEXT
     "', ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: o, uid: o}]}\n",
     NULL, false, EMPTY_YES},
    {"a StatefulSet's pod that is ending", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL,
     "metadata: {name: a, namespace: d, uid: a, deletionTimestamp: '" NOW_TEXT
     "', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: o, uid: o}]}\n",
     NULL, false, EMPTY_HAS_PODS},
    {"consolidateAfter Never", PLAIN_NODE, PLAIN_CLAIM, POOL("Never"), NULL, NULL, false,
     EMPTY_NEVER},
    {"not consolidatable yet", PLAIN_NODE, CLAIM("", ""), PLAIN_POOL, NULL, NULL, false,
     EMPTY_NOT_CONSOLIDATABLE},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        objects_begin();
        const struct pod *pod = rows[r].pod != NULL ? pod_of(rows[r].pod) : NULL;
        const struct disruption_budget *budget =
            rows[r].budget != NULL ? budget_of(rows[r].budget) : NULL;
        struct pod_budgets all = pod_budgets_make(objects_arena(), &budget, budget != NULL);
        struct empty_facts f = {
            .node = node_of(rows[r].node),
            .claim = rows[r].claim != NULL ? claim_of(rows[r].claim) : NULL,
            .pool = rows[r].pool != NULL ? pool_of(rows[r].pool) : NULL,
            .pool_name = SPAN("p"),
            .nominated = rows[r].nominated,
            .pods = &pod,
            .pod_count = pod != NULL,
            .budgets = &all,
            .now = NOW,
        };
        struct empty_answer got = empty_judge(&f);
        if (got.verdict != rows[r].want)
            fail_msg("%s: \"%.*s\", verdict %d, not %d", rows[r].label,
                     SPAN_ARG(empty_sentence(objects_arena(), &got)), got.verdict, rows[r].want);
        objects_clear();
    }
}

#define WEB_POD(more) "metadata: {name: web-1, namespace: shop, uid: a, labels: {app: web}" more "}\n"
#define BUDGET(name, status)                                                                       \
    "metadata: {name: " name ", namespace: shop, uid: " name "}\n"                                 \
    "spec: {selector: {matchLabels: {app: web}}}\nstatus: {" status "}\n"

static const struct {
    const char *label, *pod;
    const char *budgets[2];
    const char *want;
} said[] = {
    {"nothing in the way", NULL, {0}, "nothing runs on it"},
    {"the pod's annotation", WEB_POD(", annotations: {karpenter.sh/do-not-disrupt: 'true'}"), {0},
     "pod shop/web-1 has annotation karpenter.sh/do-not-disrupt"},
    {"a budget, and how many it keeps", WEB_POD(""),
     {BUDGET("web", "disruptionsAllowed: 0, expectedPods: 2, desiredHealthy: 2, currentHealthy: 2")},
     "PodDisruptionBudget shop/web allows no eviction (2 of 2 must stay)"},
    {"a budget of pods that are not well", WEB_POD(""),
     {BUDGET("web", "disruptionsAllowed: 0, expectedPods: 3, desiredHealthy: 1, currentHealthy: 1")},
     "PodDisruptionBudget shop/web allows no eviction (1 of 3 must stay, 1 is ready)"},
    {"a budget that nobody has looked at", WEB_POD(""), {BUDGET("web", "")},
     "PodDisruptionBudget shop/web allows no eviction"},
    {"two budgets, however much they allow", WEB_POD(""),
     {BUDGET("web", "disruptionsAllowed: 1"), BUDGET("all", "disruptionsAllowed: 1")},
     "PodDisruptionBudgets shop/web and shop/all both select pod shop/web-1, which eviction does not "
     "support"},
};

/* The checks that keep a node from being a candidate, in Karpenter v1.15.0's order, and what it says of each
 * on Node and NodeClaim. Each row also fails the checks after it. */
#define KEPT_POD WEB_POD(", annotations: {karpenter.sh/do-not-disrupt: 'true'}")
#define DELETED ", deletionTimestamp: '" NOW_TEXT "'"
#define KEPT ", annotations: {karpenter.sh/do-not-disrupt: 'true'}"
#define CLOSED BUDGET("web", "disruptionsAllowed: 0")

static const struct {
    const char *label, *node, *claim, *pool, *pool_name;
    bool nominated;
    const char *pod, *budgets[2], *want; /* NULL: no Event */
} blocked[] = {
    {"2 not ours", NODE(KEPT), NULL, NULL, "", true, KEPT_POD, {CLOSED}, NULL},
    {"4 rebooting", NODE(KEPT), CLAIM("{type: Rebooting, status: 'True', reason: R}", DELETED), NULL, "", true,
     KEPT_POD, {CLOSED}, "Node is rebooting"},
    {"5 the claim is deleted", "metadata: {name: m, uid: m}\n", CLAIM("", DELETED), NULL, "", true, KEPT_POD,
     {CLOSED}, "Node is deleting or marked for deletion"},
    {"5 the Node is deleted", "metadata: {name: m, uid: m" DELETED "}\n", PLAIN_CLAIM, NULL, "", true, KEPT_POD,
     {CLOSED}, "Node is deleting or marked for deletion"},
    {"6 not registered", "metadata: {name: m, uid: m" KEPT "}\n", PLAIN_CLAIM, NULL, "", true, KEPT_POD, {CLOSED},
     "Node isn't initialized nor registered"},
    {"6 not initialised", REGISTERED_NODE, PLAIN_CLAIM, NULL, "", true, KEPT_POD, {CLOSED},
     "Node isn't initialized"},
    {"7 nominated", NODE(KEPT), PLAIN_CLAIM, NULL, "", true, KEPT_POD, {CLOSED},
     "Node is nominated for a pending pod"},
    {"8 its annotation", NODE(KEPT), PLAIN_CLAIM, NULL, "", false, KEPT_POD, {CLOSED},
     "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation"},
    {"9 no label", PLAIN_NODE, PLAIN_CLAIM, NULL, "", false, KEPT_POD, {CLOSED},
     "Node doesn't have required label (label=karpenter.sh/nodepool)"},
    {"10 no pool", PLAIN_NODE, PLAIN_CLAIM, NULL, "gone", false, KEPT_POD, {CLOSED},
     "NodePool not found (NodePool=gone)"},
    {"11 a pod's annotation", PLAIN_NODE, PLAIN_CLAIM, POOL("Never"), "p", false, KEPT_POD, {CLOSED},
     "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=shop/web-1)"},
    {"12 a budget", PLAIN_NODE, PLAIN_CLAIM, POOL("Never"), "p", false, WEB_POD(""), {CLOSED},
     "Pdb prevents pod evictions (PodDisruptionBudget=[shop/web], Pod=shop/web-1)"},
    {"12 two budgets", PLAIN_NODE, PLAIN_CLAIM, POOL("Never"), "p", false, WEB_POD(""),
     {CLOSED, BUDGET("all", "disruptionsAllowed: 9")},
     "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[shop/web shop/all], Pod=shop/web-1)"},
    {"consolidation is off", PLAIN_NODE, PLAIN_CLAIM, POOL("Never"), "p", false, NULL, {0},
     "NodePool \"p\" has consolidation disabled"},
    {"a candidate", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL, "p", false, NULL, {0}, NULL},
    {"only too early", PLAIN_NODE, CLAIM("", ""), PLAIN_POOL, "p", false, NULL, {0}, NULL},
    {"only in use", PLAIN_NODE, PLAIN_CLAIM, PLAIN_POOL, "p", false, WEB_POD(""), {0}, NULL},
};

static void what_an_event_says(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(blocked); r++) {
        objects_begin();
        const struct pod *pod = blocked[r].pod != NULL ? pod_of(blocked[r].pod) : NULL;
        const struct disruption_budget *budgets[2];
        uint32_t count = 0;
        for (; count < 2 && blocked[r].budgets[count] != NULL; count++)
            budgets[count] = budget_of(blocked[r].budgets[count]);
        struct pod_budgets all = pod_budgets_make(objects_arena(), budgets, count);
        struct empty_facts f = {
            .node = node_of(blocked[r].node),
            .claim = blocked[r].claim != NULL ? claim_of(blocked[r].claim) : NULL,
            .pool = blocked[r].pool != NULL ? pool_of(blocked[r].pool) : NULL,
            .pool_name = span_of(blocked[r].pool_name),
            .nominated = blocked[r].nominated,
            .pods = &pod,
            .pod_count = pod != NULL,
            .budgets = &all,
            .now = NOW,
        };
        struct empty_answer x = empty_judge(&f);
        struct span got = empty_event(objects_arena(), &x);
        if (!span_eq(got, span_of(blocked[r].want)))
            fail_msg("%s: \"%.*s\"", blocked[r].label, SPAN_ARG(got));
        objects_clear();
    }
}

static void what_is_said(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(said); r++) {
        objects_begin();
        const struct pod *pod = said[r].pod != NULL ? pod_of(said[r].pod) : NULL;
        const struct disruption_budget *budgets[2];
        uint32_t count = 0;
        for (; count < 2 && said[r].budgets[count] != NULL; count++)
            budgets[count] = budget_of(said[r].budgets[count]);
        struct pod_budgets all = pod_budgets_make(objects_arena(), budgets, count);
        struct empty_facts f = {.node = node_of(PLAIN_NODE),
                                .claim = claim_of(PLAIN_CLAIM),
                                .pool = pool_of(PLAIN_POOL),
                                .pods = &pod,
                                .pod_count = pod != NULL,
                                .budgets = &all,
                                .now = NOW};
        struct empty_answer x = empty_judge(&f);
        struct span got = empty_sentence(objects_arena(), &x);
        if (!span_eq(got, span_of(said[r].want)))
            fail_msg("%s: \"%.*s\"", said[r].label, SPAN_ARG(got));
        objects_clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(what_is_said),
                                       cmocka_unit_test(what_an_event_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
