/* What no API server would take is set aside, with its own field's line, and the rest is planned; a field that no schema
 * knows is told, with what was meant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "support_plan.h"

struct row {
    const char *object, *want;
};

/* One object between a NodePool, of six lines, and a pod that has a place: all that it changes is the warning and, when
 * it asked for room, the exit status. */
static void expect_rows(const struct row *rows, size_t count, int status, const char *also)
{
    for (size_t i = 0; i < count; i++) {
        char objects[4096];
        snprintf(objects, sizeof(objects), "%s%s%s", POOL, rows[i].object, POD("fine", "{requests: {cpu: 2}}"));
        struct outcome o = plan(objects);
        if (o.status != status)
            fail_msg("%s: status %d, %s", rows[i].want, o.status, o.text);
        expect_text(rows[i].want, &o, "warning: ");
        expect_text(rows[i].want, &o, rows[i].want);
        expect_text(rows[i].want, &o, also);
        expect_text(rows[i].want, &o, "\n1 pod waits: 1 needs 1 new node.\n");
    }
}

static const char aside[] = "; the object is set aside\n", pool_aside[] = "; the pool is set aside\n";

/* ---- pods ---- */

#define ODD(spec) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: odd, namespace: shop}\nspec: {" spec "}\n"
#define RESOURCES(text) ODD("containers: [{name: c, resources: " text "}]")
#define SPREAD(more)                                                                               \
    ODD("topologySpreadConstraints: [{" more "topologyKey: topology.kubernetes.io/zone, labelSelector: {}}]")
#define HARD "whenUnsatisfiable: DoNotSchedule, "
#define SOFT "whenUnsatisfiable: ScheduleAnyway, "
#define NODE_TERM(expression)                                                                      \
    ODD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "    \
        "[{matchExpressions: [" expression "]}]}}}")
#define POD_TERM(term) ODD("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" term "]}}")
#define SELECTOR(expression)                                                                       \
    POD_TERM("{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [" expression "]}}")
#define TOLERATION(text) ODD("tolerations: [{" text "}]")

static void amounts_of_pods(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {POD("neg", "{requests: {cpu: -5}}"),
         ":14: Pod shop/neg: spec.containers[0].resources.requests.cpu: \"-5\" must not be negative; "
         "the object is set aside"},
        {POD("neg", "{limits: {memory: -1Gi}}"),
         "Pod shop/neg: spec.containers[0].resources.limits.memory: \"-1Gi\" must not be negative"},
        {ODD("overhead: {cpu: -1}"), "Pod shop/odd: spec.overhead.cpu: \"-1\" must not be negative"},
        {"---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d, namespace: kube-system}\n"
         "spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}}}\n",
         "DaemonSet kube-system/d: spec.template.spec.containers[0].resources.requests.cpu: \"-1\" must "
         "not be negative"},
        {RESOURCES("{requests: {cpu: 2}, limits: {cpu: 1500m}}"),
         ":11: Pod shop/odd: spec.containers[0].resources.requests: cpu is 2, more than the limit of 1500m"},
        {RESOURCES("{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}"),
         "resources.requests: nvidia.com/gpu is 1, and must be equal to the limit of 2"},
        {RESOURCES("{limits: {nvidia.com/gpu: 500m}}"),
         "resources.limits[nvidia.com/gpu]: \"500m\" is not a whole number, which devices are counted in"},
        {RESOURCES("{requests: {cpus: 2}}"),
         "resources.requests.cpus: is not a resource of containers; did you mean \"cpu\"?"},
        {RESOURCES("{requests: {gizmos: 2}}"), "resources.requests.gizmos: is not a resource of containers; use cpu, "},
        {ODD("resources: {requests: {cpu: 3}, limits: {cpu: 2}}"),
         "Pod shop/odd: spec.resources.requests: cpu is 3, more than the limit of 2"},
        {ODD("resources: {requests: {nvidia.com/gpu: 1}}"), "spec.resources.requests: nvidia.com/gpu is not for a whole pod"},
        {ODD("resources: {requests: {cpu: 1}}, containers: [{name: a, resources: {limits: {cpu: 1}}}, "
             "{name: b, resources: {requests: {cpu: 1}}}]"),
         "spec.resources: requests.cpu is 1, less than the 2 of the containers"},
        {ODD("priority: 2000001001"), "spec.priority: 2000001001 is out of range"},
        {ODD("containers: [{name: c, ports: [{hostPort: 65536}]}]"),
         "spec.containers[0].ports[0].hostPort: 65536 is out of range; it may be 0 to 65535"},
        {ODD("containers: [{name: c, ports: [{hostPort: 53, protocol: udp}]}]"),
         "spec.containers[0].ports[0].protocol: \"udp\" is not a protocol; use TCP, UDP or SCTP"},
    };
    expect_rows(rows, COUNT_OF(rows), 1, aside);
}

