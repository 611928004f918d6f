/* What if nodes were gone (plan contract 2, --remove and --remove-for). */
#include "check/check.h"
#include "support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define NOW "2026-01-01T12:00:00Z"
#define POOL(limits_)                                                                              \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {" limits_ "disruption: {consolidateAfter: 10m}, template: {spec: {requirements: []}}}\n"
#define LABELS                                                                                     \
    "{karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: default-instance-type, "   \
    "topology.kubernetes.io/zone: test-zone-1, karpenter.sh/capacity-type: spot, "                 \
    "kubernetes.io/arch: amd64"
/* Initialised at `since`; 4 CPUs. */
#define NODE(name_, since_, status_)                                                               \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                   \
    ", labels: " LABELS "}}\nspec: {}\nstatus: {providerID: \"x://" name_                          \
    "\", capacity: {cpu: 4, memory: 4Gi, pods: 5}, allocatable: {cpu: 4, memory: 4Gi, pods: 5}, "  \
    "conditions: [{type: Initialized, status: \"True\", lastTransitionTime: \"" since_ "\"}]"      \
    status_ "}\n"                                                                                  \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: " LABELS                 \
    ", karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\n"                  \
    "spec: {providerID: \"x://" name_ "\"}\nstatus: {capacity: {cpu: 4, memory: 4Gi, pods: 5}, "   \
    "allocatable: {cpu: 4, memory: 4Gi, pods: 5}}\n"
#define LONG_AGO "2026-01-01T00:00:00Z"
#define JUST_NOW "2026-01-01T11:59:00Z"
#define POD(name_, meta_, spec_, status_)                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ meta_ "}\nspec: {" spec_             \
    "containers: [{name: c, resources: {requests: {cpu: 1}}}]}\nstatus: {" status_ "}\n"
#define BOUND(name_, node_, meta_) POD(name_, meta_, "nodeName: " node_ ", ", "phase: Running")
#define PENDING(name_)                                                                             \
    POD(name_, "", "", "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "     \
                       "reason: Unschedulable}]")
#define DAEMON_OWNED                                                                               \
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]"
#define PINNED ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}"
#define BUDGET_IN(ns_, spec_)                                                                      \
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: " ns_    \
    "}\nspec: {" spec_ ", selector: {matchLabels: {app: x}}}\n"
#define BUDGET BUDGET_IN("default", "maxUnavailable: 0")

