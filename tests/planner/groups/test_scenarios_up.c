/* Who asks, what a new node would be, which group grows and by how many: scenarios 29 to 33, 35 to 39, 42 to 46, 49 to 56,
 * 58 to 67, 69 to 75, 77 to 86, 89 to 100, 178, 180, 183, 193 of spec node-groups 8. Most are one pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_groups.h"
#include "support_scenario.h"

#define QUOTA(name, selector, limits)                                                                                   \
    "0:00 object {apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityQuota, metadata: {name: " name                 \
    "}, spec: {selector: {" selector "}, limits: {resources: {" limits "}}}}\n"
#define POOL_A(limits) QUOTA("few", "matchLabels: {pool: a}", limits)
#define FLAGS(name, what) static void name(struct group_flags *f) { what; }
#define EXPANDER(name, kind) FLAGS(name, f->expanders[0] = kind)
FLAGS(minute_old, f->new_pod_delay = 60 * MS_SECOND)
FLAGS(ten_a_time, f->max_nodes_per_scale_up = 10)
FLAGS(ten_nodes, f->max_nodes_total = 10)
FLAGS(twenty_cores, f->cores_max = 20)
FLAGS(more_cores, f->cores_max = 32)
FLAGS(with_quotas, f->capacity_quotas = true)
FLAGS(with_quotas_and_cores, f->capacity_quotas = true; f->cores_max = 18)
FLAGS(balanced, f->balance_similar = true)
EXPANDER(most_pods, EXPANDER_MOST_PODS)
EXPANDER(least_waste, EXPANDER_LEAST_WASTE)
EXPANDER(least_nodes, EXPANDER_LEAST_NODES)
EXPANDER(cheapest, EXPANDER_PRICE)
EXPANDER(by_priority, EXPANDER_PRIORITY)

static struct span other[] = {SPAN_INIT("other")}, usual[] = {SPAN_INIT("default-scheduler")}, pool[] = {SPAN_INIT("pool")};
FLAGS(bypass_other, f->bypassed_schedulers = ((struct spans){other, 1}))
FLAGS(allow_usual, f->allowed_schedulers = ((struct spans){usual, 1}))

static void by_priority_then_waste(struct group_flags *f)
{
    f->expanders[0] = EXPANDER_PRIORITY;
    f->expanders[1] = EXPANDER_LEAST_WASTE;
    f->expander_count = 2;
}

static void balanced_by_pool(struct group_flags *f)
{
    f->balance_similar = true;
    f->balancing_labels = (struct spans){pool, 1};
}

FLAGS(as_upstream, f->as_upstream = true)
FLAGS(thirty_two_cores, f->cores_max = 32)

static void thirty_two_cores_as_upstream(struct group_flags *f)
{
    f->cores_max = 32;
    f->as_upstream = true;
}

static void balanced_in_memory(struct group_flags *f)
{
    f->balance_similar = true;
    f->memory_max = (int64_t)(990 + 995) << 20;
}

static void nodes_then_waste(struct group_flags *f)
{
    f->expanders[0] = EXPANDER_LEAST_NODES;
    f->expanders[1] = EXPANDER_LEAST_WASTE;
    f->expander_count = 2;
}

static struct span x_label[] = {SPAN_INIT("x")};
static void balanced_but_for_x(struct group_flags *f)
{
    f->balance_similar = true;
    f->balancing_ignore_labels = (struct spans){x_label, 1};
}

#define A GROUPS(G("a", 0, 9))
#define A_AND_B GROUPS(G("a", 0, 9) G("b", 0, 9))
#define EIGHT GROUPS(G_OF("a", 0, 9, "", "cpu: 8, memory: 16Gi", ""))
#define TOLERATES(key) "tolerations: [{key: " key ", operator: Exists}], "
#define APART                                                                                                          \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, " \
    "labelSelector: {matchLabels: {app: web}}}]}}, "
#define SPREAD(key)                                                                                                    \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: DoNotSchedule, labelSelector: "  \
    "{matchLabels: {app: web}}}], "
#define DAEMON(spec)                                                                                                   \
    "0:00 object {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {metadata: {labels: " \
    "{app: agent}}, spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}}\n"
#define NODE(name, more, cpu, ready)                                                                                   \
    "0:00 object {apiVersion: v1, kind: Node, metadata: {name: " name ", creationTimestamp: '2026-01-01T11:40:00Z', labels: {" \
    more "}}, status: {capacity: {cpu: " cpu ", memory: 16Gi, pods: 110}, allocatable: {cpu: " cpu ", memory: 16Gi, pods: 110}, " \
    "conditions: [{type: Ready, status: '" ready "'}]}}\n"
#define SIXTEEN_TOO /* a-2, beside a-1 as the template says */                                                         \
    "0:00 nodes a 2\n0:00 cores a-2 16\n0:00 pods full 2 7\n0:00 pods more 1 7\n"
#define OF_MEMORY(name, memory)                                                                                        \
    "- {name: " name ", minSize: 0, maxSize: 9, template: {status: {capacity: {cpu: 4, memory: " memory              \
    ", pods: 9}, allocatable: {cpu: 4, memory: " memory ", pods: 9}}}}\n"
#define BUFFER                                                                                                         \
    "0:00 object {apiVersion: v1, kind: PodTemplate, metadata: {name: t}, template: {spec: {containers: [{name: c, "     \
    "resources: {requests: {cpu: 3}}}]}}}\n0:00 object {apiVersion: autoscaling.x-k8s.io/v1beta1, kind: "               \
    "CapacityBuffer, metadata: {name: b, uid: b}, spec: {podTemplateRef: {name: t}, replicas: 3}}\n"