static void spreads(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {SPREAD(HARD "maxSkew: -256, "), "maxSkew: -256 is out of range; it may be 1 or more"},
        {SPREAD(HARD "maxSkew: 0, "), "maxSkew: 0 is out of range; it may be 1 or more"},
        {SPREAD(HARD), "spec.topologySpreadConstraints[0].maxSkew: is missing"},
        {SPREAD(HARD "maxSkew: 1, minDomains: 0, "), "minDomains: 0 is out of range; it may be 1 or more"},
        {SPREAD(SOFT "maxSkew: 1, minDomains: 2, "), "[0].minDomains: needs whenUnsatisfiable DoNotSchedule"},
        {SPREAD("maxSkew: 1, "), "[0].whenUnsatisfiable: is missing; use DoNotSchedule or ScheduleAnyway"},
        {SPREAD("maxSkew: 1, whenUnsatisfiable: Never, "), "[0].whenUnsatisfiable: \"Never\" is not an action; use Do"},
        {SPREAD(HARD "maxSkew: 1, nodeTaintsPolicy: honour, "), "[0].nodeTaintsPolicy: \"honour\" is not a policy"},
        {SPREAD(HARD "maxSkew: 1, nodeAffinityPolicy: x, "), "[0].nodeAffinityPolicy: \"x\" is not a policy; use Honor"},
        {ODD("topologySpreadConstraints: [{maxSkew: 1, " HARD "topologyKey: '', labelSelector: {}}]"),
         "topologySpreadConstraints[0].topologyKey: is missing"},
        {ODD("topologySpreadConstraints: [{maxSkew: 1, " HARD "topologyKey: a, matchLabelKeys: [b]}]"),
         "[0].matchLabelKeys: needs a labelSelector"},
        {ODD("topologySpreadConstraints: [{maxSkew: 1, " HARD "topologyKey: a, labelSelector: {}}, "
             "{maxSkew: 2, " HARD "topologyKey: a, labelSelector: {}}]"),
         "spec.topologySpreadConstraints: items 0 and 1 have the same topologyKey and whenUnsatisfiable"},
        {ODD("topologySpreadConstraints: [null]"), "spec.topologySpreadConstraints[0].maxSkew: is missing"},
    };
    expect_rows(rows, COUNT_OF(rows), 1, aside);
}

