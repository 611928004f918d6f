/* The rules of provisioning in scope, by the numbers of the checklist in spec provisioning 6. */
#include "support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define POOL(name_, spec_)                                                                         \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"              \
    "spec: {" spec_ "}\n"
#define PLAIN_POOL POOL("default", "template: {spec: {requirements: []}}")
#define REQUIRE(list_) "template: {spec: {requirements: [" list_ "]}}"

#define PENDING "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n"
#define POD_HEAD(name_) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ "}\n"
#define ASKS(requests_) "containers: [{name: c, resources: {requests: {" requests_ "}}}]"
#define POD(name_, requests_) POD_HEAD(name_) "spec: {" ASKS(requests_) "}\n" PENDING
#define POD_WITH(name_, requests_, spec_)                                                          \
    POD_HEAD(name_) "spec: {" ASKS(requests_) ", " spec_ "}\n" PENDING
#define TINY "cpu: 100m"
#define SELECT(kv_) "nodeSelector: {" kv_ "}"
#define AFFINITY(terms_)                                                                           \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                   \
    "{nodeSelectorTerms: [" terms_ "]}}}"
#define TERM(list_) "{matchExpressions: [" list_ "]}"
#define E_IN(key_, values_) "{key: " key_ ", operator: In, values: [" values_ "]}"
#define E_NOT_IN(key_, values_) "{key: " key_ ", operator: NotIn, values: [" values_ "]}"
#define E_EXISTS(key_) "{key: " key_ ", operator: Exists}"
#define E_ABSENT(key_) "{key: " key_ ", operator: DoesNotExist}"
#define E_GT(key_, value_) "{key: " key_ ", operator: Gt, values: [\"" value_ "\"]}"
#define E_LT(key_, value_) "{key: " key_ ", operator: Lt, values: [\"" value_ "\"]}"
#define ZONE "topology.kubernetes.io/zone"
#define ARCH "kubernetes.io/arch"
#define TYPE "node.kubernetes.io/instance-type"
#define CAPACITY "karpenter.sh/capacity-type"

#define DAEMON(name_, requests_, spec_)                                                            \
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " name_ "}\n"                     \
    "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {"       \
    ASKS(requests_) spec_ "}}}\n"

/* A node of pool default: 4 CPUs, 4Gi, in test-zone-1. */
#define NODE(name_, labels_, spec_)                                                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {karpenter.sh/nodepool: " \
    "default, karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\", " TYPE        \
    ": default-instance-type, " ZONE ": test-zone-1, " CAPACITY ": spot, " ARCH ": amd64" labels_  \
    "}}\nspec: {providerID: \"x://" name_ "\"" spec_ "}\nstatus: {capacity: {cpu: 4, memory: 4Gi, " \
    "pods: 5}, allocatable: {cpu: 3900m, memory: 4086Mi, pods: 5}}\n"
#define CLAIM(name_, node_, meta_, spec_, status_)                                                 \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name_                   \
    ", labels: {karpenter.sh/nodepool: default, " TYPE ": default-instance-type, " ZONE            \
    ": test-zone-1, " CAPACITY ": spot, " ARCH ": amd64}" meta_ "}\nspec: {" spec_ "}\nstatus: {"  \
    "providerID: \"x://" node_ "\", capacity: {cpu: 4, memory: 4Gi, pods: 5}, allocatable: {cpu: " \
    "3900m, memory: 4086Mi, pods: 5}" status_ "}\n"
#define REASON                                                                                     \
    ", conditions: [{type: DisruptionReason, status: \"True\", reason: Drifted, "                   \
    "lastTransitionTime: \"2026-01-01T00:00:00Z\"}]"
#define BOUND(name_, node_, requests_, meta_, spec_)                                               \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ meta_ "}\nspec: {nodeName: " node_   \
    ", " ASKS(requests_) spec_ "}\nstatus: {phase: Running}\n"

struct row {
    const char *label;
    const char *objects;
    const char *plan;   /* as cluster_summary */
    unsigned c1;        /* types C1(n) instead of C0 */
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cluster c;
        cluster_init(&c);
        if (rows[i].c1 != 0)
            cluster_types_c1(&c, rows[i].c1);
        else
            cluster_types_c0(&c);
        cluster_add(&c, rows[i].objects);
        cluster_plan(&c);
        struct span got = cluster_summary(&c);
        if (!span_eq(got, span_of(rows[i].plan)))
            fail_msg("%s:\ngot:\n%.*swant:\n%s", rows[i].label, SPAN_ARG(got), rows[i].plan);
        cluster_release(&c);
    }
}

