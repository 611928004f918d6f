/* What explain says about a pod, a node and a NodePool, as a person reads it in 80 columns. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "planner/explain/answer.h"

#define POOL(name_, spec_)                                                                         \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"              \
    "spec: {" spec_ "}\n"
#define LOST_POOL(name_)                                                                           \
    POOL(name_, "template: {spec: {requirements: []}}")                                            \
    "status: {conditions: [{type: NodeClassReady, status: 'False', message: 'NodeClass not found on "   \
    "cluster: there is no KWOKNodeClass default'}, {type: Ready, status: 'False', message: "        \
    "NodeClassReady=False}]}\n"
#define ANY "template: {spec: {requirements: []}}"
#define POD_SPEC(name_, cpu_, spec_)                                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {app: web}}\n"            \
    "spec: {containers: [{name: c, resources: {requests: {cpu: " cpu_ "}}}]" spec_ "}\n"
#define PENDING                                                                                    \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n"
#define POD(name_, cpu_, spec_) POD_SPEC(name_, cpu_, spec_) PENDING
#define BOUND(name_, cpu_, node_) POD_SPEC(name_, cpu_, ", nodeName: " node_) "status: {phase: Running}\n"
#define NODE(name_, cpu_, labels_, spec_)                                                          \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {" labels_ "}}\n"       \
    "spec: {" spec_ "}\n"                                                                          \
    "status: {capacity: {cpu: " cpu_ ", memory: 8Gi, pods: 10}, allocatable: {cpu: " cpu_          \
    ", memory: 8Gi, pods: 10}}\n"

struct answer_row {
    const char *label;
    const char *objects;
    const char *name; /* "pod/a", "node/n1", "nodepool/default" */
    const char *keeps;
    bool has_place;
    const char *text;
};

static const void *find(const struct cluster *c, enum kind k, struct span name)
{
    for (size_t i = 0; i < c->kinds[k].count; i++)
        if (span_eq(((const struct meta *)c->kinds[k].items[i])->name, name))
            return c->kinds[k].items[i];
    fail_msg("no %s %.*s", kind_info(k)->name, SPAN_ARG(name));
    return NULL;
}

static void answer_about_node(struct cluster *c, uint32_t row, const char *keeps, struct explanation *e)
{
    struct plan_options removal = c->plan_options;
    struct plan *without = NULL;
    removal.removed = &row;
    removal.removed_count = 1;
    if (answer_may_remove(c->plan, row))
        without = plan_solve(c->world, &removal);
    answer_node(c->plan, row, span_of(keeps), without, e);
    if (without != NULL)
        plan_free(without);
}

/* All pods together; a place is kept for the one that `keeps` names. */
static void answer_about_all(struct cluster *c, struct span who, struct span keeps, struct explanation *e)
{
    struct answer_member members[16];
    uint32_t count = (uint32_t)c->kinds[KIND_POD].count;
    assert_true(count <= COUNT_OF(members));
    for (uint32_t i = 0; i < count; i++) {
        const struct pod *pod = c->kinds[KIND_POD].items[i];
        members[i] = (struct answer_member){
            pod, span_eq(pod->meta.name, keeps) ? SPAN("NodeClaim x, which is on its way") : (struct span){NULL, 0}};
    }
    answer_workload(c->plan, who, members, count, e);
}

static void check_row(const struct answer_row *row)
{
    struct cluster c;
    struct explanation e;
    struct buf text = {0};
    struct span name, kind = span_cut(span_of(row->name), '/', &name);
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, row->objects);
    cluster_plan(&c);
    if (span_eq(kind, SPAN("pod")))
        answer_pod(c.plan, find(&c, KIND_POD, name), &e);
    else if (span_eq(kind, SPAN("node")))
        answer_about_node(&c, (uint32_t)world_find_node(c.world, name), row->keeps, &e);
    else if (span_eq(kind, SPAN("all")))
        answer_about_all(&c, name, span_of(row->keeps), &e);
    else
        answer_pool(c.plan, find(&c, KIND_NODE_POOL, name), &e);
    explanation_text(&text, &e, 0);
    if (!span_eq(buf_span(&text), span_of(row->text)) || e.has_place != row->has_place)
        fail_msg("%s: place %d, got:\n%.*swant:\n%s", row->label, e.has_place,
                 SPAN_ARG(buf_span(&text)), row->text);
    buf_release(&text);
    cluster_release(&c);
}

