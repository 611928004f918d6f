/* Which pods of a ReplicaSet go first when it is scaled down (spec disruption 13.9, scenarios 307 to 312). */
#include "planner/disruption/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/columns.h"
#include "support_disruption.h"

#define RS D_OWNER("ReplicaSet")
#define JOB "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: o, uid: u, controller: true}], "
#define COST(value_) "annotations: {controller.kubernetes.io/pod-deletion-cost: \"" value_ "\"}, "
#define POD(name_, node_) D_POD(name_, node_, "100m", RS)
#define OLD(name_, node_) D_POD(name_, node_, "100m", RS COST("7")) /* a person has written that */
#define MORE(name_, node_, meta_) D_POD(name_, node_, "100m", meta_)
#define SYSTEM(name_, node_)                                                                                          \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", namespace: kube-system}\n"                            \
    "spec: {nodeName: " node_ ", containers: []}\nstatus: {phase: Running}\n"
/* A node that somebody has begun to take away. */
#define TAINTED                                                                                                        \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: n1, labels: {karpenter.sh/nodepool: default}}\n" \
    "spec: {requirements: []}\nstatus: {providerID: \"x://n1\", conditions: [" D_TRUE("Initialized") "]}\n"         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {" D_KEEP("true") "name: n1, labels: {karpenter.sh/nodepool: default, " \
    "karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\nspec: {providerID: \"x://n1\", "     \
    "taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}\n"                                                   \
    "status: {allocatable: {cpu: 4, memory: 4Gi, pods: 5}, conditions: [" D_READY "]}\n"
#define POOL(name_, disruption_) D_POOL(name_, disruption_, "", "")
#define ALL "consolidateAfter: 0s, budgets: [{nodes: \"100%\"}]"
#define OF(name_, pool_, conditions_)                                                                                  \
    D_NODE_OF(name_, pool_, "default-instance-type", D_PLACE, "", "", "", conditions_, D_READY)
#define KEPT_NODE(name_) D_NODE_OF(name_, "default", "default-instance-type", D_PLACE, D_KEEP("true"), "", "", "", D_READY)

static const struct {
    const char *label, *objects, *want; /* "pod=value ", in the order of changes */
    const char *queued;
    const char *more; /* objects */
} rows[] = {
    {"307: equal nodes by name", D_ANY D_NODE("n1", "") D_NODE("n2", "") D_NODE("n3", ""), "a=-3 b=-2 c=-1 ", NULL,
     POD("a", "n1") POD("b", "n2") POD("c", "n3")},
    {"307: one that drifted before the others",
     D_ANY D_NODE("n1", "") D_NODE("n2", D_DRIFTED) POD("a", "n1") POD("b", "n2"), "b=-2 a=-1 ", NULL, NULL},
    {"307: who saves most for what moving costs comes first",
     D_ANY D_NODE("n1", "") D_NODE("n2", "") POD("a", "n1") POD("b", "n1") POD("c", "n2"), "c=-2 a=-1 b=-1 ", NULL, NULL},
    {"307: on its way out, whatever it says", D_ANY D_NODE("n2", "") TAINTED POD("a", "n1") POD("b", "n2"),
     "a=-2147483648 b=-1 ", NULL, NULL},
    {"307: a command has it", D_ANY D_NODE("n1", "") D_NODE("n2", "") POD("a", "n1") POD("b", "n2"), "b=-2147483648 a=-1 ", "n2", NULL},
    {"307: its claim is being deleted",
     D_ANY D_NODE("n1", "") D_NODE_OF("n2", "default", "default-instance-type", D_PLACE, "", "deletionTimestamp: \"2026-01-01T11:00:00Z\", ", "", "", D_READY)
         POD("a", "n1") POD("b", "n2"),
     "b=-2147483648 a=-1 ", NULL, NULL},
    {"what is there already is no change", D_ANY D_NODE("n1", "") MORE("a", "n1", RS COST("-1")), "", NULL, NULL},
    {"what somebody else wrote is overwritten", D_ANY D_NODE("n1", "") OLD("a", "n1"), "a=-1 ", NULL, NULL},
    {"and does not count as what moving the pod costs",
     D_ANY D_NODE("n1", "") D_NODE("n2", "") MORE("a", "n1", RS COST("2147483647")) POD("b", "n2"), "a=-2 b=-1 ", NULL, NULL},

    {"308: the node's do-not-disrupt", D_ANY KEPT_NODE("n1") OLD("a", "n1"), "a=no ", NULL, NULL},
    {"308: nothing to take away is no change", D_ANY KEPT_NODE("n1") POD("a", "n1"), "", NULL, NULL},
    {"308: a budget holds a pod",
     D_ANY D_NODE("n1", "") OLD("a", "n1") MORE("b", "n1", RS "labels: {app: x}, ")
         D_BUDGET("b", "default", "maxUnavailable: 1", "disruptionsAllowed: 0"),
     "a=no ", NULL, NULL},
    {"308: a pod says do-not-disrupt", D_ANY D_NODE("n1", "") OLD("a", "n1") MORE("b", "n1", RS D_KEEP("true")), "a=no ", NULL, NULL},
    {"308: terminationGracePeriod is no matter", D_ANY D_GRACE("n1", "") OLD("a", "n1") MORE("b", "n1", RS D_KEEP("true")), "a=no ", NULL, NULL},
    {"308: a StatefulSet's pod", D_ANY D_NODE("n1", "") OLD("a", "n1") MORE("b", "n1", D_OWNER("StatefulSet")), "a=no ", NULL, NULL},
    {"308: a bare pod", D_ANY D_NODE("n1", "") OLD("a", "n1") MORE("b", "n1", ""), "a=no ", NULL, NULL},
    {"308: but for those of kube-system", D_ANY D_NODE("n1", "") OLD("a", "n1") SYSTEM("b", "n1"), "a=-1 ", NULL, NULL},
    {"308: a Job's and a DaemonSet's do not pin", D_ANY D_NODE("n1", "") OLD("a", "n1") MORE("b", "n1", JOB) MORE("c", "n1", D_OWNER("DaemonSet")),
     "a=-1 ", NULL, NULL},
    {"308: consolidateAfter Never", POOL("default", "consolidateAfter: Never, budgets: [{nodes: \"100%\"}]") D_NODE("n1", "") OLD("a", "n1"),
     "a=no ", NULL, NULL},
    {"308: one that drifted is ranked there", POOL("default", "consolidateAfter: Never, budgets: [{nodes: \"100%\"}]") D_NODE("n1", D_DRIFTED) OLD("a", "n1"),
     "a=-1 ", NULL, NULL},
    {"308: of a static pool as any other", D_ANY D_POOL("fixed", ALL, "replicas: 1, ", "") OF("n1", "fixed", D_DRIFTED) D_NODE("n2", D_DRIFTED)
         POD("a", "n1") POD("b", "n2"),
     "b=-2 a=-1 ", NULL, NULL},
    {"308: of a type that its pool is not offered",
     D_ANY D_NODE_OF("n1", "default", "no-such-type", D_PLACE, "", "", "", "", D_READY) OLD("a", "n1"), "a=no ", NULL, NULL},
    {"308: over the budget", POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"1\"}]") D_NODE("n1", "") D_NODE("n2", "") OLD("a", "n1") OLD("b", "n2"),
     "a=-1 b=no ", NULL, NULL},
    {"308: each reason by its own", POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"0\", reasons: [Drifted]}]") D_NODE("n1", D_DRIFTED)
         D_NODE("n2", "") OLD("a", "n1") OLD("b", "n2"),
     "b=-1 a=no ", NULL, NULL},
    {"308: and each pool", POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"1\"}]") POOL("two", "consolidateAfter: 0s, budgets: [{nodes: \"1\"}]")
         D_NODE("n1", "") D_NODE("n2", "") OF("n3", "two", ""),
     "a=-2 c=-1 b=no ", NULL, OLD("a", "n1") OLD("b", "n2") OLD("c", "n3")},

    {"none of a pool that only recommends", "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, annotations: {"
     "stowage.dev/mode: \"act, Underutilized=recommend\"}}\nspec: {disruption: {" ALL "}, template: {spec: {requirements: []}}}\n"
     D_NODE("n1", "") D_NODE("n2", D_DRIFTED) OLD("a", "n1") OLD("b", "n2"), "b=-1 a=no ", NULL, NULL},

    {"309: only a ReplicaSet's", D_ANY D_NODE("n1", "") MORE("a", "n1", JOB) MORE("b", "n1", D_OWNER("DaemonSet")) POD("c", "n1"), "c=-1 ", NULL, NULL},
    {"309: that does not control it", D_ANY D_NODE("n1", "")
         MORE("a", "n1", COST("7") "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: o, uid: u}, {apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}], "),
     "", NULL, NULL},
    {"309: of another group", D_ANY D_NODE("n1", "")
         MORE("a", "n1", COST("7") "ownerReferences: [{apiVersion: example.com/v1, kind: ReplicaSet, name: o, uid: u, controller: true}], "),
     "", NULL, NULL},
    {"309: not one that ends", D_ANY D_NODE("n1", "") MORE("a", "n1", RS "deletionTimestamp: \"2026-01-01T11:59:00Z\", "), "", NULL, NULL},

    {"312: a node of nobody that is being deleted",
     D_ANY "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, deletionTimestamp: \"2026-01-01T11:59:00Z\"}\n"
     "spec: {providerID: \"x://n1\"}\nstatus: {allocatable: {cpu: 4, memory: 4Gi, pods: 5}, conditions: [" D_READY "]}\n" OLD("a", "n1"),
     "", NULL, NULL},
};