static void provisionability(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"1 unschedulable and unbound", PLAIN_POOL POD("a", TINY), "default-1 small-instance-type/6: a\n", 0},
        {"2 never seen by a scheduler", PLAIN_POOL POD_HEAD("a") "spec: {" ASKS(TINY) "}\n", "", 0},
        {"3 preempting", PLAIN_POOL POD_HEAD("a") "spec: {" ASKS(TINY) "}\nstatus: {nominatedNodeName: n1, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n", "", 0},
        {"4 of a DaemonSet", PLAIN_POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u}]}\nspec: {" ASKS(TINY) "}\n" PENDING, "", 0},
        {"4 static", PLAIN_POOL "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Node, name: d, uid: u}]}\nspec: {" ASKS(TINY) "}\n" PENDING, "", 0},
        {"6 selects a hostname", PLAIN_POOL POD_WITH("a", TINY, SELECT("kubernetes.io/hostname: x")) POD("b", TINY), "default-1 small-instance-type/6: b\na Ignored\n", 0},
        {"7 restricted label", PLAIN_POOL POD_WITH("a", TINY, SELECT("karpenter.sh/test: x")), "a Ignored\n", 0},
        {"7 restricted sub-domain", PLAIN_POOL POD_WITH("a", TINY, SELECT("sub.karpenter.sh/test: x")), "a Ignored\n", 0},
        {"8 kubernetes.io label of the pool", POOL("default", "template: {metadata: {labels: {kubernetes.io/test: x}}, spec: {requirements: []}}") POD_WITH("a", TINY, SELECT("kubernetes.io/test: x")), "default-1 small-instance-type/6: a\n", 0},
        {"9 zone", PLAIN_POOL POD_WITH("a", TINY, SELECT(ZONE ": test-zone-3")), "default-1 small-instance-type/6: a\n", 0},
        {"10 unknown zone", PLAIN_POOL POD_WITH("a", TINY, SELECT(ZONE ": unknown")), "a Unschedulable\n", 0},
        {"10 unknown pool", PLAIN_POOL POD_WITH("a", TINY, SELECT("karpenter.sh/nodepool: unknown")), "a Unschedulable\n", 0},
        {"10 unknown type", PLAIN_POOL POD_WITH("a", TINY, SELECT(TYPE ": unknown")), "a Unschedulable\n", 0},
        {"10 unknown arch", PLAIN_POOL POD_WITH("a", TINY, SELECT(ARCH ": unknown")), "a Unschedulable\n", 0},
        {"10 undefined label", PLAIN_POOL POD_WITH("a", TINY, SELECT("foo: bar")), "a Unschedulable\n", 0},
        {"11 matchFields", PLAIN_POOL POD_WITH("a", TINY, AFFINITY("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}")), "a Ignored\n", 0},
        {"12 refuses every pool", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_ABSENT("karpenter.sh/nodepool")))), "a Ignored\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void pools(void **state)
{
    (void)state;
    static const char READY_FALSE[] = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: []}}}\nstatus: {conditions: [{type: Ready, status: \"False\", reason: x}]}\n" POD("a", TINY);
    static const char DELETING[] = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nspec: {template: {spec: {requirements: []}}}\n" POD("a", TINY);
    static const struct row rows[] = {
        {"27 not ready", READY_FALSE, "a NoNodePools\n", 0},
        {"27 being deleted", DELETING, "a NoNodePools\n", 0},
        {"27 static", POOL("default", "replicas: 1, template: {spec: {requirements: []}}") POD("a", TINY), "a NoNodePools\n", 0},
        {"28 static and dynamic", POOL("fixed", "replicas: 1, template: {spec: {requirements: []}}") PLAIN_POOL POD("a", TINY), "default-1 small-instance-type/6: a\n", 0},
        {"29 weights", POOL("none", "template: {spec: {requirements: []}}") POOL("mid", "weight: 20, template: {spec: {requirements: []}}") POOL("top", "weight: 100, template: {spec: {requirements: []}}") POD("a", TINY) POD_WITH("b", TINY, SELECT("karpenter.sh/nodepool: mid")), "top-1 small-instance-type/6: a\nmid-1 small-instance-type/6: b\n", 0},
        {"30 equal weights, later name first", POOL("np-1", "template: {spec: {requirements: []}}") POOL("np-2", "template: {spec: {requirements: []}}") POD("a", TINY), "np-2-1 small-instance-type/6: a\n", 0},
        {"31 label decides", POOL("zz", "template: {spec: {requirements: []}}") POOL("aa", "template: {metadata: {labels: {foo: bar}}, spec: {requirements: []}}") POD_WITH("a", TINY, SELECT("foo: bar")), "aa-1 small-instance-type/6: a\n", 0},
        {"32 untainted pool preferred", POOL("zz", "template: {spec: {requirements: [], taints: [{key: k, effect: PreferNoSchedule}]}}") POOL("aa", "template: {spec: {requirements: []}}") POD("a", TINY), "aa-1 small-instance-type/6: a\n", 0},
        {"32 soft taint alone", POOL("zz", "template: {spec: {requirements: [], taints: [{key: k, effect: PreferNoSchedule}]}}") POD("a", TINY), "zz-1 small-instance-type/6: a\n", 0},
        {"hard taint", POOL("zz", "template: {spec: {requirements: [], taints: [{key: k, effect: NoSchedule}]}}") POD("a", TINY) POD_WITH("b", TINY, "tolerations: [{key: k, operator: Exists}]"), "zz-1 small-instance-type/6: b\na Unschedulable\n", 0},
        {"startup taints block nobody", POOL("zz", "template: {spec: {requirements: [], startupTaints: [{key: k, effect: NoSchedule}]}}") POD("a", TINY), "zz-1 small-instance-type/6: a\n", 0},
        {"33 pool without types, node still used", POOL("default", REQUIRE(E_IN(TYPE, "unknown"))) NODE("n1", "", "") POD("a", TINY) POD("b", "cpu: 100"), "node n1: a\nb Unschedulable\n", 0},
        {"175 minValues", POOL("zz", REQUIRE("{key: " TYPE ", operator: Exists, minValues: 2}")) POOL("aa", "template: {spec: {requirements: []}}") POD("a", TINY), "zz-1 small-instance-type/6: a\n", 0},
        {"minValues pool that is not meant", POOL("zz", REQUIRE("{key: " TYPE ", operator: Exists, minValues: 2}")) POOL("aa", "template: {spec: {requirements: []}}") POD_WITH("a", TINY, SELECT("karpenter.sh/nodepool: aa")), "aa-1 small-instance-type/6: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define CUSTOM_POOL POOL("default", "template: {metadata: {labels: {key: v}}, spec: {requirements: []}}")
#define AB_POOL POOL("default", REQUIRE(E_IN("test-key", "a, b")))

static void requirements(void **state)
{
    (void)state;
    static const char PLACED[] = "default-1 small-instance-type/6: a\n", NOT[] = "a Unschedulable\n";
    static const struct row rows[] = {
        {"39 undefined In", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN("key", "v")))), NOT, 0},
        {"39 undefined Exists", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_EXISTS("key")))), NOT, 0},
        {"39 undefined NotIn", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_NOT_IN("key", "v")))), PLACED, 0},
        {"39 undefined DoesNotExist", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_ABSENT("key")))), PLACED, 0},
        {"40 In same", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN("key", "v")))), PLACED, 0},
        {"40 In other", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN("key", "x")))), NOT, 0},
        {"40 NotIn same", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_NOT_IN("key", "v")))), NOT, 0},
        {"40 NotIn other", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_NOT_IN("key", "x")))), PLACED, 0},
        {"40 Exists", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_EXISTS("key")))), PLACED, 0},
        {"40 DoesNotExist", CUSTOM_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_ABSENT("key")))), NOT, 0},
        {"41 Exists does not widen", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN(ZONE, "unknown") ", " E_EXISTS(ZONE)))), NOT, 0},
        {"42 Gt 8", POOL("default", REQUIRE(E_GT("integer", "8"))) POD("a", TINY), "default-1 arm-instance-type/1: a\n", 0},
        {"42 Lt 8", POOL("default", REQUIRE(E_LT("integer", "8"))) POD("a", TINY), "default-1 small-instance-type/5: a\n", 0},
        {"42 Gte 16", POOL("default", REQUIRE("{key: integer, operator: Gte, values: [\"16\"]}")) POD("a", TINY), "default-1 arm-instance-type/1: a\n", 0},
        {"42 Lte 2", POOL("default", REQUIRE("{key: integer, operator: Lte, values: [\"2\"]}")) POD("a", TINY), "default-1 small-instance-type/1: a\n", 0},
        {"44 In a and NotIn b share", AB_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN("test-key", "a")))) POD_WITH("b", TINY, AFFINITY(TERM(E_NOT_IN("test-key", "b")))), "default-1 small-instance-type/5: a b\n", 0},
        {"44 In a and In b do not", AB_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN("test-key", "a")))) POD_WITH("b", TINY, AFFINITY(TERM(E_IN("test-key", "b")))), "default-1 small-instance-type/6: a\ndefault-2 small-instance-type/6: b\n", 0},
        {"45 beta arch", PLAIN_POOL POD_WITH("a", TINY, SELECT("beta.kubernetes.io/arch: arm64")), "default-1 arm-instance-type/1: a\n", 0},
        {"51 impossible term", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN(ZONE, "bad")))), NOT, 0},
        {"52 terms in order", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_IN(ZONE, "bad1")) ", " TERM(E_IN(ZONE, "bad2")) ", " TERM(E_IN(ARCH, "arm64")) ", " TERM(E_IN(ARCH, "amd64")))), "default-1 arm-instance-type/1: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void packing(void **state)
{
    (void)state;
    static const char NOT[] = "a Unschedulable\n";
    static const struct row rows[] = {
        {"61 512 cpu", PLAIN_POOL POD("a", "cpu: 512"), NOT, 0},
        {"61 2Ti", PLAIN_POOL POD("a", "memory: 2Ti"), NOT, 0},
        {"62 two arches", PLAIN_POOL POD_WITH("a", TINY, SELECT(ARCH ": amd64")) POD_WITH("b", TINY, SELECT(ARCH ": arm64")), "default-1 small-instance-type/5: a\ndefault-2 arm-instance-type/1: b\n", 0},
        {"63 pool without arm", POOL("default", REQUIRE(E_IN(ARCH, "amd64"))) POD("a", "cpu: 14"), NOT, 0},
        {"64 one extended resource each", PLAIN_POOL POD("a", "fake.com/vendor-a: 1") POD("b", "fake.com/vendor-b: 1"), "default-1 gpu-vendor-instance-type/1: a\ndefault-2 gpu-vendor-b-instance-type/1: b\n", 0},
        {"64 both at once", PLAIN_POOL POD("a", "fake.com/vendor-a: 1, fake.com/vendor-b: 1"), NOT, 0},
        {"65 size large", PLAIN_POOL POD_WITH("a", TINY, SELECT("size: large")), "default-1 fake-it-4/1: a\n", 5},
        {"65 special exists", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_EXISTS("special")))), "default-1 fake-it-4/1: a\n", 5},
        {"65 special absent", PLAIN_POOL POD_WITH("a", TINY, AFFINITY(TERM(E_ABSENT("special")))), "default-1 fake-it-0/4: a\n", 5},
        {"66 memory", PLAIN_POOL POD("a", "memory: 2000M"), "default-1 small-instance-type/6: a\n", 0},
        {"67 overhead", PLAIN_POOL POD_WITH("a", "cpu: 1", "overhead: {cpu: 2}"), "default-1 default-instance-type/5: a\n", 0},
        {"69 one pod a node", POOL("default", REQUIRE(E_IN(TYPE, "single-pod-instance-type"))) POD("a", TINY) POD("b", TINY), "default-1 single-pod-instance-type/1: a\ndefault-2 single-pod-instance-type/1: b\n", 0},
        {"70 two sizes", PLAIN_POOL POD("a", "cpu: 4500m") POD("b", "cpu: 1"), "default-1 fake-it-4/1: a\ndefault-2 fake-it-1/4: b\n", 5},
        {"71 zero of an unknown resource", PLAIN_POOL POD("a", "foo.com/weird: 0"), "default-1 small-instance-type/6: a\n", 0},
        {"72 init container", PLAIN_POOL POD_WITH("a", "cpu: 1", "initContainers: [{name: i, resources: {requests: {cpu: 2, memory: 1Gi}}}]"), "default-1 default-instance-type/5: a\n", 0},
        {"72 init too large", PLAIN_POOL POD_WITH("a", "cpu: 1", "initContainers: [{name: i, resources: {requests: {memory: 1Ti}}}]"), NOT, 0},
        {"113 same host port", PLAIN_POOL POD_HEAD("a") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}\n" PENDING POD_HEAD("b") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}\n" PENDING, "default-1 small-instance-type/6: a\ndefault-2 small-instance-type/6: b\n", 0},
        {"113 other protocol", PLAIN_POOL POD_HEAD("a") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}\n" PENDING POD_HEAD("b") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 80, protocol: UDP}]}]}\n" PENDING, "default-1 small-instance-type/5: a b\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void limits(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"82 usage above the limit", POOL("default", "limits: {cpu: 2}, template: {spec: {requirements: []}}") NODE("n1", "", "") POD("a", "cpu: 3950m"), "a Unschedulable\n", 0},
        {"83 within", POOL("default", "limits: {cpu: 2}, template: {spec: {requirements: []}}") POD("a", "cpu: 1750m"), "default-1 small-instance-type/1: a\n", 0},
        {"83 above", POOL("default", "limits: {cpu: 2}, template: {spec: {requirements: []}}") POD("a", "cpu: 2100m"), "a Unschedulable\n", 0},
        {"84 one of two", POOL("default", "limits: {cpu: 3}, template: {spec: {requirements: []}}") POD("a", "cpu: 1500m") POD("b", "cpu: 1500m"), "default-1 small-instance-type/1: a\nb Unschedulable\n", 0},
        {"85 pods limit", POOL("default", "limits: {pods: 1}, template: {spec: {requirements: []}}") POD("a", "fake.com/vendor-a: 1"), "a Unschedulable\n", 0},
        {"86 nodes limit holds within a pass", POOL("default", "limits: {nodes: 1}, template: {spec: {requirements: []}}") POD("a", "cpu: 15") POD("b", "cpu: 15"), "default-1 arm-instance-type/1: a\nb Unschedulable\n", 0},
        {"falls to the next pool", POOL("zz", "limits: {cpu: 1}, template: {spec: {requirements: []}}") POOL("aa", "template: {spec: {requirements: []}}") POD("a", TINY), "aa-1 small-instance-type/6: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define SMALL_POOL POOL("default", REQUIRE(E_IN(TYPE, "small-instance-type")))
#define ZONAL_DAEMON DAEMON("d", "cpu: 1", ", nodeSelector: {" ZONE ": test-zone-1}")
#define SELECT_ZONE_2 ", nodeSelector: {" ZONE ": test-zone-2}"
#define IN_TWO_ZONES AFFINITY(TERM(E_IN(ZONE, "test-zone-1, test-zone-2")))
#define PORT_8080 "ports: [{containerPort: 80, hostPort: 8080}]"
#define PORT_DAEMON                                                                                \
    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: {}, template: " \
    "{spec: {containers: [{name: c, " PORT_8080 "}], nodeSelector: {" ZONE ": test-zone-1}}}}\n"
