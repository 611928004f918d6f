#include "reconciler/empty.h"
#include "tests/reconciler/support_objects.h"

#define NODE(more)                                                                                 \
    "metadata: {name: m, uid: m, labels: {karpenter.sh/initialized: 'true'}" more "}\n"
#define CLAIM(conditions, more)                                                                    \
    "metadata: {name: c, uid: c" more "}\nstatus: {conditions: [" conditions "]}\n"
#define CONSOLIDATABLE "{type: Consolidatable, status: 'True', reason: Consolidatable}"
#define POOL(after)                                                                                \
    "metadata: {name: p, uid: p}\nspec: {disruption: {consolidateAfter: " after "}, template: "    \
    "{spec: {nodeClassRef: {group: g, kind: k, name: m}}}}\n"
#define PLAIN_NODE NODE("")
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
    {"no pool", PLAIN_NODE, PLAIN_CLAIM, NULL, NULL, NULL, false, EMPTY_UNMANAGED},
    {"a static pool", PLAIN_NODE, PLAIN_CLAIM,
     "metadata: {name: p, uid: p}\nspec: {replicas: 1, template: {spec: {nodeClassRef: {group: g, "
     "kind: k, name: m}}}}\n",
     NULL, NULL, false, EMPTY_UNMANAGED},
    {"deleted already", PLAIN_NODE,
     CLAIM(CONSOLIDATABLE, ", deletionTimestamp: '" NOW_TEXT "'"), PLAIN_POOL, NULL, NULL, false,
     EMPTY_LEAVING},
    {"not initialised", "metadata: {name: m, uid: m}\n", PLAIN_CLAIM, PLAIN_POOL, NULL, NULL,
     false, EMPTY_NOT_INITIALIZED},
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
        struct empty_facts f = {
            .node = node_of(rows[r].node),
            .claim = rows[r].claim != NULL ? claim_of(rows[r].claim) : NULL,
            .pool = rows[r].pool != NULL ? pool_of(rows[r].pool) : NULL,
            .nominated = rows[r].nominated,
            .pods = &pod,
            .pod_count = pod != NULL,
            .budgets = &budget,
            .budget_count = budget != NULL,
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
        struct empty_facts f = {.node = node_of(PLAIN_NODE),
                                .claim = claim_of(PLAIN_CLAIM),
                                .pool = pool_of(PLAIN_POOL),
                                .pods = &pod,
                                .pod_count = pod != NULL,
                                .budgets = budgets,
                                .budget_count = count,
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(what_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