static void put_changes(struct buf *out, const struct ranks *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const struct rank_change *c = &x->changes[i];
        buf_addf(out, "%.*s=", SPAN_ARG(c->pod->meta.name));
        if (c->ranked)
            buf_addf(out, "%d ", c->value);
        else
            buf_addf(out, "no ");
    }
}

static struct ranks find(struct deciding *x, const char *queued)
{
    deciding_world(x);
    uint64_t *rows_queued = ARENA_ARRAY(&x->c.arena, uint64_t, bits_words(x->c.world->node_count));
    if (queued != NULL)
        bits_add(rows_queued, deciding_row(x, queued));
    const struct candidate_facts facts = {
        .budgets = &x->c.world->budgets, .queued = rows_queued, .now = x->c.plan_options.now};
    return ranks_find(&x->c.arena, x->c.world, &facts);
}

static void who_goes_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct deciding x;
        struct buf got = {0};
        deciding_init(&x, rows[i].objects);
        if (rows[i].more != NULL)
            cluster_add(&x.c, rows[i].more);
        struct ranks ranks = find(&x, rows[i].queued);
        put_changes(&got, &ranks);
        if (!span_eq(buf_span(&got), span_of(rows[i].want)))
            fail_msg("%s: got \"%.*s\", want \"%s\"", rows[i].label, SPAN_ARG(buf_span(&got)), rows[i].want);
        buf_release(&got);
        deciding_release(&x);
    }
}