static void affinities(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {ODD("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{weight: 101, preference: {}}]}}"),
         "[0].weight: 101 is out of range; it may be 1 to 100"},
        {ODD("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[{podAffinityTerm: {topologyKey: a}}]}}"),
         "[0].weight: is missing"},
        {ODD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"),
         "nodeSelectorTerms: needs at least one term"},
        {NODE_TERM("{key: a, operator: Like, values: [b]}"),
         "matchExpressions[0].operator: \"Like\" is not an operator; use In, NotIn, Exists, DoesNotExist, Gt or Lt"},
        {NODE_TERM("{key: a, operator: Gte, values: ['1']}"), "operator: \"Gte\" is not an operator"},
        {NODE_TERM("{key: a}"), "operator: is missing; use In"},
        {NODE_TERM("{key: a, operator: NotIn}"), "[0].values: operator NotIn needs at least one value"},
        {NODE_TERM("{key: a, operator: Exists, values: [b]}"), "[0].values: operator Exists takes no values"},
        {NODE_TERM("{key: a, operator: Gt, values: ['1', '2']}"), "[0].values: operator Gt needs exactly one value, an integer"},
        {NODE_TERM("{key: a, operator: Lt, values: [b]}"), "[0].values: operator Lt needs exactly one value, an integer"},
        {NODE_TERM("{key: a b, operator: Exists}"), "[0].key: \"a b\" is not a label key"},
        {NODE_TERM("{key: a, operator: In, values: [b c]}"), "[0].values: \"b c\" is not a label value"},
        {NODE_TERM("null"), "matchExpressions[0].key: is missing"},
        {ODD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[{matchFields: [{key: spec.x, operator: In, values: [a]}]}]}}}"),
         "matchFields[0].key: \"spec.x\" is not a field of nodes; use metadata.name"},
        {ODD("nodeSelector: {a: b c}"), "spec.nodeSelector.a: \"b c\" is not a label value"},
        {POD_TERM("{labelSelector: {}}"), "[0].topologyKey: is missing"},
        {SELECTOR("{key: a, operator: In}"), "[0].values: operator In needs at least one value"},
        {SELECTOR("{key: a, operator: DoesNotExist, values: [b]}"), "[0].values: operator DoesNotExist takes no values"},
        {SELECTOR("{key: a, operator: Gt, values: ['1']}"),
         "[0].operator: \"Gt\" is not an operator; use In, NotIn, Exists or DoesNotExist"},
        {TOLERATION("key: a, operator: Like"), "tolerations[0].operator: \"Like\" is not an operator; use Equal, Exists"},
        {TOLERATION("key: a, effect: Never"), "[0].effect: \"Never\" is not an effect; use NoSchedule, PreferNoSchedule or"},
        {TOLERATION("key: a, operator: Exists, value: b"), "[0].value: operator Exists takes no value"},
        {TOLERATION("value: b"), "[0].key: is missing; without one, the operator must be Exists"},
        {TOLERATION("key: a, tolerationSeconds: 3"), "[0].tolerationSeconds: needs the effect NoExecute"},
    };
    expect_rows(rows, COUNT_OF(rows), 1, aside);
}

/* What an API server takes, however odd it looks. */
static void what_is_admitted_is_planned(void **state)
{
    (void)state;
    static const char *const rows[] = {
        RESOURCES("{requests: {cpu: 2, nvidia.com/gpu: 0}, limits: {cpu: 2, nvidia.com/gpu: 0}}"),
        ODD("resources: {requests: {cpu: 2}}, containers: [{name: a, resources: {limits: {cpu: 1}}}]"),
        ODD("terminationGracePeriodSeconds: -5"), /* read as 1 */
        SPREAD(SOFT "maxSkew: 1, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore, "),
        NODE_TERM("{key: a, operator: NotIn, values: ['']}, {key: b, operator: Lt, values: ['7']}"),
        TOLERATION("operator: Exists"),
        TOLERATION("key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 300"),
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: ip-10-0-0-1.ec2.internal}\n"
        "spec: {taints: [{key: a, effect: NoSchedule}]}\n",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char objects[2048];
        snprintf(objects, sizeof(objects), "%s%s", POOL, rows[i]);
        struct outcome o = plan(objects);
        if (strstr(o.text, "set aside") != NULL || strstr(o.text, "is not a field") != NULL)
            fail_msg("%s: %s", rows[i], o.text);
    }
}

/* ---- what asks for no room: the exit status stays that of the rest ---- */

#define OBJECT(api, kind, name, rest) "---\napiVersion: " api "\nkind: " kind "\nmetadata: {name: " name "}\n" rest "\n"