static const struct {
    const char *label, *objects;
    const char *removed[2];
    enum removal why;
    const char *want;
} rows[] = {
    {"nothing is removed", POOL("") NODE("n1", LONG_AGO, "") BOUND("a", "n1", ""), {0},
     REMOVAL_CONSOLIDATION, ""},
    {"its pods go where there is room",
     POOL("") NODE("n1", LONG_AGO, "") NODE("n2", LONG_AGO, "") BOUND("a", "n1", ""), {"n1"},
     REMOVAL_CONSOLIDATION, "node n2: a\n"},
    {"or to what is bought; its own room is not used", POOL("") NODE("n1", LONG_AGO, "")
     BOUND("a", "n1", "") PENDING("p"), {"n1"}, REMOVAL_CONSOLIDATION,
     "default-1 default-instance-type/4: a p\n"},
    {"two at once", POOL("") NODE("n1", LONG_AGO, "") NODE("n2", LONG_AGO, "") BOUND("a", "n1", "")
     BOUND("b", "n2", ""), {"n1", "n2"}, REMOVAL_CONSOLIDATION,
     "default-1 default-instance-type/4: a b\n"},
    {"DaemonSet pods go with it", POOL("") NODE("n1", LONG_AGO, "") BOUND("a", "n1", DAEMON_OWNED),
     {"n1"}, REMOVAL_DRIFT, ""},
    {"what it counted comes back to the limits", POOL("limits: {nodes: 1}, ")
     NODE("n1", LONG_AGO, "") BOUND("a", "n1", ""), {"n1"}, REMOVAL_DRIFT,
     "default-1 small-instance-type/6: a\n"},
    {"while it stands they are full", POOL("limits: {nodes: 1}, ") NODE("n1", LONG_AGO, "")
     BOUND("a", "n1", "") POD("p", "", "nodeSelector: {kubernetes.io/arch: arm64}, ",
     "phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]"),
     {0}, REMOVAL_DRIFT, "p Unschedulable\n"},
    {"a node within consolidateAfter takes no pod of it",
     POOL("") NODE("n1", LONG_AGO, "") NODE("n2", JUST_NOW, "") BOUND("a", "n1", ""), {"n1"},
     REMOVAL_CONSOLIDATION, "default-1 small-instance-type/6: a\n"},
    {"its last pod came or went just now", POOL("") NODE("n1", LONG_AGO, "")
     NODE("n2", LONG_AGO, ", lastPodEventTime: \"" JUST_NOW "\"") BOUND("a", "n1", ""), {"n1"},
     REMOVAL_CONSOLIDATION, "default-1 small-instance-type/6: a\n"},
    {"but a pending one of the same shape", POOL("") NODE("n1", LONG_AGO, "")
     NODE("n2", JUST_NOW, "") BOUND("a", "n1", "") PENDING("p"), {"n1"}, REMOVAL_CONSOLIDATION,
     "default-1 small-instance-type/6: a\nnode n2: p\n"},
    {"drift does not mind", POOL("") NODE("n1", LONG_AGO, "") NODE("n2", JUST_NOW, "")
     BOUND("a", "n1", ""), {"n1"}, REMOVAL_DRIFT, "node n2: a\n"},
    {"who must not be disrupted stays", POOL("") NODE("n1", LONG_AGO, "")
     BOUND("a", "n1", PINNED), {"n1"}, REMOVAL_DRIFT, ""},
    {"who a budget never lets go stays", POOL("") BUDGET NODE("n1", LONG_AGO, "")
     BOUND("a", "n1", ", labels: {app: x}"), {"n1"}, REMOVAL_DRIFT, ""},
    {"but not by a budget of another namespace", POOL("") BUDGET_IN("other", "maxUnavailable: 0")
     NODE("n1", LONG_AGO, "") BOUND("a", "n1", ", labels: {app: x}"), {"n1"}, REMOVAL_DRIFT,
     "default-1 small-instance-type/6: a\n"},
    {"nor while it is unhealthy, where that is allowed", POOL("")
     BUDGET_IN("default", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow") NODE("n1", LONG_AGO, "")
     POD("a", ", labels: {app: x}", "nodeName: n1, ",
         "phase: Running, conditions: [{type: Ready, status: \"False\"}]"),
     {"n1"}, REMOVAL_DRIFT, "default-1 small-instance-type/6: a\n"},
    {"a healthy one it does hold", POOL("")
     BUDGET_IN("default", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow") NODE("n1", LONG_AGO, "")
     POD("a", ", labels: {app: x}", "nodeName: n1, ",
         "phase: Running, conditions: [{type: Ready, status: \"True\"}]"),
     {"n1"}, REMOVAL_DRIFT, ""},
    {"who has two budgets cannot be evicted at all", POOL("") BUDGET_IN("default", "maxUnavailable: 1")
     "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: c}\nspec: {maxUnavailable: 1, "
     "selector: {matchLabels: {app: x}}}\n" NODE("n1", LONG_AGO, "") BOUND("a", "n1", ", labels: {app: x}"),
     {"n1"}, REMOVAL_DRIFT, ""},
    {"repair plans both", POOL("") BUDGET NODE("n1", LONG_AGO, "") BOUND("a", "n1", PINNED)
     BOUND("b", "n1", ", labels: {app: x}"), {"n1"}, REMOVAL_REPAIR,
     "default-1 default-instance-type/4: a b\n"},
};

static void what_if(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, rows[i].objects);
        for (size_t n = 0; n < COUNT_OF(rows[i].removed) && rows[i].removed[n] != NULL; n++)
            c.removed[n] = span_of(rows[i].removed[n]);
        c.plan_options.removed_for = rows[i].why;
        assert_true(time_parse(SPAN(NOW), &c.plan_options.now));
        cluster_plan(&c);
        struct span got = cluster_summary(&c);
        if (!span_eq(got, span_of(rows[i].want)))
            fail_msg("%s: got\n%.*swant\n%s", rows[i].label, SPAN_ARG(got), rows[i].want);
        cluster_release(&c);
    }
}