#define PORT_POD(zone_)                                                                            \
    POD_HEAD("a") "spec: {containers: [{name: c, " PORT_8080 "}], nodeSelector: {" ZONE ": " zone_ \
    "}}\n" PENDING

static void daemons(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"89 overhead", PLAIN_POOL DAEMON("d", "cpu: 2, memory: 2Gi", "") POD("a", "cpu: 1, memory: 1Gi"), "default-1 default-instance-type/4: a\n", 0},
        {"90 taint not tolerated", POOL("default", "template: {spec: {requirements: [], taints: [{key: k, effect: NoSchedule}]}}") DAEMON("d", "cpu: 2, memory: 2Gi", "") POD_WITH("a", "cpu: 1, memory: 1Gi", "tolerations: [{operator: Exists}]"), "default-1 small-instance-type/6: a\n", 0},
        {"90 selects what no node has", PLAIN_POOL DAEMON("d", "cpu: 2, memory: 2Gi", ", nodeSelector: {node: invalid}") POD("a", "cpu: 1, memory: 1Gi"), "default-1 small-instance-type/6: a\n", 0},
        {"91 too large", PLAIN_POOL DAEMON("d", "cpu: 10000", "") POD("a", TINY), "a Unschedulable\n", 0},
        {"94 second term", PLAIN_POOL DAEMON("d", "cpu: 2, memory: 2Gi", ", " AFFINITY(TERM(E_IN("node", "invalid")) ", " TERM(E_IN(ARCH, "amd64")))) POD("a", "cpu: 1, memory: 1Gi"), "default-1 default-instance-type/4: a\n", 0},
        {"95 per type", PLAIN_POOL DAEMON("d", "cpu: 1", ", nodeSelector: {size: small}") DAEMON("e", "cpu: 10", ", nodeSelector: {size: large}") POD("a", "cpu: 1, memory: 1Gi"), "default-1 default-instance-type/4: a\n", 0},
        {"of another zone", SMALL_POOL ZONAL_DAEMON POD_WITH("a", "cpu: 1500m", SELECT(ZONE ": test-zone-2")), "default-1 small-instance-type/1: a\n", 0},
        {"of its zone", SMALL_POOL ZONAL_DAEMON POD_WITH("a", "cpu: 1500m", SELECT(ZONE ": test-zone-1")), "a Unschedulable\n", 0},
        {"of one of its zones", SMALL_POOL ZONAL_DAEMON POD_WITH("a", "cpu: 800m", IN_TWO_ZONES) POD_WITH("b", "cpu: 800m", IN_TWO_ZONES), "default-1 small-instance-type/1: a\ndefault-2 small-instance-type/1: b\n", 0},
        {"of each of its zones, not of both at once", SMALL_POOL ZONAL_DAEMON DAEMON("e", "cpu: 1", SELECT_ZONE_2) POD_WITH("a", "cpu: 500m", IN_TWO_ZONES), "default-1 small-instance-type/1: a\n", 0},
        {"of a zone that a later pod rules out", SMALL_POOL ZONAL_DAEMON POD("a", "cpu: 800m") POD_WITH("b", "cpu: 700m", SELECT(ZONE ": test-zone-2")), "default-1 small-instance-type/1: a b\n", 0},
        {"where it is not", SMALL_POOL ZONAL_DAEMON POD("a", "cpu: 1500m") POD("b", "cpu: 400m"), "default-1 small-instance-type/1: a b\n", 0},
        {"where none of them is", SMALL_POOL ZONAL_DAEMON DAEMON("e", "cpu: 1", ", nodeSelector: {" CAPACITY ": spot}") POD("a", "cpu: 1500m"), "default-1 small-instance-type/1: a\n", 0},
        {"of the other capacity type", SMALL_POOL DAEMON("d", "cpu: 1", ", nodeSelector: {" CAPACITY ": spot}") POD_WITH("a", "cpu: 1500m", SELECT(CAPACITY ": on-demand")), "default-1 small-instance-type/1: a\n", 0},
        {"host port of a daemon of another zone", SMALL_POOL PORT_DAEMON PORT_POD("test-zone-2"), "default-1 small-instance-type/1: a\n", 0},
        {"host port of a daemon of its zone", SMALL_POOL PORT_DAEMON PORT_POD("test-zone-1"), "a Unschedulable\n", 0},
        {"96 host port of a daemon", PLAIN_POOL "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: {}, template: {spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]}}}\n" POD_HEAD("a") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]}\n" PENDING, "a Unschedulable\n", 0},
        {"98 selects initialized and registered", PLAIN_POOL DAEMON("d", "cpu: 1", ", nodeSelector: {karpenter.sh/initialized: \"true\"}") DAEMON("e", "cpu: 1", ", nodeSelector: {karpenter.sh/registered: \"true\"}") POD("a", "cpu: 2"), "default-1 arm-instance-type/1: a\n", 0},
        {"99 daemon bound already", PLAIN_POOL NODE("n1", "", "") DAEMON("d", "cpu: 1", "") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: d-1, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]}\nspec: {nodeName: n1, " ASKS("cpu: 1") "}\nstatus: {phase: Running}\n" POD("a", "cpu: 2900m"), "node n1: a\n", 0},
        {"daemon still to come", PLAIN_POOL NODE("n1", "", "") DAEMON("d", "cpu: 1", "") POD("a", "cpu: 3"), "default-1 arm-instance-type/1: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void nodes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"106 unmanaged node", PLAIN_POOL "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 10, pods: 110}}\n" POD("a", "cpu: 1"), "node n1: a\n", 0},
        {"107 initialised first", PLAIN_POOL NODE("n2", "", "") CLAIM("c2", "n2", "", "", "") CLAIM("a1", "a1", "", "", "") POD("a", "cpu: 1"), "node n2: a\n", 0},
        {"102 claim without a node", PLAIN_POOL CLAIM("c1", "n1", "", "", "") POD("a", "cpu: 1") POD_WITH("b", TINY, SELECT(ZONE ": test-zone-2")), "default-1 small-instance-type/6: b\nnode c1: a\n", 0},
        {"108 label absent from the node", PLAIN_POOL "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 10, pods: 110}}\n" POD_WITH("a", TINY, SELECT(ZONE ": test-zone-2")), "default-1 small-instance-type/6: a\n", 0},
        {"110 foreign taint", PLAIN_POOL NODE("n1", "", ", taints: [{key: k, effect: NoSchedule}]") POD("a", TINY), "default-1 small-instance-type/6: a\n", 0},
        {"109 not-ready taint on an initialised node", PLAIN_POOL NODE("n1", "", ", taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]") CLAIM("c1", "n1", "", "", "") POD("a", TINY), "default-1 small-instance-type/6: a\n", 0},
        {"109 not-ready and startup taints before", PLAIN_POOL "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {karpenter.sh/registered: \"true\", karpenter.sh/nodepool: default}}\nspec: {providerID: \"x://n1\", taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}, {key: boot, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 0}}\n" CLAIM("c1", "n1", "", "startupTaints: [{key: boot, effect: NoSchedule}]", "") POD("a", "cpu: 1"), "node n1: a\n", 0},
        {"cordoned", PLAIN_POOL NODE("n1", "", ", unschedulable: true") POD("a", TINY), "default-1 small-instance-type/6: a\n", 0},
        {"115 leaving: pods planned, room not used", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"", "", "") BOUND("a", "n1", TINY, "", "") POD("b", TINY), "default-1 small-instance-type/5: a b\n", 0},
        {"replaced by a claim that is there: pods planned onto that, room not used", PLAIN_POOL NODE("n1", "", "")
         CLAIM("c1", "n1", ", uid: u1", "", REASON) CLAIM("c2", "n2", ", creationTimestamp: \"2026-01-01T00:00:05Z\", annotations: {stowage.dev/replaces: \"1 c1/u1\"}", "", "")
         BOUND("a", "n1", TINY, "", "") POD("b", TINY), "node c2: a b\n", 0},
        {"replaced, had it still to leave", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", uid: u1", "", "")
         CLAIM("c2", "n2", ", creationTimestamp: \"2026-01-01T00:00:05Z\", annotations: {stowage.dev/replaces: \"1 c1/u1\"}", "", "") BOUND("a", "n1", TINY, "", "")
         POD("b", TINY), "node n1: b\n", 0},
        {"replaced by one that is leaving itself", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", uid: u1", "", REASON)
         CLAIM("c2", "n2", ", creationTimestamp: \"2026-01-01T00:00:05Z\", deletionTimestamp: \"2026-01-01T00:00:00Z\", annotations: {stowage.dev/replaces: \"1 c1/u1\"}", "", "")
         BOUND("a", "n1", TINY, "", "") POD("b", TINY), "node n1: b\n", 0},
        {"replaced by one that was bought for an earlier reason", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", uid: u1", "", REASON)
         CLAIM("c2", "n2", ", creationTimestamp: \"2025-12-31T23:58:59Z\", annotations: {stowage.dev/replaces: \"1 c1/u1\"}", "", "")
         BOUND("a", "n1", TINY, "", "") POD("b", TINY), "node n1: b\n", 0},
        {"116 DaemonSet pods of a leaving node", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"", "", "") BOUND("a", "n1", TINY, ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u}]", ""), "", 0},
        {"117 blocked for ever", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"", "", "") BOUND("a", "n1", TINY, ", labels: {app: x}", "") "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: p}\nspec: {maxUnavailable: 0, selector: {matchLabels: {app: x}}}\n", "", 0},
        {"118 do-not-disrupt", PLAIN_POOL NODE("n1", "", "") CLAIM("c1", "n1", ", deletionTimestamp: \"2026-01-01T00:00:00Z\"", "", "") BOUND("a", "n1", TINY, ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}", ""), "", 0},
        {"host port taken on the node", PLAIN_POOL NODE("n1", "", "") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {nodeName: n1, containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}\nstatus: {phase: Running}\n" POD_HEAD("a") "spec: {containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}]}]}\n" PENDING, "default-1 small-instance-type/6: a\n", 0},
        {"claim that has no machine yet", PLAIN_POOL "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1, labels: {karpenter.sh/nodepool: default}}\nspec: {requirements: [{key: " TYPE ", operator: In, values: [small-instance-type, default-instance-type]}, {key: " ZONE ", operator: In, values: [test-zone-1]}]}\n" POD("a", "cpu: 1500m") POD_WITH("b", TINY, SELECT(ZONE ": test-zone-1")) POD("c", "cpu: 1900m"), "default-1 small-instance-type/5: a b\nnode c1: c\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define LABELLED(name_, labels_, spec_)                                                            \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {" labels_ "}}\nspec: {"  \
    ASKS(TINY) spec_ "}\n" PENDING
#define ANTI(key_) ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " key_ ", labelSelector: {matchLabels: {app: x}}}]}}"

#define SPREAD(key_, when_)                                                                        \
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key_ ", whenUnsatisfiable: " when_  \
    ", labelSelector: {matchLabels: {app: x}}}]"
#define TOGETHER(key_) ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " key_ ", labelSelector: {matchLabels: {app: x}}}]}}"
#define HOST "kubernetes.io/hostname"

/* One claim or node for each domain that the rule makes different. */
static void topology(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"119 spread over zones", PLAIN_POOL LABELLED("a", "app: x", SPREAD(ZONE, "DoNotSchedule")) LABELLED("b", "app: x", SPREAD(ZONE, "DoNotSchedule")), "default-1 small-instance-type/6: a\ndefault-2 small-instance-type/6: b\n", 0},
        {"126 spread over a key that nobody has", PLAIN_POOL LABELLED("a", "app: x", SPREAD("example.com/rack", "DoNotSchedule")) POD("b", TINY), "default-1 small-instance-type/6: b\na Unschedulable\n", 0},
        {"126 the same if possible", PLAIN_POOL LABELLED("a", "app: x", SPREAD("example.com/rack", "ScheduleAnyway")), "default-1 small-instance-type/6: a\n", 0},
        {"129 spread over nodes", PLAIN_POOL LABELLED("a", "app: x", SPREAD(HOST, "DoNotSchedule")) LABELLED("b", "app: x", SPREAD(HOST, "DoNotSchedule")), "default-1 small-instance-type/6: a\ndefault-2 small-instance-type/6: b\n", 0},
        {"127 spread of others", PLAIN_POOL LABELLED("a", "app: other", SPREAD(HOST, "DoNotSchedule")) LABELLED("b", "app: other", SPREAD(HOST, "DoNotSchedule")), "default-1 small-instance-type/5: a b\n", 0},
        {"151 apart on nodes", PLAIN_POOL LABELLED("a", "app: x", ANTI(HOST)) LABELLED("b", "app: x", ANTI(HOST)), "default-1 small-instance-type/6: a\ndefault-2 small-instance-type/6: b\n", 0},
        {"148 together on a node", PLAIN_POOL LABELLED("a", "app: x", TOGETHER(HOST)) LABELLED("b", "app: x", TOGETHER(HOST)), "default-1 small-instance-type/5: a b\n", 0},
        {"157 together with nobody", PLAIN_POOL LABELLED("a", "app: other", TOGETHER(HOST)), "a Unschedulable\n", 0},
        {"154 kept off by a bound pod", PLAIN_POOL NODE("n1", "", "") BOUND("b", "n1", TINY, ", labels: {app: x}", ANTI(HOST)) LABELLED("a", "app: x", "") LABELLED("c", "app: other", ""), "default-1 small-instance-type/6: a\nnode n1: c\n", 0},
        {"54 preference that contradicts", PLAIN_POOL POD_WITH("a", TINY, "nodeSelector: {" ZONE ": test-zone-1}, affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: " TERM(E_IN(ZONE, "test-zone-2")) "}]}}"), "default-1 small-instance-type/6: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define OF_X(name_, cpu_, spec_)                                                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {app: x}}\n"              \
    "spec: {" ASKS("cpu: " cpu_) ", " spec_ "}\n" PENDING

/* The node of "a", in z1, may be bought on demand or spot, and only on demand it counts for b's spread. So b may not
 * rely on it: three pods in three zones, not two in one. */
static void who_may_count_is_not_relied_on(void **state)
{
    (void)state;
    static const char objects[] =
        "kind: InstanceTypes\nitems:\n- {name: only, resources: {cpu: 4, memory: 8Gi, pods: 110}, offerings: ["
        "{zone: z1, capacity: spot, price: 1.0}, {zone: z1, capacity: on-demand, price: 2.0}, "
        "{zone: z2, capacity: on-demand, price: 2.0}, {zone: z3, capacity: on-demand, price: 2.0}]}\n"
        PLAIN_POOL
        POD_WITH("other", "cpu: 3500m", SELECT(CAPACITY ": on-demand, " ZONE ": z1"))
        OF_X("a", "1900m", SELECT(ZONE ": z1")) OF_X("spot", "1850m", SELECT(CAPACITY ": spot"))
        OF_X("b-0", "1800m", SELECT(CAPACITY ": on-demand") SPREAD(ZONE, "DoNotSchedule"))
        OF_X("b-1", "1800m", SELECT(CAPACITY ": on-demand") SPREAD(ZONE, "DoNotSchedule"))
        OF_X("b-2", "1800m", SELECT(CAPACITY ": on-demand") SPREAD(ZONE, "DoNotSchedule"));
    static const enum search_kind searches[] = {SEARCH_GREEDY, SEARCH_CHEAPEST};
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct cluster c;
        cluster_init(&c);
        cluster_add(&c, objects);
        c.plan_options.search = searches[i];
        cluster_plan(&c); /* checked: whatever a's node turns out to be */
        assert_int_equal(c.plan->unschedulable_count, 0);
        cluster_release(&c);
    }
}

static void not_supported(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"resource claims", PLAIN_POOL POD_WITH("a", TINY, "resourceClaims: [{name: gpu, resourceClaimName: g}]"), "a DynamicResourcesNotSupported\n", 0},
        {"volumes that need no rule", PLAIN_POOL POD_WITH("a", TINY, "volumes: [{name: v, emptyDir: {}}]"), "default-1 small-instance-type/6: a\n", 0},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define TYPES_WITH(offering_)                                                                      \
    "kind: InstanceTypes\nitems:\n- {name: t, resources: {cpu: 4, memory: 8Gi, pods: 10}, offerings: " \
    "[" offering_ "]}\n"
#define ON_DEMAND_A "{zone: a, capacity: on-demand, price: 1}"

/* What single offerings change: reservations, overrides, availability. */
static void offerings(void **state)
{
    (void)state;
    static const struct {
        const char *label, *objects, *plan;
        bool gate_off;
    } rows[] = {
        {"reserved offering that would do", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: reserved, price: 0.1, reservations: 2}") PLAIN_POOL POD("a", "cpu: 1"), "default-1 t/1: a\n", false},
        {"217 full reservation", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: reserved, price: 0.1}") PLAIN_POOL POD("a", "cpu: 1"), "default-1 t/1: a\n", false},
        {"pod that does not ask for it", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: reserved, price: 0.1, reservations: 2}") PLAIN_POOL POD_WITH("a", "cpu: 1", SELECT(CAPACITY ": on-demand")), "default-1 t/1: a\n", false},
        {"reservation that is not healthy", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: reserved, price: 0.1, available: false}") PLAIN_POOL POD("a", "cpu: 1"), "default-1 t/1: a\n", false},
        {"gate off", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: reserved, price: 0.1, reservations: 2}") PLAIN_POOL POD("a", "cpu: 1"), "default-1 t/1: a\n", true},
        {"80 override adds a resource", TYPES_WITH("{zone: a, capacity: on-demand, price: 1, override: {example.com/dev: 2}}") PLAIN_POOL POD("a", "example.com/dev: 1"), "default-1 t/1: a\n", false},
        {"80 override that is not available", TYPES_WITH(ON_DEMAND_A ", {zone: a, capacity: on-demand, price: 1, available: false, override: {example.com/dev: 2}}") PLAIN_POOL POD("a", "example.com/dev: 1"), "a Unschedulable\n", false},
        {"override in one of two offerings", TYPES_WITH(ON_DEMAND_A ", {zone: b, capacity: on-demand, price: 1, override: {example.com/dev: 2}}") PLAIN_POOL POD("a", "example.com/dev: 1") POD_WITH("b", "example.com/dev: 1", SELECT(ZONE ": b")), "default-1 t/1: a b\n", false},
        {"nothing available", TYPES_WITH("{zone: a, capacity: on-demand, price: 1, available: false}") PLAIN_POOL POD("a", "cpu: 1"), "a Unschedulable\n", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster c;
        cluster_init(&c);
        c.options.reserved_capacity = !rows[i].gate_off;
        cluster_add(&c, rows[i].objects);
        cluster_plan(&c);
        struct span got = cluster_summary(&c);
        if (!span_eq(got, span_of(rows[i].plan)))
            fail_msg("%s:\ngot:\n%.*swant:\n%s", rows[i].label, SPAN_ARG(got), rows[i].plan);
        cluster_release(&c);
    }
}

/* What is written into a claim (36-38, 97). */
static void claim_contents(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL("default", "template: {metadata: {labels: {tier: web}}, spec: {requirements: ["
                         E_IN("rack", "r2, r1") ", " E_GT("gen", "3") ", " E_EXISTS("any") ", "
                         E_NOT_IN("not", "\"0\"") ", " E_ABSENT("absent") ", "
                         E_IN(ZONE, "test-zone-1") "]}}") DAEMON("d", "cpu: 1, memory: 1Mi", "")
                    POD("a", "cpu: 1, memory: 1Mi") POD("b", "cpu: 1, memory: 1Mi"));
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 1);
    const struct plan_claim *n = &p->claims[0];
    static const struct {
        const char *key, *value;
    } labels[] = {{"tier", "web"}, {"rack", "r1"}, {"gen", "4"}, {"any", "0"}, {"not", "1"},
                  {"absent", NULL}, {ZONE, NULL}, {"karpenter.sh/nodepool", "default"},
                  {"karpenter.sh/registered", NULL}};
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        struct span value = sym_text(p->syms, sym_pairs_get(n->labels, sym_find(p->syms, span_of(labels[i].key))));
        if (!span_eq(value, span_of(labels[i].value)))
            fail_msg("label %s is %.*s", labels[i].key, SPAN_ARG(value));
    }
    assert_int_equal(resources_get(n->requests, SYM_CPU), 3000);
    assert_int_equal(resources_get(n->requests, SYM_MEMORY), 3 << 20);
    assert_int_equal(resources_get(n->requests, SYM_PODS), 3);
    for (uint32_t i = 0; i < n->requirements.count; i++)
        assert_true(n->requirements.items[i].key != SYM_REGISTERED &&
                    n->requirements.items[i].key != SYM_INITIALIZED &&
                    n->requirements.items[i].key != SYM_HOSTNAME);
    cluster_release(&c);
}