static void other_kinds(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {OBJECT("v1", "Node", "n1", "status: {allocatable: {cpu: -1}}"),
         ":11: Node n1: status.allocatable.cpu: \"-1\" must not be negative"},
        {OBJECT("v1", "Node", "n1", "spec: {taints: [{key: a, effect: Never}]}"),
         ":11: Node n1: spec.taints[0].effect: \"Never\" is not an effect"},
        {OBJECT("v1", "Node", "n1", "spec: {taints: [{key: a}]}"), "spec.taints[0].effect: is missing; use NoSchedule"},
        {OBJECT("v1", "Node", "\"n 1\"", ""), ":10: Node n 1: metadata.name: \"n 1\" is not a name; it takes small letters"},
        {OBJECT("v1", "Namespace", "a.b", ""), ":10: Namespace a.b: metadata.name: \"a.b\" is not a name"},
        {OBJECT("policy/v1", "PodDisruptionBudget", "b", "spec: {minAvailable: 110%}"), "spec.minAvailable: 110% is more than 100%"},
        {OBJECT("policy/v1", "PodDisruptionBudget", "b", "spec: {maxUnavailable: -1}"), "spec.maxUnavailable: -1 must not be negative"},
        {OBJECT("policy/v1", "PodDisruptionBudget", "b", "spec: {maxUnavailable: 1, minAvailable: 1}"),
         "spec.maxUnavailable: cannot be set beside minAvailable"},
        {OBJECT("policy/v1", "PodDisruptionBudget", "b", "spec: {unhealthyPodEvictionPolicy: Never}"),
         "spec.unhealthyPodEvictionPolicy: \"Never\" is not a policy; use IfHealthyBudget or AlwaysAllow"},
        {OBJECT("storage.k8s.io/v1", "StorageClass", "s", "provisioner: p\nvolumeBindingMode: Later"),
         ":12: StorageClass s: volumeBindingMode: \"Later\" is not a mode"},
        {OBJECT("storage.k8s.io/v1", "CSINode", "n1", "spec: {drivers: [{name: a, nodeID: i, allocatable: {count: -1}}]}"),
         "spec.drivers[0].allocatable.count: -1 is out of range"},
        {OBJECT("v1", "PersistentVolume", "v", "spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                "[{key: a, operator: In}]}]}}}"),
         "matchExpressions[0].values: operator In needs at least one value"},
        {OBJECT("karpenter.sh/v1alpha1", "NodeOverlay", "o", "spec: {weight: 0, requirements: []}"),
         "NodeOverlay o: spec.weight: 0 is out of range; it may be 1 to 10000"},
    };
    expect_rows(rows, COUNT_OF(rows), 0, aside);
}

static void workloads(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {OBJECT("apps/v1", "Deployment", "web", "spec:\n  replicas: -1\n  template: {}"),
         ":12: Deployment web: spec.replicas: -1 is out of range; it may be 0 or more"},
        {OBJECT("apps/v1", "Deployment", "web", "spec:\n  replicas: 1\n  template: null"),
         ":13: Deployment web: spec.template: is missing"},
        {OBJECT("apps/v1", "StatefulSet", "web", "spec: {template: {spec: {priority: 2147483647}}}"),
         "StatefulSet web: spec.template.spec.priority: 2147483647 is out of range"},
        {OBJECT("batch/v1", "Job", "j", "spec: {completions: -1, template: {}}"), "Job j: spec.completions: -1 is out of"},
    };
    expect_rows(rows, COUNT_OF(rows), 1, aside);
}

/* ---- NodePools: what the schema refuses, and what it lets through ---- */

#define ODD_POOL(spec) OBJECT("karpenter.sh/v1", "NodePool", "odd", "spec:\n" spec)
#define REQUIREMENT(text)                                                                          \
    ODD_POOL("  template:\n    spec:\n      nodeClassRef: {group: g, kind: k, name: c}\n      requirements:\n"  \
             "      - {key: kubernetes.io/arch, operator: Exists}\n      - " text)
#define BUDGET(text) ODD_POOL("  " POOL_TEMPLATE "\n  disruption:\n    budgets:\n    - " text)