/* 310: 60 nodes, each with a pod. */
static struct ranks find_sixty(struct deciding *x, bool leave)
{
    static const char claim[] = "deletionTimestamp: \"2026-01-01T11:00:00Z\", ", ranked[] = "";
    deciding_init(x, D_ANY);
    for (int i = 0; i < 60; i++) {
        char text[4000];
        snprintf(text, sizeof(text), D_NODE_OF("n%02d", "default", "default-instance-type", D_PLACE, "", "%s", "", "", D_READY),
                 leave ? claim : ranked, i, i, i, i);
        cluster_add(&x->c, text);
        snprintf(text, sizeof(text), POD("p%02d", "n%02d"), i, i);
        cluster_add(&x->c, text);
    }
    return find(x, NULL);
}

static void many_nodes(void **state)
{
    (void)state;
    struct deciding x;
    struct ranks ranks = find_sixty(&x, false);
    assert_int_equal(ranks.count, 50);
    assert_int_equal(ranks.pools[0].nodes, 50);
    assert_int_equal(ranks.changes[0].value, -60);
    assert_int_equal(ranks.changes[49].value, -11);
    deciding_release(&x);
    ranks = find_sixty(&x, true);
    assert_int_equal(ranks.count, 60);
    assert_int_equal(ranks.pools[0].nodes, 60);
    deciding_release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_goes_first), cmocka_unit_test(many_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