/* --- several required affinity terms --- */

#define RACK "example.com/rack"
#define HOST "kubernetes.io/hostname"
#define NEAR(key_, label_) "{topologyKey: " key_ ", labelSelector: {matchLabels: {" label_ "}}}"
#define TERMS_NODE(name_, labels_, cpu_)                                                           \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {" HOST ": " name_ labels_ \
    "}}\nspec: {}\nstatus: {allocatable: {cpu: " cpu_ ", memory: 8Gi, pods: 10}}\n"
#define TERMS_POD(name_, labels_, rest_, terms_)                                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {" labels_ "}}\nspec: {" rest_ \
    ASKS("cpu: 1") ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" \
    terms_ "]}}}\n" PENDING

/* The plan of what stands, while nothing can be bought. */
static void nobody_sells(const char *label, const char *const *objects, const char *summary)
{
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, POOL("none", REQUIRE(E_IN(ARCH, "s390x"))));
    for (int i = 0; i < 3; i++)
        if (objects[i][0] != '\0')
            cluster_add(&c, objects[i]);
    cluster_plan(&c);
    if (!span_eq(cluster_summary(&c), span_of(summary)))
        fail_msg("%s: %.*s", label, SPAN_ARG(cluster_summary(&c)));
    cluster_release(&c);
}