static void cost_is_what_stays(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL("") NODE("n1", LONG_AGO, "") NODE("n2", LONG_AGO, "") BOUND("a", "n1", ""));
    c.removed[0] = SPAN("n1");
    c.plan_options.removed_for = REMOVAL_DRIFT;
    const struct plan *p = cluster_plan(&c);
    assert_true(p->cost_before > 0);
    assert_true(p->cost_after == p->cost_before / 2);
    assert_int_equal(p->waiting, 1);
    cluster_release(&c);
}

/* A plan made for one reason and held against the rules of another. */
static void the_check_sees_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *objects;
        enum removal made_for, held_against;
        const char *want;
    } checks[] = {
        {POOL("") NODE("n1", LONG_AGO, "") NODE("n2", JUST_NOW, "") BOUND("a", "n1", ""),
         REMOVAL_DRIFT, REMOVAL_CONSOLIDATION,
         "node n2 is within consolidateAfter and takes default/a of a removed node\n"},
        {POOL("") NODE("n1", LONG_AGO, "") BOUND("a", "n1", PINNED), REMOVAL_DRIFT, REMOVAL_REPAIR,
         "pod default/a is not in the plan\n"},
    };
    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        struct cluster c;
        struct err err;
        cluster_init(&c);
        cluster_types_c0(&c);
        cluster_add(&c, checks[i].objects);
        c.removed[0] = SPAN("n1");
        c.plan_options.removed_for = checks[i].made_for;
        assert_true(time_parse(SPAN(NOW), &c.plan_options.now));
        cluster_plan(&c);
        c.plan_options.removed_for = checks[i].held_against;
        assert_false(check_plan(&c, c.plan, &err));
        assert_string_equal(err.msg, checks[i].want);
        cluster_release(&c);
    }
}

/* --- a removal for drift is what a deletionTimestamp would be --- */

static void delete_node(struct cluster *c, struct span name)
{
    for (size_t k = 0; k < 2; k++) {
        enum kind kind = k == 0 ? KIND_NODE_CLAIM : KIND_NODE;
        for (size_t i = 0; i < c->kinds[kind].count; i++) {
            struct meta *m = (struct meta *)(uintptr_t)c->kinds[kind].items[i]; /* first in both */
            if (!span_eq(m->name, name))
                continue;
            m->deleted = 1;
            return; /* a Node with a NodeClaim goes by its claim */
        }
    }
}

static uint32_t same_as_deleted(uint64_t seed)
{
    struct random_cluster r;
    struct draws d = {.state = seed};
    random_cluster_make(&r, &d);
    struct cluster removed, deleted;
    random_cluster_load(&r, 0, &removed);
    random_cluster_load(&r, 0, &deleted);
    removed.removed[0] = SPAN("node0");
    removed.plan_options.removed_for = REMOVAL_DRIFT;
    delete_node(&deleted, SPAN("node0"));
    uint32_t moved = cluster_plan(&removed)->waiting;
    cluster_plan(&deleted);
    struct span got = cluster_summary(&removed), want = cluster_summary(&deleted);
    if (!span_eq(got, want))
        fail_msg("seed %llu: removed\n%.*sdeleted\n%.*s", (unsigned long long)seed, SPAN_ARG(got),
                 SPAN_ARG(want));
    removed.removed[0].len = 0;
    moved -= cluster_plan(&removed)->waiting;
    removed.removed[0] = SPAN("node0");
    removed.removed[1] = SPAN("node1");
    removed.plan_options.removed_for = seed % 2 == 0 ? REMOVAL_CONSOLIDATION : REMOVAL_REPAIR;
    cluster_plan(&removed); /* which breaks no rule */
    cluster_release(&removed);
    cluster_release(&deleted);
    random_cluster_release(&r);
    return moved;
}

static void removed_is_as_deleted(void **state)
{
    (void)state;
    enum { SEEDS = 100 };
    uint32_t moved = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        moved += same_as_deleted(seed);
    assert_true(moved > SEEDS / 10); /* clusters in which nobody moves would prove nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_if),
        cmocka_unit_test(cost_is_what_stays),
        cmocka_unit_test(the_check_sees_the_reason),
        cmocka_unit_test(removed_is_as_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