#define CHECK_ROWS(rows_)                                                                          \
    for (size_t i_ = 0; i_ < COUNT_OF(rows_); i_++)                                                \
    check_row(&(rows_)[i_])

/* As a DaemonSet's controller makes them, and as the scheduler has turned them down. */
#define DAEMON_POD(name_, more_)                                                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", ownerReferences: [{apiVersion: "   \
    "apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]}\n"                         \
    "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}" more_ "}], affinity: "          \
    "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "         \
    "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}}\n" PENDING

static void pods_of_daemon_sets(void **state)
{
    (void)state;
    static const struct answer_row rows[] = {
        {"no room", POOL("default", ANY) NODE("n1", "4", "x: z", "") BOUND("w", "2", "n1") BOUND("v", "1", "n1")
         DAEMON_POD("a", ""), "pod/a", "", false,
         "default/a is not planned: it is the pod of DaemonSet default/agent for node n1,\n"
         "and asks for 2 CPUs, of which 1 of 4 are free there (default/w holds 2 CPUs,\n"
         "default/v holds 1 CPU); make room there, let it ask for less or give it a higher\n"
         "priority.\n"},
        {"a taint", POOL("default", ANY) NODE("n1", "4", "x: z", "taints: [{key: gpu, effect: NoSchedule}]") DAEMON_POD("a", ""),
         "pod/a", "", false,
         "default/a is not planned: it is the pod of DaemonSet default/agent for node n1,\n"
         "and does not tolerate its taint gpu:NoSchedule; tolerate it, or take the taint\n"
         "away.\n"},
        {"a host port", POOL("default", ANY) NODE("n1", "4", "x: z", "")
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec: {nodeName: n1, containers: [{name: c, ports: "
         "[{hostPort: 80, containerPort: 80}]}]}\nstatus: {phase: Running}\n"
         DAEMON_POD("a", ", ports: [{hostPort: 80, containerPort: 80}]"), "pod/a", "", false,
         "default/a is not planned: it is the pod of DaemonSet default/agent for node n1,\n"
         "and wants a host port that default/w has taken there.\n"},
        {"room has come since", POOL("default", ANY) NODE("n1", "4", "x: z", "") DAEMON_POD("a", ""), "pod/a", "", false,
         "default/a is not planned: it is the pod of DaemonSet default/agent for node n1,\n"
         "and the scheduler has turned it down, though there is room for it now.\n"},
    };
    CHECK_ROWS(rows);
}

static void pods(void **state)
{
    (void)state;
    static const struct answer_row rows[] = {
        {"too large", POOL("default", ANY) NODE("n1", "2", "x: z", "") POD("a", "200", ""), "pod/a", "", false, 
         "default/a has no place: it asks for 200 CPUs; the largest type that pool default\n"
         "may buy has 15.9 CPUs for pods.\n"
         "\n"
         "  pool default  it asks for 200 CPUs; the largest type that pool default may buy\n"
         "                has 15.9 CPUs for pods\n"
         "  nodes         1 looked at; none has 200 CPUs free (most: n1, 2 CPUs)\n"
         "  Fix           ask for at most 15.9 CPUs (no type of the catalogue has 200 for\n"
         "                pods).\n"
         "  reason        Unschedulable\n"},
        {"on a new node, after nodes, a planned one and a pool of more weight",
         POOL("default", ANY) POOL("first", "weight: 9, template: {spec: {requirements: [], taints: [{key: t, effect: NoSchedule}]}}")
         NODE("n1", "500m", "x: z", "") POD("b", "3", "") POD("a", "2", ""),
         "pod/a", "", true, 
         "default/a has a place: a new node of pool default, arm-instance-type, from\n"
         "$15.3439/h.\n"
         "\n"
         "  asks for      2 CPUs\n"
         "  nodes         1 looked at; none has 2 CPUs free (most: n1, 0.5 CPUs)\n"
         "  planned with  default/b\n"},
        {"opens a node, after a pool of more weight",
         POOL("default", ANY) POOL("first", "weight: 9, template: {spec: {requirements: [], taints: [{key: t, effect: NoSchedule}]}}")
         NODE("n1", "500m", "x: z", "") POD("b", "3", ", nodeSelector: {kubernetes.io/arch: arm64}") POD("a", "2", ", nodeSelector: {kubernetes.io/arch: amd64}"),
         "pod/a", "", true, 
         "default/a has a place: a new node of pool default, default-instance-type or one\n"
         "of 3 more types, from $0.8295/h.\n"
         "\n"
         "  asks for       2 CPUs\n"
         "  nodes          1 looked at; taints or labels of each keep it off\n"
         "  planned nodes  1 looked at; none takes it too\n"
         "  pool first     it does not tolerate taint t:NoSchedule of pool first\n"},
        {"on a node", POOL("default", ANY) NODE("n1", "500m", "x: z", "") NODE("n2", "4", "x: z", "") POD("a", "1", "") POD("b", "2", ""),
         "pod/a", "", true, 
         "default/a has a place: node n2, which exists.\n"
         "\n"
         "  asks for      1 CPU\n"
         "  nodes         1 looked at; none has 1 CPU free (most: n1, 0.5 CPUs)\n"
         "  planned with  default/b\n"},
        {"preferences that were dropped",
         POOL("default", ANY) POD("a", "1", ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["
         "{weight: 9, preference: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [none]}]}}, "
         "{weight: 5, preference: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}]}}, "
         "topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, "
         "labelSelector: {matchLabels: {app: web}}}]"),
         "pod/a", "", true, 
         "default/a has a place: a new node of pool default, arm-instance-type, from\n"
         "$15.3439/h.\n"
         "\n"
         "  asks for  1 CPU\n"
         "  dropped   1 of 2 preferred node affinity terms\n"},
        {"stands", NODE("n1", "2", "x: z", "") BOUND("a", "1", "n1"), "pod/a", "", true, 
         "default/a has a place: it stands on node n1.\n"},
        {"nobody has looked", POOL("default", ANY) POD_SPEC("a", "1", ""), "pod/a", "", false, 
         "default/a is not planned: no scheduler has found it unschedulable yet.\n"},
        {"gated", POOL("default", ANY) POD("a", "1", ", schedulingGates: [{name: g}]"), "pod/a", "", false, 
         "default/a is not planned: its scheduling gates are not open yet.\n"},
        {"no pool", POD("a", "1", ""), "pod/a", "", false, 
         "default/a has no place: it has no NodePool to go to: there is none.\n"
         "\n"
         "  Fix     add a NodePool.\n"
         "  reason  NoNodePools\n"},
        {"no pool that is ready",
         POOL("one", "replicas: 1, template: {spec: {requirements: []}}") LOST_POOL("two") POD("a", "1", ""),
         "pod/a", "", false,
         "default/a has no place: it has no NodePool to go to: one is static:\n"
         "spec.replicas says how many nodes it has; two is not ready: NodeClass not found\n"
         "on cluster: there is no KWOKNodeClass default.\n"
         "\n"
         "  Fix     see to that, or add another NodePool.\n"
         "  reason  NoNodePools\n"},
    };
    CHECK_ROWS(rows);
}

#define OURS(name_, id_)                                                                           \
    NODE(name_, "4",                                                                               \
         "karpenter.sh/nodepool: default, karpenter.sh/registered: \"true\", "                     \
         "karpenter.sh/initialized: \"true\", node.kubernetes.io/instance-type: "                  \
         "default-instance-type, topology.kubernetes.io/zone: test-zone-1, "                       \
         "karpenter.sh/capacity-type: spot",                                                       \
         "providerID: " id_)                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c-" id_                   \
    ", labels: {karpenter.sh/nodepool: default}}\nspec: {}\nstatus: {providerID: " id_ "}\n"
#define OURS_LINE                                                                                  \
    "  it is        ready, default-instance-type, spot, test-zone-1, of pool default,\n"           \
    "               $0.8295/h\n"
#define OURS_WIDE_LINE                                                                             \
    "  it is          ready, default-instance-type, spot, test-zone-1, of pool\n"                  \
    "                 default, $0.8295/h\n"

static void nodes(void **state)
{
    (void)state;
    static const struct answer_row rows[] = {
        {"with pods and plans", NODE("n1", "4", "x: z", "") POOL("default", ANY) BOUND("b", "1", "n1") POD("a", "2", ""),
         "node/n1", "no dynamic NodePool of ours owns it", true, 
         "n1 stays: no dynamic NodePool of ours owns it.\n"
         "\n"
         "  it is          without a NodeClaim\n"
         "  free           1 CPU and 8Gi of memory, with what is planned\n"
         "  stand there    1: default/b\n"
         "  planned there  1: default/a\n"},
        {"ours and empty", POOL("default", ANY) OURS("n1", "x"), "node/n1", "", true,
         "n1 can be removed: nothing runs on it.\n"
         "\n"
         "  it is        ready, default-instance-type, spot, test-zone-1, of pool default,\n"
         "               $0.8295/h\n"
         "  free         4 CPUs and 8Gi of memory, with what is planned\n"
         "  removing it  would save $0.8295/h ($606 a month) and move 0 pods\n"},
        {"ours and too large", POOL("default", ANY) OURS("n1", "x") BOUND("b", "1", "n1"), "node/n1", "pods run on it", true,
         "n1 stays: pods run on it.\n"
         "\n"
         OURS_LINE
         "  free         3 CPUs and 8Gi of memory, with what is planned\n"
         "  stand there  1: default/b\n"
         "  removing it  would save $0.4147/h ($303 a month) and move 1 pod; 1 new node\n"
         "               would be bought for that\n"},
        {"ours and planned for, as large as what would be bought", POOL("default", ANY) OURS("n1", "x") POD("a", "3", ""), "node/n1", "1 pod is planned there", true,
         "n1 stays: 1 pod is planned there.\n"
         "\n"
         OURS_WIDE_LINE
         "  free           1 CPU and 8Gi of memory, with what is planned\n"
         "  planned there  1: default/a\n"
         "  removing it    would save nothing and move 1 pod, 1 of which is only planned\n"
         "                 there; 1 new node would be bought for that\n"},
        {"ours, beside one that is full", POOL("default", "limits: {cpu: 4}, " ANY) OURS("n1", "x") BOUND("b", "4", "n1"), "node/n1", "pods run on it", true,
         "n1 stays: pods run on it.\n"
         "\n"
         OURS_LINE
         "  free         0 CPUs and 8Gi of memory, with what is planned\n"
         "  stand there  1: default/b\n"
         "  removing it  would leave 1 pod without a place\n"},
        {"leaving", NODE("n1, deletionTimestamp: \"2026-01-01T00:00:00Z\"", "4", "x: z", ""), "node/n1", "", true, 
         "n1 is leaving: its pods are planned elsewhere.\n"
         "\n"
         "  it is  without a NodeClaim\n"},
        {"leaving, and held", NODE("n1, deletionTimestamp: \"2026-01-01T00:00:00Z\"", "4", "x: z", ""), "node/n1",
         "1 pod waits to be evicted", true, 
         "n1 is leaving: 1 pod waits to be evicted.\n"
         "\n"
         "  it is  without a NodeClaim\n"},
    };
    CHECK_ROWS(rows);
}

static void pools(void **state)
{
    (void)state;
    static const struct answer_row rows[] = {
        {"buys", POOL("default", ANY) POD("a", "1", ""), "nodepool/default", "", true, 
         "default can buy 6 types.\n"
         "\n"
         "  types   6 of 6 left after its requirements\n"
         "  limits  there are none\n"
         "  nodes   none\n"
         "  to buy  1 node for 1 pod, +$0.4147/h\n"},
        {"one of each", POOL("default", "limits: {nodes: 1}, template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}"),
         "nodepool/default", "", true,
         "default can buy 1 type; nothing that waits needs it.\n"
         "\n"
         "  types   1 of 6 left after its requirements\n"
         "  limits  1 node left before this plan\n"
         "  nodes   none\n"},
        {"refuses two of one reason and one of another",
         POOL("default", "limits: {cpu: 10}, " ANY) POD("a", "200", "") POD("b", "200", "") POD("c", "1", ", nodeSelector: {disk: ssd}"),
         "nodepool/default", "", true, 
         "default can buy, but refuses 3 pods that wait.\n"
         "\n"
         "  types    6 of 6 left after its requirements\n"
         "  limits   10 CPUs left before this plan\n"
         "  nodes    none\n"
         "  refuses  default/a and 1 more: it asks for 200 CPUs; the largest type that\n"
         "           pool default may buy has 15.9 CPUs for pods; it also finds only 10\n"
         "           CPUs left within the limits of pool default (10: 0 used), and every\n"
         "           type that would hold it has more\n"
         "  refuses  default/c: it asks for disk In [ssd], a label that pool default does\n"
         "           not set\n"},
        {"is being deleted", POOL("default, deletionTimestamp: \"2026-01-01T00:00:00Z\"", ANY), "nodepool/default", "", false, 
         "default buys nothing: it is being deleted.\n"
         "\n"
         "  nodes  none\n"},
        {"static", POOL("default", "replicas: 2, " ANY), "nodepool/default", "", false, 
         "default buys nothing: it is static: spec.replicas says how many nodes it has.\n"
         "\n"
         "  nodes  none\n"},
        {"leaves no type", POOL("default", "template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [none]}]}}"),
         "nodepool/default", "", false, 
         "default buys nothing: no type meets its requirement kubernetes.io/arch In [none]\n"
         "(there are amd64 and arm64).\n"
         "\n"
         "  types   0 of 6 left after its requirements\n"
         "  limits  there are none\n"
         "  nodes   none\n"
         "  Fix     let pool default ask for a kubernetes.io/arch that there is.\n"},
    };
    CHECK_ROWS(rows);
}

/* Those who fare alike are told of once, and the rules of the first who has no place, else of the first planned. */
static void workloads(void **state)
{
    (void)state;
    static const struct answer_row rows[] = {
        {"of every fate", POOL("default", ANY) NODE("n1", "4", "x: z", "") NODE("n2", "4", "x: z", "")
         BOUND("a", "1", "n1") BOUND("b", "1", "n2") BOUND("c", "1", "n2") POD("d", "200", "") POD("e", "200", "")
         POD("f", "1", "") POD("g", "1", "") POD_SPEC("h", "1", "") POD("i", "15", ""),
         "all/Deployment shop/web", "g", false,
         "Deployment shop/web: 3 of 9 pods stand on nodes, 1 waits for the place that is\n"
         "kept for it, 2 are planned, 2 have no place, 1 is not planned.\n"
         "\n"
         "  stand on      n2 2, n1\n"
         "  wait for      default/g: NodeClaim x, which is on its way\n"
         "  planned       default/i: a new node of pool default, arm-instance-type, from\n"
         "                $15.3439/h\n"
         "  planned       default/f: node n1, which exists\n"
         "  no place      default/d and 1 more: each asks for 200 CPUs; the largest type\n"
         "                that pool default may buy has 15.9 CPUs for pods\n"
         "  not planned   default/h: no scheduler has found it unschedulable yet\n"
         "  pool default  it asks for 200 CPUs; the largest type that pool default may buy\n"
         "                has 15.9 CPUs for pods\n"
         "  nodes         2 looked at; none has 200 CPUs free (most: n2, 2 CPUs)\n"
         "  Fix           ask for at most 15.9 CPUs (no type of the catalogue has 200 for\n"
         "                pods).\n"
         "  reason        Unschedulable\n"},
        {"all stand", NODE("n1", "4", "x: z", "") BOUND("a", "1", "n1"), "all/Job j", "", true,
         "Job j: 1 pod stands on a node.\n\n  stand on  n1\n"},
        {"all have ended",
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: n1}\nstatus: {phase: Succeeded}\n"
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: n1}\nstatus: {phase: Failed}\n",
         "all/Job j", "", true,
         "Job j: 2 pods have ended or go.\n\n  go  default/a and 1 more: ended\n"},
    };
    CHECK_ROWS(rows);
}

/* Who stands on many nodes, or is planned on many, has a line of bounded length for it. */
static void workload_of_many(void **state)
{
    (void)state;
    struct cluster c;
    struct explanation e;
    struct buf text = {0};
    cluster_init(&c);
    cluster_types_c0(&c);
    for (uint32_t i = 0; i < 12; i++) {
        buf_addf(&text, NODE("n%u", "4", "x: z", "") BOUND("p%u", "1", "n%u"), i, i, i);
    }
    cluster_add(&c, text.ptr);
    cluster_plan(&c);
    answer_about_all(&c, SPAN("Deployment shop/web"), SPAN(""), &e);
    text.len = 0;
    explanation_text(&text, &e, 0);
    assert_string_equal(text.ptr, "Deployment shop/web: 12 pods stand on nodes.\n\n"
                                  "  stand on  n0, n1, n10, n11, n2, n3, n4 and 5 more nodes\n");
    buf_release(&text);
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods), cmocka_unit_test(pods_of_daemon_sets), cmocka_unit_test(nodes), cmocka_unit_test(pools),
        cmocka_unit_test(workloads), cmocka_unit_test(workload_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