static void pools(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {ODD_POOL("  " POOL_TEMPLATE "\n  weight: 1000"), ":13: NodePool odd: spec.weight: 1000 is out of range; it may be 1 to 100"},
        {ODD_POOL("  " POOL_TEMPLATE "\n  replicas: -1"), ":13: NodePool odd: spec.replicas: -1 is out of range; it may be 0 or more"},
        {ODD_POOL("  " POOL_TEMPLATE "\n  replicas: 1\n  weight: 2"), ":14: NodePool odd: spec.weight: cannot be set beside replicas"},
        {ODD_POOL("  " POOL_TEMPLATE "\n  replicas: 1\n  limits: {cpu: 2}"), "spec.limits: cpu cannot be limited beside replicas"},
        {ODD_POOL("  template: null"), ":12: NodePool odd: spec.template: is missing"},
        {ODD_POOL("  weight: 1"), ":12: NodePool odd: spec.template: is missing"},
        {ODD_POOL("  template:\n    spec:\n      requirements: []"), ":14: NodePool odd: spec.template.spec.nodeClassRef: is missing"},
        {ODD_POOL("  template: {spec: {nodeClassRef: {group: g, kind: k, name: c}}}"), "spec.template.spec.requirements: is missing"},
        {ODD_POOL("  template: {spec: {requirements: [], nodeClassRef: {group: g/v1, kind: k, name: c}}}"),
         "spec.template.spec.nodeClassRef.group: \"g/v1\" has a version; write \"g\""},
        {ODD_POOL("  template: {spec: {requirements: [], nodeClassRef: {group: g, name: c}}}"),
         "spec.template.spec.nodeClassRef.kind: is missing"},
        {REQUIREMENT("{key: a, operator: Like, values: [b]}"),
         ":17: NodePool odd: spec.template.spec.requirements[1].operator: \"Like\" is not an operator; use In, NotIn, Exists, "
         "DoesNotExist, Gt, Lt, Gte or Lte"},
        {REQUIREMENT("{key: a, operator: In}"), ":17: NodePool odd: spec.template.spec.requirements[1].values: operator In needs at least"},
        {REQUIREMENT("{key: a, operator: Gt, values: [b]}"), "requirements[1].values: operator Gt needs exactly one value"},
        {REQUIREMENT("{key: a, operator: Exists, minValues: 51}"), "requirements[1].minValues: 51 is out of range; it may be 1 to 50"},
        {REQUIREMENT("{key: karpenter.sh/x, operator: Exists}"),
         ":17: NodePool odd: spec.template.spec.requirements[1].key: label \"karpenter.sh/x\" is restricted"},
        {REQUIREMENT("{key: a, operator: In, values: [b/c]}"), ":17: NodePool odd: spec.template.spec.requirements[1].values: \"b/c\" is not"},
        {BUDGET("nodes: 110%"), ":15: NodePool odd: spec.disruption.budgets[0].nodes: \"110%\" is not a number of nodes"},
        {BUDGET("{schedule: 0 9 *, duration: 8h}"), ":15: NodePool odd: spec.disruption.budgets[0].schedule: \"0 9 *\" is not a schedule"},
        {BUDGET("{schedule: '@daily', duration: 30s}"), "budgets[0].duration: \"30s\" is not a duration; write hours and minutes"},
        {BUDGET("{schedule: '@daily'}"), "budgets[0].duration: is missing; schedule and duration must be set together"},
        {BUDGET("{reasons: [empty]}"), "budgets[0].reasons: \"empty\" is not a reason; use Underutilized, Empty, Drifted or Unhealthy"},
    };
    expect_rows(rows, COUNT_OF(rows), 0, pool_aside);
    struct outcome o = plan(BUDGET("{nodes: 100%, schedule: 0 9 * * mon-fri, duration: 2h20m0s, reasons: [Empty]}"));
    assert_null(strstr(o.text, "warning"));
}

/* ---- fields that no schema knows ---- */