/* As kube-scheduler has it: a pod counts for any term only if all terms mean it, and the first of those who
 * want to be together may go anywhere only while nobody counts by any term. */
static void affinity_terms(void **state)
{
    (void)state;
    static const char zone_host[] = TERMS_POD("x", "app: x", "", NEAR(ZONE, "app: a") ", " NEAR(HOST, "tier: b"));
    static const char own_zone[] = TERMS_POD("x", "app: a, tier: b", "", NEAR(ZONE, "app: a") ", " NEAR(ZONE, "tier: b"));
    static const char zone_rack[] = TERMS_POD("x", "app: a", "", NEAR(ZONE, "app: a") ", " NEAR(RACK, "app: a"));
    static const char two_zones[] = TERMS_NODE("n1", ", " ZONE ": z1", "200m") TERMS_NODE("n2", ", " ZONE ": z2", "1500m")
        TERMS_NODE("n3", ", " ZONE ": z1", "1500m");
    static const char one_of_rack[] = TERMS_NODE("n1", ", " ZONE ": z1", "200m")
        TERMS_NODE("n2", ", " ZONE ": z1, " RACK ": r1", "1500m");
    static const struct {
        const char *label, *nodes, *bound, *pods, *summary;
    } rows[] = {
        {"each term means another pod", two_zones,
         BOUND("a", "n3", TINY, ", labels: {app: a}", "") BOUND("b", "n3", TINY, ", labels: {tier: b}", ""), zone_host,
         "x Unschedulable\n"},
        {"both mean one", two_zones, BOUND("ab", "n3", TINY, ", labels: {app: a, tier: b}", ""), zone_host,
         "node n3: x\n"},
        {"whom one term means is elsewhere", two_zones,
         BOUND("ab", "n1", TINY, ", labels: {app: a, tier: b}", "") BOUND("a", "n2", TINY, ", labels: {app: a}", "")
         BOUND("b", "n2", TINY, ", labels: {tier: b}", ""), own_zone, "node n3: x\n"},
        {"the first, beside others whom one term means", two_zones,
         BOUND("a", "n1", TINY, ", labels: {app: a}", "") BOUND("b", "n1", TINY, ", labels: {tier: b}", ""), own_zone,
         "node n2: x\n"},
        {"the second follows the first", two_zones, "",
         TERMS_POD("x", "app: a, tier: b", "", NEAR(ZONE, "app: a") ", " NEAR(HOST, "tier: b"))
         TERMS_POD("z", "app: a, tier: b", "", NEAR(HOST, "tier: b") ", " NEAR(ZONE, "app: a")),
         "node n2: x\nz Unschedulable\n"},
        {"it is itself not meant by all", two_zones, "",
         TERMS_POD("x", "app: a", "", NEAR(ZONE, "app: a") ", " NEAR(ZONE, "tier: b")), "x Unschedulable\n"},
        {"not the first where one key counts nobody", one_of_rack, BOUND("a", "n1", TINY, ", labels: {app: a}", ""),
         zone_rack, "x Unschedulable\n"},
        {"the first by both keys", one_of_rack, "", zone_rack, "node n2: x\n"},
        {"one term twice", two_zones, BOUND("a", "n1", TINY, ", labels: {app: a}", ""),
         TERMS_POD("x", "app: x", "", NEAR(ZONE, "app: a") ", " NEAR(ZONE, "app: a")), "node n3: x\n"},
        {"a preferred one is by itself", two_zones,
         BOUND("a", "n2", TINY, ", labels: {app: a}", "") BOUND("b", "n1", TINY, ", labels: {tier: b}", ""),
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {" ASKS("cpu: 1") ", affinity: {podAffinity: "
         "{requiredDuringSchedulingIgnoredDuringExecution: [" NEAR(ZONE, "app: a") "], "
         "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: " NEAR(ZONE, "tier: b")
         "}]}}}\n" PENDING, "node n2: x\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const objects[] = {rows[i].nodes, rows[i].bound, rows[i].pods};
        nobody_sells(rows[i].label, objects, rows[i].summary);
    }
}

/* --- a volume that is not there yet, of several pods --- */

#define SHARES ", volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]"
#define SHARER(name_) POD_WITH(name_, "cpu: 1", "volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]")
#define LATE_VOLUME                                                                                \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: late}\nprovisioner: csi.example.com\n" \
    "volumeBindingMode: WaitForFirstConsumer\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: v}\n" \
    "spec: {storageClassName: late}\nstatus: {phase: Pending}\n"

/* It is made where the first of them goes, and from a node without a zone nobody knows where it can be reached. Where
 * no node has one, it can be everywhere, for all that is known. */
static void late_volumes(void **state)
{
    (void)state;
    static const char pods[] = LATE_VOLUME SHARER("a") SHARER("b");
    static const struct {
        const char *label, *nodes, *bound, *summary;
    } rows[] = {
        {"one zone", TERMS_NODE("n1", ", " ZONE ": z1", "1") TERMS_NODE("n2", ", " ZONE ": z1", "1"), "",
         "node n1: a\nnode n2: b\n"},
        {"two zones", TERMS_NODE("n1", ", " ZONE ": z1", "1") TERMS_NODE("n2", ", " ZONE ": z2", "1"), "",
         "node n1: a\nb Unschedulable\n"},
        {"no zones", TERMS_NODE("n1", "", "1") TERMS_NODE("n2", "", "1"), "", "node n1: a\nnode n2: b\n"},
        {"first without a zone", TERMS_NODE("n1", "", "1") TERMS_NODE("n2", ", " ZONE ": z1", "1"), "",
         "node n1: a\nb Unschedulable\n"},
        {"first in a zone", TERMS_NODE("n1", ", " ZONE ": z1", "1") TERMS_NODE("n2", "", "1"), "",
         "node n1: a\nb Unschedulable\n"},
        {"one has come without a zone", TERMS_NODE("n0", "", "100m") TERMS_NODE("n1", ", " ZONE ": z1", "1") TERMS_NODE("n2", "", "1"),
         BOUND("x", "n0", TINY, "", SHARES), "node n2: a\nb Unschedulable\n"},
        {"one has come in a zone", TERMS_NODE("n0", ", " ZONE ": z1", "100m") TERMS_NODE("n1", ", " ZONE ": z1", "1") TERMS_NODE("n2", "", "1"),
         BOUND("x", "n0", TINY, "", SHARES), "node n1: a\nb Unschedulable\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const objects[] = {rows[i].nodes, rows[i].bound, pods};
        nobody_sells(rows[i].label, objects, rows[i].summary);
    }
}

static void late_volumes_explained(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, PLAIN_POOL);
    cluster_add(&c, TERMS_NODE("n0", "", "100m"));
    cluster_add(&c, BOUND("x", "n0", TINY, "", SHARES));
    cluster_add(&c, LATE_VOLUME SHARER("a"));
    cluster_plan(&c);
    const struct plan_unschedulable *u = cluster_failed(&c, "a");
    if (!span_contains(u->why.sentence, SPAN("shares volume claim v, which is not bound yet, with pods on a node without a zone; ")))
        fail_msg("%.*s", SPAN_ARG(u->why.sentence));
    cluster_release(&c);
}

/* The reason names every term; with a pool that could buy. */
static void affinity_terms_explained(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, PLAIN_POOL);
    cluster_add(&c, TERMS_POD("x", "app: x", "", NEAR(ZONE, "app: a") ", " NEAR(ZONE, "tier: b")));
    cluster_plan(&c);
    const struct plan_unschedulable *u = cluster_failed(&c, "x");
    if (!span_contains(u->why.sentence, SPAN("a pod with app=a and with tier=b is (same " ZONE ")")))
        fail_msg("%.*s", SPAN_ARG(u->why.sentence));
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provisionability), cmocka_unit_test(pools),
        cmocka_unit_test(requirements),     cmocka_unit_test(packing),
        cmocka_unit_test(limits),           cmocka_unit_test(daemons),
        cmocka_unit_test(nodes),            cmocka_unit_test(topology), cmocka_unit_test(not_supported),
        cmocka_unit_test(who_may_count_is_not_relied_on),
        cmocka_unit_test(offerings),        cmocka_unit_test(claim_contents),
        cmocka_unit_test(late_volumes),     cmocka_unit_test(late_volumes_explained),
        cmocka_unit_test(affinity_terms),   cmocka_unit_test(affinity_terms_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