/* A group like the others, in a zone. */
#define Z(name, max, zone, shape, more)                                                                                \
    "- {name: " name ", minSize: 0, maxSize: " #max ", template: {metadata: {labels: {topology.kubernetes.io/zone: " zone more \
    "}}, status: {capacity: {cpu: 4, memory: 16000Mi, pods: 110}, allocatable: {" shape ", pods: 110}}}}\n"
#define LIKE(name, max) Z(name, max, name, "cpu: 4, memory: 16000Mi", "")
#define WITH(name, label, cpu) Z(name, 9, name, "cpu: " cpu ", memory: 16000Mi", ", " label)
#define PENDING_POD(name, more, spec, status)                                                                          \
    "0:00 object {apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: default, uid: " name more               \
    ", creationTimestamp: '2026-01-01T11:00:00Z'}, spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 3}}}]}, " \
    "status: {" status "conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}}\n"
#define SHAPED(name, cpu, mem, more) G_OF(name, 0, 9, "", "cpu: " cpu ", memory: " mem, more)

static const struct scenario rows[] = {
    {"scenario 29: a label that somebody set by hand", A, "0:00 nodes a 1\n0:00 label a-1 foo bar\n0:00 pods web 2 3 | nodeSelector: {foo: bar}, ",
     "0:00 a 1->2; ", .end = 0},
    {"scenario 30: of the taints only the lasting one", A,
     "0:00 bare a\n0:00 nodes a 1\n0:00 taint a-1 node.kubernetes.io/not-ready NoSchedule\n0:00 taint a-1 x NoSchedule\n0:00 pods web 1 3",
     "0:00 web-0: 1 node(s) had untolerated taint(s); ", .watch = WATCH_LEFT},
    {"scenario 30: which these pods tolerate", A,
     "0:00 bare a\n0:00 nodes a 1\n0:00 taint a-1 node.kubernetes.io/not-ready NoSchedule\n0:00 taint a-1 x NoSchedule\n"
     "0:00 pods web 1 3 | " TOLERATES("x"),
     "0:00 a 1->2; ", .watch = WATCH_LEFT},
    {"scenario 31: CriticalAddonsOnly stays", A, "0:00 nodes a 1\n0:00 taint a-1 CriticalAddonsOnly NoSchedule\n0:00 pods web 1 3",
     "0:00 web-0: 1 node(s) had untolerated taint(s); ", .watch = WATCH_LEFT},
    {"scenario 32: a start-up taint makes a node unready, and is none of the next", A,
     "0:00 bare a\n0:00 nodes a 1\n0:00 taint a-1 startup-taint.cluster-autoscaler.kubernetes.io/cni NoSchedule\n0:00 pods web 1 3",
     "0:00 a 0 of 2 ready, 1 unready; 0:00 a 1->2; ", .watch = WATCH_COUNTS},
    {"scenario 33: a status taint does not", A,
     "0:00 bare a\n0:00 nodes a 1\n0:00 taint a-1 status-taint.cluster-autoscaler.kubernetes.io/y NoSchedule\n0:00 pods web 1 3",
     "0:00 a 1 of 2 ready; 0:00 a 1->2; ", .watch = WATCH_COUNTS},
    {"scenario 35: nobody knows what a node would be", A, "0:00 bare a\n0:00 pods web 1 3",
     "0:00 web-0: 1 not ready for scale-up, a skipped: not ready for scale-up; ", .watch = WATCH_LEFT},
    {"scenario 36: the other group is of use", A_AND_B, "0:00 bare a\n0:00 pods web 1 3", "0:00 b 0->1; ", .end = 0},
    {"scenario 37: a DaemonSet takes its share", A, DAEMON("") "0:00 pods web 1 3501m", "0:00 web-0: 1 Insufficient cpu; ",
     .watch = WATCH_LEFT},
    {"scenario 37: and leaves the rest", A, DAEMON("") "0:00 pods web 1 3500m", "0:00 a 0->1; ", .end = 0},
    {"scenario 38: one that runs elsewhere does not", A, DAEMON("nodeSelector: {pool: z}, ") "0:00 pods web 1 4", "0:00 a 0->1; ", .end = 0},
    {"scenario 39: a node that has just become ready is no example", A,
     "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 label a-1 age young\n0:00 ready a-1\n0:00 label a-2 age old\n"
     "0:00 pods web 1 3 | nodeSelector: {age: old}, ",
     "0:00 a 2->3; ", .end = 0},
    {"scenario 42: each new node is another host", A, "0:00 pods web 3 1 | " APART, "0:00 a 0->3; ", .end = 0},
    {"scenario 43: who may be pushed aside asks for nothing", A, "0:00 pods web 1 3 | priority: -11, ", "0:00 ScaleUpNotNeeded; ",
     .watch = WATCH_UP},
    {"scenario 43: and keeps no node", A, "0:00 nodes a 1\n0:00 pods web 1 3 on=a-1 naked= | priority: -11, ",
     "10:10 remove a-1; 10:20 a-1 gone; ", .end = 11},
    {"at the cutoff a pod has its room", A, "0:00 nodes a 1\n0:00 pods low 1 3 on=a-1 | priority: -10, \n0:00 pods web 1 3", "0:00 a 1->2; ",
     .end = 0},
    {"below it not", A, "0:00 nodes a 1\n0:00 pods low 1 3 on=a-1 | priority: -11, \n0:00 pods web 1 3", "0:00 ScaleUpNotNeeded; ",
     .watch = WATCH_UP},
    {"a node that is overcommitted in what a pod does not ask for takes it", A,
     "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods full 1 1 mem=20Gi on=a-1\n0:00 pods web 1 3", "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP},
    {"and is full for a pod that asks for it", A,
     "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods full 1 1 mem=16Gi on=a-1\n0:00 pods web 1 3 mem=1Mi", "0:00 a 1->2; ", .end = 0},
    {"scenario 44: -10 does", A, "0:00 pods web 1 3 | priority: -10, ", "0:00 a 0->1; ", .end = 0},
    {"scenario 45: without a priority", A, "0:00 pods web 1 3", "0:00 a 0->1; ", .end = 0},
    {"scenario 46: there is a place, the scheduler has only not come to it", A, "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods web 1 3",
     "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP},
    {"scenario 49: a nominated pod asks for nothing", A, "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods high 1 3 nominated=a-1", "", .end = 0},
    {"scenario 49: but has its place", A, "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods high 1 3 nominated=a-1\n0:00 pods web 1 3",
     "0:00 for web-0; 0:00 a 1->2; ", .watch = WATCH_FOR},
    {"scenario 50: nominated to a node that has gone", A, "0:00 nodes a 1\n0:00 pods full 1 3\n0:00 scheduler off\n0:00 pods high 1 3 nominated=z",
     "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP},
    {"scenario 51: all are new: not in this pass, in neither direction", A, "0:00 pods web 1 3 age=1",
     "0:00 ScaleUpInCooldown; 0:00 ScaleDownInCooldown; 0:10 ScaleUpSuccessful; 0:10 a 0->1; 0:20 ScaleUpNotNeeded; ", .watch = WATCH_UP | WATCH_DOWN,
     .end = 1},
    {"scenario 52: one is not, and all are helped", A, "0:00 pods old 1 3 age=3\n0:00 pods web 2 3 age=1", "0:00 a 0->3; ", .end = 0},
    {"scenario 53: pods with GPUs come in numbers", GROUPS(SHAPED("a", "4", "16Gi, nvidia.com/gpu: 1", "")),
     "0:00 pods web 1 3 gpu=1 age=20", "0:10 a 0->1; ", .end = 1},
    {"scenario 53: a moment before", GROUPS(SHAPED("a", "4", "16Gi, nvidia.com/gpu: 1", "")), "0:00 pods web 1 3 gpu=1 age=19",
     "0:20 a 0->1; ", .end = 1},
    {"scenario 54: not older than the delay", A, "0:00 pods web 1 3 age=60", "0:10 a 0->1; ", .end = 1, .flags = minute_old},
    {"scenario 55: a pod's own delay", A,
     "0:00 pods web 1 3 age=60 | | annotations: {cluster-autoscaler.kubernetes.io/pod-scale-up-delay: 2m}, ", "1:10 a 0->1; ", .end = 2},
    {"scenario 55: is not less than the flag's", A,
     "0:00 pods web 1 3 age=30 | | annotations: {cluster-autoscaler.kubernetes.io/pod-scale-up-delay: 10s}, ", "0:40 a 0->1; ",
     .end = 1, .flags = minute_old},
    {"scenario 56: another scheduler's, which it has not looked at", A, "0:00 pods web 1 3 age=1 unseen= | schedulerName: other, ",
     "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP, .end = 1},
    {"scenario 56: which is not waited for", A, "0:00 pods web 1 3 age=1 unseen= | schedulerName: other, ", "0:00 a 0->1; ",
     .flags = bypass_other},
    {"scenario 56: nor one that is gated", A,
     "0:00 pods web 1 3 age=60 unseen= | schedulerName: other, schedulingGates: [{name: g}], ", "0:00 ScaleUpNotNeeded; ",
     .watch = WATCH_UP, .flags = bypass_other},
    {"a pod that asks", A, PENDING_POD("p", "", "", "phase: Pending, "), "0:00 a 0->1; ", .end = 0},
    {"a pod that is being deleted asks for nothing", A,
     PENDING_POD("p", ", deletionTimestamp: '2026-01-01T11:59:00Z'", "", "phase: Pending, "), "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP},
    {"nor one that has ended", A, PENDING_POD("p", "", "", "phase: Failed, "), "0:00 ScaleUpNotNeeded; ", .watch = WATCH_UP},
    {"nor a DaemonSet's", A, PENDING_POD("p", ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: d, controller: true}]",
     "", "phase: Pending, "), "", .end = 0},
    {"a nominated pod that may be pushed aside has no place", A,
     "0:00 scheduler off\n0:00 nodes a 1\n0:00 pods high 1 3 nominated=a-1 | priority: -11, \n0:00 pods web 1 3", "0:00 ScaleUpNotNeeded; ",
     .watch = WATCH_UP},
    {"scenario 58: the first place is the important one's", A, "0:00 pods web 1 3\n0:10 pods zhigh 1 3 | priority: 5, ",
     "0:00 for web-0; 0:00 a 0->1; 0:10 a 1->2; ", .watch = WATCH_FOR, .end = 1},
    {"scenario 59", A, "0:00 pods web 3 3", "0:00 a 0->3; ", .end = 0},
    {"scenario 60: the largest first", A, "0:00 pods one 1 1\n0:00 pods two 2 2\n0:00 pods web 1 3", "0:00 a 0->2; ", .end = 0},
    {"scenario 61: a third machine for a third pod", A, "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 pods web 1 3",
     "0:00 for web-0; 0:00 a 2->3; ", .watch = WATCH_FOR},
    {"scenario 62: too large", A, "0:00 pods web 1 5", "0:00 web-0: 1 Insufficient cpu; ", .watch = WATCH_LEFT},
    {"scenario 63: a second node in the same zone would not help", GROUPS(Z("a", 9, "z1", "cpu: 4, memory: 16000Mi", "") Z("b", 1, "z2", "cpu: 4, memory: 16000Mi", "")),
     "0:00 nodes b 1\n0:00 pods full 1 4\n0:00 pods web 3 1 | " SPREAD("topology.kubernetes.io/zone"), "0:00 a: 1 nodes for 1; 0:00 a 0->1; ",
     .watch = WATCH_OPTIONS},
    {"scenario 64: spread over hosts, and it ends", GROUPS(G("a", 0, 50)), "0:00 pods web 6 1 | " SPREAD("kubernetes.io/hostname"),
     "0:00 a 0->2; ", .end = 5},
    {"scenario 65: a port of the host", A, "0:00 pods web 5 1 port=8080", "0:00 a 0->5; ", .end = 0},
    {"scenario 66: so many at a time", GROUPS(G("a", 0, 99)), "0:00 pods web 25 3", "0:00 a 0->10; 0:10 a 10->20; 0:20 a 20->25; ",
     .end = 1, .flags = ten_a_time},
    {"scenario 67: what there is room for", GROUPS(G("a", 0, 10)), "0:00 nodes a 8\n0:00 pods full 8 3\n0:00 pods web 5 3",
     "0:00 a: 2 nodes for 2; 0:00 a 8->10; ", .watch = WATCH_OPTIONS},
    {"scenario 69: full", GROUPS(G("a", 0, 2)), "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 pods web 1 3",
     "0:00 web-0: 1 max node group size reached, a skipped: max node group size reached; ", .watch = WATCH_LEFT},
    {"scenario 70: the cluster's cores", EIGHT, "0:00 nodes a 2\n0:00 pods full 2 7\n0:00 pods web 1 7",
     "0:00 web-0: 1 exceeded quota: \"cluster-wide\", resources: cpu, a skipped: exceeded quota: \"cluster-wide\", resources: cpu; ",
     .watch = WATCH_LEFT, .flags = twenty_cores},
    {"scenario 71: up to them", EIGHT, "0:00 nodes a 2\n0:00 pods full 2 7\n0:00 pods web 5 7", "0:00 a 2->4; ", .flags = more_cores},
    {"scenario 175: a quota of nodes", A, "0:00 nodes a 4\n0:00 pods full 4 3\n0:00 pods web 1 3\n" POOL_A("nodes: 4"),
     "0:00 web-0: 1 exceeded quota: \"CapacityQuota/few\", resources: nodes, a skipped: exceeded quota: \"CapacityQuota/few\", "
     "resources: nodes; ", .watch = WATCH_LEFT, .flags = with_quotas},
    {"scenario 175: up to it", A, "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 pods web 5 3\n" POOL_A("nodes: 4"), "0:00 a 2->4; ",
     .flags = with_quotas},
    {"a quota of cores, which are rounded up", A, "0:00 nodes a 2\n0:00 pods full 2 3\n0:00 pods web 5 3\n" POOL_A("cpu: 11999m"),
     "0:00 a 2->3; ", .flags = with_quotas},
    {"but not where they are whole", A, "0:00 pods web 5 3\n" POOL_A("cpu: 11"), "0:00 a 0->2; ", .flags = with_quotas},
    {"without a selector it is of all nodes", A, "0:00 pods web 5 3\n0:00 object {apiVersion: autoscaling.x-k8s.io/v1beta1, kind: "
     "CapacityQuota, metadata: {name: all}, spec: {limits: {resources: {nodes: 3}}}}\n", "0:00 a 0->3; ", .flags = with_quotas},
    {"so it is with an empty one, beside a group that no other means", A_AND_B, "0:00 nodes b 2\n0:00 pods full 2 3\n0:00 pods web 5 3\n"
     QUOTA("all", "", "cpu: 9"), "", .flags = with_quotas},
    {"of memory", A, "0:00 nodes a 1\n0:00 pods full 1 3\n0:00 pods web 5 3\n" POOL_A("memory: 63Gi"), "0:00 a 1->3; ",
     .flags = with_quotas},
    {"of something that no node has", A, "0:00 pods web 2 3\n" POOL_A("example.com/x: 0"), "0:00 a 0->2; ", .flags = with_quotas},
    {"another pool's", A, "0:00 pods web 2 3\n" QUOTA("few", "matchLabels: {pool: b}", "nodes: 0"), "0:00 a 0->2; ", .flags = with_quotas},
    {"of all nodes, those of no group too", A,
     "0:00 object {apiVersion: v1, kind: Node, metadata: {name: other}, status: {capacity: {cpu: 4}}}\n0:00 pods web 5 3\n"
     QUOTA("all", "", "nodes: 3"), "0:00 a 0->2; ", .flags = with_quotas},
    {"all of them must allow it, and each says so", A, "0:00 nodes a 4\n0:00 pods full 4 3\n0:00 pods web 1 3\n" POOL_A("nodes: 4")
     QUOTA("low", "", "'nodes': 3, cpu: 9"),
     "0:00 web-0: 1 exceeded quota: \"CapacityQuota/few\", resources: nodes, 1 exceeded quota: \"CapacityQuota/low\", resources: "
     "cpu, nodes, 1 exceeded quota: \"cluster-wide\", resources: cpu, a skipped: exceeded quota: \"cluster-wide\", resources: cpu, "
     "exceeded quota: \"CapacityQuota/few\", resources: nodes, exceeded quota: \"CapacityQuota/low\", resources: cpu, nodes; ",
     .watch = WATCH_LEFT, .flags = with_quotas_and_cores},
    {"scenario 176: one that is not valid", A, "0:00 pods web 2 3\n" QUOTA("few", "matchExpressions: [{key: pool, operator: Is, values: [a]}]", "nodes: 0"),
     "0:00 a 0->2; ", .flags = with_quotas},
    {"nor one with a list that is empty", A, "0:00 pods web 2 3\n" QUOTA("few", "matchExpressions: [{key: pool, operator: In, values: []}]", "nodes: 0"),
     "0:00 a 0->2; ", .flags = with_quotas},
    {"which would mean all nodes", A, "0:00 pods web 2 3\n" QUOTA("few", "matchExpressions: [{key: pool, operator: NotIn, values: []}]", "nodes: 0"),
     "0:00 a 0->2; ", .flags = with_quotas},
    {"nor one with a list that has no use", A, "0:00 pods web 2 3\n" QUOTA("few", "matchExpressions: [{key: pool, operator: Exists, values: [a]}]",
     "nodes: 0"), "0:00 a 0->2; ", .flags = with_quotas},
    {"the least of several", A, "0:00 pods web 9 3\n" QUOTA("b", "", "nodes: 5") POOL_A("nodes: 2") QUOTA("z", "", "nodes: 7"),
     "0:00 a 0->2; ", .flags = with_quotas},
    {"a part of a core is one", GROUPS(SHAPED("a", "3500m", "16Gi", "")), "0:00 pods web 9 3", "0:00 a 0->5; ", .flags = twenty_cores},
    {"one with expressions is", A, "0:00 pods web 2 3\n" QUOTA("few", "matchExpressions: [{key: pool, operator: NotIn, values: [b]}]", "nodes: 1"),
     "0:00 a 0->1; ", .flags = with_quotas},
    {"without the flag none is", A, "0:00 pods web 2 3\n" POOL_A("nodes: 0"), "0:00 a 0->2; ", .end = 0},
    {"scenario 72: up to all nodes that may be", GROUPS(G("a", 0, 20)), "0:00 nodes a 9\n0:00 pods full 9 3\n0:00 pods web 3 3",
     "0:00 a 9->10; ", .flags = ten_nodes},
    {"scenario 73: which there are", GROUPS(G("a", 0, 20)), "0:00 nodes a 10\n0:00 pods full 10 3\n0:00 pods web 1 3",
     "0:00 ScaleUpLimitedByMaxNodesTotal; 0:00 web-0: max total nodes in cluster reached; ", .watch = WATCH_UP | WATCH_LEFT, .flags = ten_nodes},
    {"scenario 74: two of them to come", GROUPS(G("a", 0, 20)),
     "0:00 nodes a 8\n0:00 pods full 8 3\n0:00 pods web 2 3\n0:10 pods api 1 3", "0:00 ScaleUpSuccessful; 0:00 a 8->10; 0:10 ScaleUpNoOptionsAvailable; ",
     .watch = WATCH_UP, .end = 1, .flags = ten_nodes},
    {"scenario 178: one of them cordoned", GROUPS(G("a", 0, 20)),
     "0:00 nodes a 10\n0:00 pods full 10 3\n0:00 cordon a-1\n0:00 pods web 1 3", "0:00 ScaleUpNoOptionsAvailable; ", .watch = WATCH_UP,
     .flags = ten_nodes},
    {"scenario 75: who is no machine is not counted", EIGHT, 
     "0:00 object {apiVersion: v1, kind: Node, metadata: {name: vk, labels: {type: virtual-kubelet}}, spec: {taints: [{key: x, effect: "
     "NoSchedule}]}, status: {capacity: {cpu: 1000}, allocatable: {cpu: 1000, pods: 9}, conditions: [{type: Ready, status: 'True'}]}}\n"
     "0:00 pods web 1 7",
     "0:00 a 0->1; ", .flags = twenty_cores},
    {"scenario 77: for the most pods", GROUPS(G("a", 0, 5) G("b", 0, 7)), "0:00 pods web 9 3",
     "0:00 a: 5 nodes for 5, b: 7 nodes for 7; 0:00 b 0->7; ", .watch = WATCH_OPTIONS, .flags = most_pods},
    {"scenario 78: the least waste", GROUPS(SHAPED("a", "4", "16Gi", "") SHAPED("b", "4", "8Gi", "")), "0:00 pods web 1 3 mem=4Gi",
     "0:00 b 0->1; ", .flags = least_waste},
    {"of all nodes that are bought", GROUPS(SHAPED("a", "4", "16Gi", "") SHAPED("b", "16", "16Gi", "")), "0:00 pods web 5 3",
     "0:00 b 0->1; ", .flags = least_waste},
    {"of as many nodes, the less wasteful", GROUPS(SHAPED("a", "16", "16Gi", "") SHAPED("b", "4", "16Gi", "")), "0:00 pods web 1 3",
     "0:00 b 0->1; ", .flags = nodes_then_waste},
    {"scenario 79: the fewest nodes", GROUPS(G("a", 0, 9) SHAPED("b", "16", "16Gi", "")), "0:00 pods web 3 3", "0:00 b 0->1; ",
     .flags = least_nodes},
    {"scenario 80: a price for which the shape does not suit the cluster",
     "podPrices: {cpu: 0.03, memory: 0.004}\n" GROUPS(SHAPED("a", "32", "120Gi", ", price: 1") SHAPED("b", "1", "4Gi", ", price: 1")),
     NODE("n1", "", "1", "True") NODE("n2", "", "1", "True") "0:00 pods full 2 1\n0:00 pods web 1 1", "0:00 b 0->1; ", .flags = cheapest},
    {"scenario 81: GPUs for pods that want none",
     "gpuLabel: gpu\npodPrices: {cpu: 0.03, memory: 0.004}\n"
     GROUPS(G_OF("a", 0, 9, ", gpu: t4", "cpu: 4, memory: 16Gi, nvidia.com/gpu: 1", ", price: 0.1") SHAPED("b", "4", "16Gi", ", price: 1")),
     "0:00 pods web 1 3", "0:00 b 0->1; ", .flags = cheapest},
    {"by the label alone: the resource is another maker's",
     "gpuLabel: gpu\npodPrices: {cpu: 0.03, memory: 0.004}\n"
     GROUPS(G_OF("a", 0, 9, ", gpu: mi300", "cpu: 4, memory: 16Gi, amd.com/gpu: 1", ", price: 0.1") SHAPED("b", "4", "16Gi", ", price: 1")),
     "0:00 pods web 1 3", "0:00 b 0->1; ", .flags = cheapest},
    {"by the resource alone: without the label",
     "gpuLabel: gpu\npodPrices: {cpu: 0.03, memory: 0.004}\n"
     GROUPS(SHAPED("a", "4", "16Gi, nvidia.com/gpu: 1", ", price: 0.1") SHAPED("b", "4", "16Gi", ", price: 1")),
     "0:00 pods web 1 3", "0:00 b 0->1; ", .flags = cheapest},
    {"unless they cost less than a thousandth",
     "gpuLabel: gpu\npodPrices: {cpu: 0.000003, memory: 0.0000004}\n"
     GROUPS(SHAPED("a", "4", "16Gi, nvidia.com/gpu: 1", ", price: 0.001") SHAPED("b", "4", "16Gi", ", price: 4")),
     "0:00 pods web 1 3", "0:00 a 0->1; ", .flags = cheapest},
    {"the more nodes, the less the shape counts", "podPrices: {cpu: 0.03, memory: 0.004}\n"
     "groups:\n- {name: a, minSize: 0, maxSize: 40, template: {status: {allocatable: {cpu: 4, memory: 64Gi, pods: 110}}}, price: 1.1625}\n"
     "- {name: b, minSize: 0, maxSize: 40, template: {status: {allocatable: {cpu: 1, memory: 64Gi, pods: 110}}}, price: 1}\n",
     "0:00 pods web 31 1", "0:00 a 0->8; ", .flags = cheapest},
    {"few are bought for the shape", "podPrices: {cpu: 0.03, memory: 0.004}\n"
     "groups:\n- {name: a, minSize: 0, maxSize: 40, template: {status: {allocatable: {cpu: 4, memory: 64Gi, pods: 110}}}, price: 1.2}\n"
     "- {name: b, minSize: 0, maxSize: 40, template: {status: {allocatable: {cpu: 1, memory: 64Gi, pods: 110}}}, price: 1}\n",
     "0:00 pods web 4 1", "0:00 b 0->4; ", .flags = cheapest},
    {"scenario 82: the highest priority", A_AND_B, "0:00 priorities {10: ['.*a.*'], 50: ['.*b.*']}\n0:00 pods web 1 3", "0:00 b 0->1; ",
     .flags = by_priority},
    {"scenario 82: the higher of two that a group has", A_AND_B, "0:00 priorities {10: ['.*'], 50: ['b']}\n0:00 pods web 1 3", "0:00 b 0->1; ",
     .flags = by_priority},
    {"a level without a name", A_AND_B, "0:00 priorities {10: , 50: ['b']}\n0:00 pods web 1 3", "0:00 b 0->1; ", .flags = by_priority},
    {"scenario 83: no priorities", A_AND_B, "0:00 pods web 1 3", "0:00 a: 1 nodes for 1, b: 1 nodes for 1, best: a b; 0:00 a 0->1; ",
     .watch = WATCH_OPTIONS, .flags = by_priority},
    {"scenario 84: none that matches", A_AND_B, "0:00 priorities {10: ['^c$']}\n0:00 pods web 1 3",
     "0:00 a: 1 nodes for 1, b: 1 nodes for 1, best: a b; 0:00 a 0->1; ", .watch = WATCH_OPTIONS, .flags = by_priority},
    {"scenario 85: others at once", A_AND_B,
     "0:00 priorities {10: ['a'], 50: ['b']}\n0:00 pods web 1 3\n5:00 priorities {10: ['b'], 50: ['a']}\n5:00 pods api 1 3",
     "0:00 b 0->1; 5:00 a 0->1; ", .end = 6, .flags = by_priority},
    {"scenario 86: of the first, the less wasteful", GROUPS(SHAPED("a", "16", "64Gi", "") SHAPED("b", "4", "8Gi", "") SHAPED("c", "3", "4Gi", "")),
     "0:00 priorities {10: ['c'], 50: ['a', 'b']}\n0:00 pods web 1 3", "0:00 b 0->1; ", .flags = by_priority_then_waste},
    {"scenario 193: a group is one, however often it matches", A_AND_B, "0:00 priorities {50: ['a', '.*', 'b']}\n0:00 pods web 1 3",
     "0:00 a: 1 nodes for 1, b: 1 nodes for 1, best: a b; 0:00 a 0->1; ", .watch = WATCH_OPTIONS, .flags = by_priority},
    {"scenario 89: one group at a time, and who waits for the next is not left", A_AND_B,
     "0:00 pods web 1 3 | nodeSelector: {pool: a}, \n0:00 pods api 1 3 | nodeSelector: {pool: b}, ", "0:00 a 0->1; 0:10 b 0->1; ",
     .watch = WATCH_LEFT, .end = 1},
    {"scenario 90: no group, and why", GROUPS(G("a", 0, 9) G("b", 0, 9) SHAPED("c", "16", "16Gi", "")),
     "0:00 pods web 1 8 | nodeSelector: {pool: b}, ",
     "0:00 web-0: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector; ", .watch = WATCH_LEFT},
    {"scenario 91, 93: the smaller first, whatever the zone", GROUPS(LIKE("a", 9) LIKE("b", 9)),
     "0:00 nodes a 1\n0:00 nodes b 3\n0:00 pods full 4 3\n0:00 pods web 4 3", "0:00 a 1->4; 0:00 b 3->4; ", .flags = balanced},
    {"scenario 91: of equals the first", GROUPS(LIKE("a", 9) LIKE("b", 9)), "0:00 pods web 3 3", "0:00 a 0->2; 0:00 b 0->1; ",
     .flags = balanced},
    {"scenario 92: up to its most", GROUPS(LIKE("a", 2) LIKE("b", 9)),
     "0:00 nodes a 1\n0:00 nodes b 3\n0:00 pods full 4 3\n0:00 pods web 4 3", "0:00 a 1->2; 0:00 b 3->6; ", .flags = balanced},
    {"scenario 99: not unless asked to", GROUPS(LIKE("a", 9) LIKE("b", 9)),
     "0:00 nodes a 1\n0:00 nodes b 3\n0:00 pods full 4 3\n0:00 pods web 4 3", "0:00 a 1->5; ", .end = 0},
    {"scenario 94: 1.5 % of memory", GROUPS(OF_MEMORY("a", "1000Mi") OF_MEMORY("b", "985Mi")),
     "0:00 pods web 4 3", "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced},
    {"scenario 94: and more", GROUPS(OF_MEMORY("a", "1000Mi") OF_MEMORY("b", "984Mi")),
     "0:00 pods web 4 3 mem=1Mi", "0:00 b 0->4; ", .flags = balanced},
    {"scenario 95: 6 % of what pods can have", GROUPS(LIKE("a", 9) Z("b", 9, "b", "cpu: 3760m, memory: 16000Mi", "")), "0:00 pods web 4 3",
     "0:00 a 0->4; ", .flags = balanced},
    {"scenario 95: 5 %", GROUPS(LIKE("a", 9) Z("b", 9, "b", "cpu: 3800m, memory: 16000Mi", "")), "0:00 pods web 4 3",
     "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced},
    {"scenario 96: a label that the other lacks", GROUPS(LIKE("a", 9) Z("b", 9, "b", "cpu: 4, memory: 16000Mi", ", x: z")), "0:00 pods web 4 3",
     "0:00 a 0->4; ", .flags = balanced},
    {"a label of AWS does not part groups there", "provider: aws\n" GROUPS(WITH("a", "eks.amazonaws.com/nodegroup: one", "4")
        WITH("b", "eks.amazonaws.com/nodegroup: two", "4")), "0:00 pods web 4 3", "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced},
    {"elsewhere it does", GROUPS(WITH("a", "eks.amazonaws.com/nodegroup: one", "4") WITH("b", "eks.amazonaws.com/nodegroup: two", "4")),
     "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced},
    {"a label of GCE does not part groups there", "provider: gce\n" GROUPS(WITH("a", "topology.gke.io/zone: one", "4")
        WITH("b", "topology.gke.io/zone: two", "4")), "0:00 pods web 4 3", "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced},
    {"on AWS it does", "provider: aws\n" GROUPS(WITH("a", "topology.gke.io/zone: one", "4") WITH("b", "topology.gke.io/zone: two", "4")),
     "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced},
    {"on Azure groups of one agent pool are alike, whatever their shape", "provider: azure\n" GROUPS(WITH("a", "agentpool: one", "4")
        WITH("b", "agentpool: one", "8")), "0:00 pods web 4 3", "0:00 a 0->1; 0:00 b 0->1; ", .flags = balanced},
    {"elsewhere they are not", GROUPS(WITH("a", "agentpool: one", "4") WITH("b", "agentpool: one", "8")), "0:00 pods web 4 3", "0:00 b 0->2; ",
     .flags = balanced},
    {"nor those of two agent pools", "provider: azure\n" GROUPS(WITH("a", "agentpool: one", "4") WITH("b", "agentpool: two", "8")),
     "0:00 pods web 4 3", "0:00 b 0->2; ", .flags = balanced},
    {"a label that is to be ignored", GROUPS(WITH("a", "x: two", "4") WITH("b", "x: three", "4")), "0:00 pods web 4 3",
     "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced_but_for_x},
    {"and another one", GROUPS(WITH("a", "other: two", "4") WITH("b", "other: three", "4")), "0:00 pods web 4 3", "0:00 a 0->4; ",
     .flags = balanced_but_for_x},
    {"a resource that the first lacks", GROUPS(LIKE("a", 9) Z("b", 9, "b", "cpu: 4, memory: 16000Mi, example.com/x: 1", "")),
     "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced},
    {"a resource that the second lacks", GROUPS(Z("a", 9, "a", "cpu: 4, memory: 16000Mi, example.com/x: 1", "") LIKE("b", 9)),
     "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced},
    {"a DaemonSet of one zone takes more than 5 % there", GROUPS(LIKE("a", 9) LIKE("b", 9)),
     DAEMON("nodeSelector: {topology.kubernetes.io/zone: b}, ") "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced},
    {"a DaemonSet of both does not part them", GROUPS(LIKE("a", 9) LIKE("b", 9)), DAEMON("") "0:00 pods web 4 3",
     "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced},
    {"by a label with two values", GROUPS(G("a", 0, 9) G("b", 0, 9)), "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced_by_pool},
    {"by a label that neither has", GROUPS(LIKE("a", 9) LIKE("b", 9)), "0:00 pods web 4 3", "0:00 a 0->4; ", .flags = balanced_by_pool},
    {"scenario 97: who is backed off takes no part", GROUPS(LIKE("a", 9) LIKE("b", 9)),
     "0:00 refuse b\n0:00 pods api 1 3 | nodeSelector: {topology.kubernetes.io/zone: b}, \n0:10 pods web 4 3",
     "0:00 b refused; 0:00 b backed off until 5:00; 0:10 a 0->4; ", .end = 1, .flags = balanced},
    {"scenario 98: nor who cannot have all of these pods", GROUPS(LIKE("a", 9) "- {name: b, minSize: 0, maxSize: 9, template: {metadata: {labels: "
        "{topology.kubernetes.io/zone: b}}, spec: {taints: [{key: t, effect: NoSchedule}]}, status: {capacity: {cpu: 4, memory: 16000Mi, pods: 110}}}}\n"),
     "0:00 pods web 2 3 | " TOLERATES("t") "\n0:00 pods api 2 3", "0:00 a 0->4; ", .flags = balanced},
    {"scenario 100: by one label alone", GROUPS(G_OF("a", 0, 9, "", "cpu: 4, memory: 16Gi", "")
        "- {name: b, minSize: 0, maxSize: 9, template: {metadata: {labels: {pool: a}}, status: {capacity: {cpu: 8, memory: 9Gi, pods: 9}}}}\n"),
     "0:00 pods web 4 3 | nodeSelector: {pool: a}, ", "0:00 a 0->2; 0:00 b 0->2; ", .flags = balanced_by_pool},
    {"scenario 180: pods of other schedulers fill their nodes", A,
     "0:00 nodes a 1\n0:00 pods theirs 1 3 on=a-1 | schedulerName: x, \n0:00 pods web 1 3 | schedulerName: default-scheduler, ", "0:00 a 1->2; ", .flags = allow_usual},
    {"scenario 183: nobody's nodes start up in the usual time", GROUPS(G_WITH("a", 0, 9, "options: {maxNodeStartupTime: 30m}")),
     "0:00 nodes a 1\n" NODE("n1", "", "4", "False") NODE("n2", "", "4", "False") NODE("n3", "", "4", "False") NODE("n4", "", "4", "False"),
     "0:00 unhealthy; ", .end = 0},
    {"scenario 185: one that grows and has no template stops no other", A_AND_B,
     "0:00 next a -1 never\n0:00 pods web 1 3 | nodeSelector: {pool: a}, \n0:10 bare a\n0:20 pods api 1 3 | nodeSelector: {pool: b}, ",
     "0:00 a 0->1; 0:20 b 0->1; ", .end = 1},
    {"scenario 185: as upstream it does", A_AND_B,
     "0:00 next a -1 never\n0:00 pods web 1 3 | nodeSelector: {pool: a}, \n0:10 bare a\n0:20 pods api 1 3 | nodeSelector: {pool: b}, ",
     "0:00 ScaleUpSuccessful; 0:00 a 0->1; 0:10 ScaleUpError; ", .watch = WATCH_UP, .end = 1, .flags = as_upstream},
    {"scenario 187: each node counts as it is", EIGHT, SIXTEEN_TOO "0:00 pods web 3 7", "0:00 a 2->3; ", .flags = thirty_two_cores},
    {"scenario 187: as upstream each is as the first", EIGHT, SIXTEEN_TOO "0:00 pods web 3 7", "0:00 a 2->4; ",
     .flags = thirty_two_cores_as_upstream},
    {"scenario 189: who would break a limit takes no part", GROUPS(OF_MEMORY("a", "990Mi") OF_MEMORY("b", "1000Mi")),
     "0:00 nodes a 1\n0:00 pods full 1 3\n0:00 pods web 1 3", "0:00 a 1->2; ", .flags = balanced_in_memory},
    {"scenario 173: a pod that takes a spare, and another is made", GROUPS(G("a", 0, 9)), BUFFER "0:10 pods web 1 3",
     "0:00 a 0->3; 0:10 a 3->4; ", .end = 30},
    {"scenario 173: without the buffer its nodes go", GROUPS(G("a", 0, 9)), BUFFER "20:00 unbuffered",
     "0:00 a 0->3; 30:10 remove a-1; 30:10 remove a-2; 30:10 remove a-3; 30:20 a-1 gone; 30:20 a-2 gone; 30:20 a-3 gone; ", .end = 31},
};

static void test_rows(void **state)
{
    (void)state;
    scenarios_run(rows, sizeof(rows) / sizeof(rows[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