static void unknown_fields(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {ODD_POOL("  " POOL_TEMPLATE "\n  limit: {cpu: 1}"), ":13: NodePool odd: spec.limit: is not a field; did you mean \"limits\"?\n"},
        {ODD_POOL("  template:\n    spec:\n      nodeClassRef: {group: g, kind: k, name: c}\n      requirements: []\n"
                  "      requirments: []\n  disruption: {consolidationAfter: 1h}"),
         ":16: NodePool odd: spec.template.spec.requirments: is not a field; did you mean \"requirements\"?\n"},
        {ODD_POOL("  " POOL_TEMPLATE "\n  disruption: {consolidationAfter: 1h}"),
         "spec.disruption.consolidationAfter: is not a field; did you mean \"consolidateAfter\"?\n"},
        {BUDGET("{nods: 3}"), "spec.disruption.budgets[0].nods: is not a field; did you mean \"nodes\"?\n"},
        {ODD_POOL("  " POOL_TEMPLATE "\n  colour: red"), "NodePool odd: spec.colour: is not a field\n"},
        {OBJECT("karpenter.sh/v1alpha1", "NodeOverlay", "o", "spec: {requirements: [], prize: '1'}"),
         "NodeOverlay o: spec.prize: is not a field; did you mean \"price\"?\n"},
        {OBJECT("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "k", "spec: {nodeRegistrationDelays: 1s}"),
         "KWOKNodeClass k: spec.nodeRegistrationDelays: is not a field; did you mean \"nodeRegistrationDelay\"?\n"},
        {OBJECT("v1", "Node", "n1", "spec: {tains: []}"), "Node n1: spec.tains: is not a field; did you mean \"taints\"?\n"},
        {"---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, lables: {a: b}}\n",
         ":10: Node n1: metadata.lables: is not a field; did you mean \"labels\"?\n"},
        {OBJECT("policy/v1", "PodDisruptionBudget", "b", "spec: {maxUnavailble: 1}"),
         "spec.maxUnavailble: is not a field; did you mean \"maxUnavailable\"?\n"},
    };
    expect_rows(rows, COUNT_OF(rows), 0, "warning: ");
    static const char *const pods[][2] = {
        {POD("a", "{request: {cpu: 1}}"), "spec.containers[0].resources.request: is not a field; did you mean \"requests\"?\n"},
        {ODD("nodeSelecter: {a: b}"), "spec.nodeSelecter: is not a field; did you mean \"nodeSelector\"?\n"},
        {ODD("containers: [{name: c, resource: {requests: {cpu: 1}}}]"), "containers[0].resource: is not a field; did you mean \"resources\"?\n"},
        {TOLERATION("key: a, operater: Exists"), "tolerations[0].operater: is not a field; did you mean \"operator\"?\n"},
        {SPREAD(HARD "maxSkew: 1, topolgyKey: x, "), "topologySpreadConstraints[0].topolgyKey: is not a field; did you mean"},
        {POD_TERM("{topologyKey: a, labelSelecter: {}}"), "labelSelecter: is not a field; did you mean \"labelSelector\"?\n"},
        {NODE_TERM("{key: a, operator: Exists, minValues: 1}"), "minValues: is not a field"},
    };
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        struct outcome o = plan(pods[i][0]);
        expect_text(pods[i][1], &o, pods[i][1]);
        expect_text("it is planned all the same", &o, "1 pod waits: ");
    }
}

/* All that a field manager, a human and a default write into a pod is known. */
static void known_fields_are_not_told(void **state)
{
    (void)state;
    struct outcome o = plan(
        POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, generateName: a-, uid: u, managedFields: [{manager: m}],\n"
             "  creationTimestamp: '2026-11-20T12:00:00Z', ownerReferences: [{apiVersion: v1, kind: Node, name: n, uid: u,\n"
             "  controller: true, blockOwnerDeletion: true}]}\n"
             "spec:\n  dnsPolicy: ClusterFirst\n  enableServiceLinks: true\n  preemptionPolicy: PreemptLowerPriority\n"
             "  priority: 0\n  restartPolicy: Always\n  schedulerName: default-scheduler\n  securityContext: {fsGroup: 1}\n"
             "  serviceAccount: default\n  serviceAccountName: default\n  terminationGracePeriodSeconds: 30\n"
             "  hostNetwork: true\n  containers:\n  - name: c\n    image: i\n    imagePullPolicy: Always\n"
             "    ports: [{name: http, containerPort: 80, protocol: TCP}]\n    env: [{name: A, value: b}]\n"
             "    volumeMounts: [{name: v, mountPath: /v}]\n    terminationMessagePath: /dev/log\n"
             "    livenessProbe: {httpGet: {path: /}}\n  volumes: [{name: v, projected: {sources: []}}]\n"
             "status: {phase: Pending, qosClass: BestEffort, hostIPs: []}\n");
    assert_null(strstr(o.text, "is not a field"));
}

static void what_many_have_is_told_once(void **state)
{
    (void)state;
    struct outcome o = plan(POOL POD("a", "{request: {cpu: 1}}") POD("b", "{request: {cpu: 1}}") POD("c", "{request: {cpu: 1}}"));
    expect_text("the first", &o, ":14: Pod shop/a: spec.containers[0].resources.request: is not a field; did you mean "
                                 "\"requests\"? (and 2 more of these)\n");
    assert_null(strstr(o.text, "Pod shop/b: spec"));
}

/* ---- many faults of one object ---- */

static struct span of_many(struct buf *b, const char *before, const char *item, uint32_t count, const char *after)
{
    buf_add(b, SPAN(POOL));
    buf_add(b, span_of(before));
    for (uint32_t i = 0; i < count; i++)
        buf_addf(b, "%s%s", i != 0 ? ", " : "", item);
    buf_add(b, span_of(after));
    buf_add(b, SPAN(POD("fine", "{requests: {cpu: 2}}")));
    return buf_span(b);
}

static uint32_t lines_of(const char *text)
{
    uint32_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

#define ODD_POD "---\napiVersion: v1\nkind: Pod\nmetadata: {name: odd, namespace: shop}\nspec: {"

static void repeats_are_one_line(void **state)
{
    (void)state;
    static const char item[] = "{maxSkew: 1, " HARD "topologyKey: a, labelSelector: {}}";
    struct buf b = {0};
    of_many(&b, ODD_POD "topologySpreadConstraints: [{maxSkew: 1, " SOFT "topologyKey: a, labelSelector: {}}, ", item, 1000, "]}\n");
    struct outcome o = plan(b.ptr);
    assert_int_equal(o.status, 1);
    expect_text("the first", &o, ": Pod shop/odd: spec.topologySpreadConstraints: items 1 and 2 have the same topologyKey and "
                                 "whenUnsatisfiable, and so have 998 more; the object is set aside\n");
    assert_true(lines_of(o.text) < 20);
    buf_release(&b);
}

/* A line for each of thousands of items is none that a person reads. */
static void faults_of_one_object_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *before, *item, *after, *want;
        int status;
    } rows[] = {
        {ODD_POD "topologySpreadConstraints: [", "{maxSkew: 0, " HARD "topologyKey: a, labelSelector: {}}", "]}\n",
         ": Pod shop/odd: and 985 more of this object\n", 1}, /* the repeats are one */
        {ODD_POD "tolerations: [", "{operator: Sometimes}", "]}\n", ": Pod shop/odd: and 984 more of this object\n", 1},
        {ODD_POD "tolerations: [", "7", "]}\n", "1000 mistakes in 1 of 1 file; nothing planned\n", 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = {0};
        of_many(&b, rows[i].before, rows[i].item, 1000, rows[i].after);
        struct outcome o = plan(b.ptr);
        if (o.status != rows[i].status || lines_of(o.text) > 40)
            fail_msg("%zu: status %d, %s", i, o.status, o.text);
        expect_text(rows[i].item, &o, rows[i].want);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_are_one_line),
        cmocka_unit_test(faults_of_one_object_are_counted),
        cmocka_unit_test(amounts_of_pods),
        cmocka_unit_test(spreads),
        cmocka_unit_test(affinities),
        cmocka_unit_test(what_is_admitted_is_planned),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(workloads),
        cmocka_unit_test(pools),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(known_fields_are_not_told),
        cmocka_unit_test(what_many_have_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
