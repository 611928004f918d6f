/* Why a pod has no place: names and numbers of the sentence, rule by rule, and that the fix it names is
 * one: the same cluster with the fix applied is planned again. */
#include "support_reasons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NO_ZONE                                                                                    \
    "finds no type in pool default: no type meets its requirement topology.kubernetes.io/zone In "   \
    "[test-zone-9] (there are test-zone-1, test-zone-2 and test-zone-3). Fix: let pool default ask " \
    "for a topology.kubernetes.io/zone that there is"

#define N1 NODE("n1", "test-zone-1", NO_ROOM)
#define N2 NODE("n2", "test-zone-2", NO_ROOM)
#define N3 NODE("n3", "test-zone-3", NEVER)
#define IN_1_AND_2 POOL_IN("test-zone-1, test-zone-2")
#define WEB_1 BOUND("w1", "n1", "app: web", "")
#define WEB_2 BOUND("w2", "n2", "app: web", "")

static void spread(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"a zone lags behind in which the pool does not buy",
         IN_1_AND_2 N1 N2 N3 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "1", "")),
         "would break its spread over topology.kubernetes.io/zone (maxSkew 1: test-zone-1 1, test-zone-2 1, "
         "test-zone-3 0); pool default can buy room for it only in test-zone-1 and test-zone-2. Fix: raise maxSkew "
         "over topology.kubernetes.io/zone to 2, or let pool default buy in test-zone-3", "nodes: 3 looked at; none has 0.1 CPUs free (most: n3, 0.05 CPUs)",
         IN_1_AND_2 N1 N2 N3 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "2", ""))},
        {"the other fix",
         IN_1_AND_2 N1 N2 N3 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "1", "")), "would break its spread over topology.kubernetes.io/zone (maxSkew 1: test-zone-1 1, test-zone-2 1, "
         "test-zone-3 0); pool default can buy room for it only in test-zone-1 and test-zone-2. Fix: raise maxSkew "
         "over topology.kubernetes.io/zone to 2, or let pool default buy in test-zone-3", NULL,
         PLAIN_POOL N1 N2 N3 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "1", ""))},
        {"three pods that must go where one zone is bought",
         POOL_IN("test-zone-1") NODE("n2", "test-zone-2", NEVER) N3 POD("1c", "app: web", SPREAD(ZONE, "1", "")) POD("1b", "app: web", SPREAD(ZONE, "1", ""))
         POD("a", "app: web", SPREAD(ZONE, "1", "")),
         "would break its spread over topology.kubernetes.io/zone (maxSkew 1: test-zone-1 1, test-zone-2 0, "
         "test-zone-3 0); pool default can buy room for it only in test-zone-1. Fix: raise maxSkew over "
         "topology.kubernetes.io/zone to 3, or let pool default buy in test-zone-2 and test-zone-3", NULL,
         POOL_IN("test-zone-1") NODE("n2", "test-zone-2", NEVER) N3 POD("a", "app: web", SPREAD(ZONE, "3", "")) POD("1b", "app: web", SPREAD(ZONE, "3", ""))
         POD("1c", "app: web", SPREAD(ZONE, "3", ""))},
        {"three pods: the other fix",
         POOL_IN("test-zone-1") NODE("n2", "test-zone-2", NEVER) N3 POD("1c", "app: web", SPREAD(ZONE, "1", "")) POD("1b", "app: web", SPREAD(ZONE, "1", ""))
         POD("a", "app: web", SPREAD(ZONE, "1", "")), "would break its spread over topology.kubernetes.io/zone (maxSkew 1: test-zone-1 1, test-zone-2 0, "
         "test-zone-3 0); pool default can buy room for it only in test-zone-1. Fix: raise maxSkew over "
         "topology.kubernetes.io/zone to 3, or let pool default buy in test-zone-2 and test-zone-3", NULL,
         PLAIN_POOL NODE("n2", "test-zone-2", NEVER) N3 POD("1c", "app: web", SPREAD(ZONE, "1", "")) POD("1b", "app: web", SPREAD(ZONE, "1", ""))
         POD("a", "app: web", SPREAD(ZONE, "1", ""))},
        {"fewer zones than minDomains",
         IN_1_AND_2 N1 N2 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "1", ", minDomains: 3")), "would break its spread over topology.kubernetes.io/zone (maxSkew 1, minDomains 3: test-zone-1 1, "
         "test-zone-2 1); pool default can buy room for it only in test-zone-1 and test-zone-2. Fix: raise maxSkew "
         "over topology.kubernetes.io/zone to 2", "nodes: 2 looked at; none has 0.1 CPUs free (most: n1, 0 CPUs)",
         IN_1_AND_2 N1 N2 WEB_1 WEB_2 POD("a", "app: web", SPREAD(ZONE, "2", ", minDomains: 3"))},
        {"a label that no pool sets", PLAIN_POOL POD("a", "app: web", SPREAD("example.com/rack", "1", "")), "needs label example.com/rack on its node, for spread, and pool default does not set it. Fix: add "
         "example.com/rack to the labels or requirements of pool default", "nodes: there are none",
         "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {metadata: {labels: "
         "{example.com/rack: r1}}, spec: {requirements: []}}}\n" POD("a", "app: web", SPREAD("example.com/rack", "1", ""))},
        {"a host is full and nothing is bought",
         POOL_IN("test-zone-9") NODE("n1", "test-zone-1", ROOM) WEB_1 POD("a", "app: web", SPREAD(HOST, "1", "")), NO_ZONE, "nodes: 1 looked at; 1 refused by its spread over kubernetes.io/hostname (maxSkew 1)", NULL},
    };
    CHECK_ROWS(rows);
}

static void affinity(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"to nobody", PLAIN_POOL POD("a", "app: web", NEAR("podAffinity", ZONE, "db")), "must be where a pod with app=db is (same topology.kubernetes.io/zone), and no such pod has a place. Fix: "
         "run a pod with app=db, or make the affinity a preferred one", "nodes: there are none",
         PLAIN_POOL POD("a", "app: web", LIKE_NEAR("podAffinity", ZONE, "db"))},
        {"to nobody: with such a pod", PLAIN_POOL POD("a", "app: web", NEAR("podAffinity", ZONE, "db")), "must be where a pod with app=db is (same topology.kubernetes.io/zone), and no such pod has a place. Fix: "
         "run a pod with app=db, or make the affinity a preferred one", "nodes: there are none",
         PLAIN_POOL POD("a", "app: web", NEAR("podAffinity", ZONE, "db")) POD("b", "app: db", "priority: 0")},
        {"to a pod where the pool does not buy",
         POOL_IN("test-zone-1") NODE("n3", "test-zone-3", NO_ROOM) BOUND("d", "n3", "app: db", "") POD("a", "app: web", NEAR("podAffinity", ZONE, "db")),
         "must be where a pod with app=db is (same topology.kubernetes.io/zone: test-zone-3 1); pool default can "
         "buy room for it only in test-zone-1. Fix: let pool default buy in test-zone-3, or make the affinity a "
         "preferred one", "nodes: 1 looked at; none has 0.1 CPUs free (most: n3, 0 CPUs)",
         POOL_IN("test-zone-1, test-zone-3") NODE("n3", "test-zone-3", NO_ROOM) BOUND("d", "n3", "app: db", "") POD("a", "app: web", NEAR("podAffinity", ZONE, "db"))},
        {"to a pod on a full node",
         PLAIN_POOL NODE("n3", "test-zone-3", NO_ROOM) BOUND("d", "n3", "app: db", "") POD("a", "app: web", NEAR("podAffinity", HOST, "db")),
         "must be on the node of a pod with app=db; there is 1, but not on a node with room for it. Fix: make the "
         "affinity a preferred one", "nodes: 1 looked at; none has 0.1 CPUs free (most: n3, 0 CPUs)",
         PLAIN_POOL NODE("n3", "test-zone-3", NO_ROOM) BOUND("d", "n3", "app: db", "") POD("a", "app: web", LIKE_NEAR("podAffinity", HOST, "db"))},
        {"a preference besides is not to blame",
         PLAIN_POOL POD("a", "app: web", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " ZONE
         ", labelSelector: {matchLabels: {app: db}}}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: "
         "{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: aa}}}}]}}"),
         "must be where a pod with app=db is (same topology.kubernetes.io/zone), and no such pod has a place. Fix: "
         "run a pod with app=db, or make the affinity a preferred one", NULL, NULL},
    };
    CHECK_ROWS(rows);
}

static void anti_affinity(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"every zone is taken",
         IN_1_AND_2 N1 N2 WEB_1 WEB_2 POD("a", "app: web", NEAR("podAntiAffinity", ZONE, "web")), "keeps away from pods with app=web (same topology.kubernetes.io/zone: test-zone-1 1, test-zone-2 1); pool "
         "default can buy room for it only in test-zone-1 and test-zone-2. Fix: let pool default buy in "
         "test-zone-3, or make the anti-affinity a preferred one", "nodes: 2 looked at; none has 0.1 CPUs free (most: n1, 0 CPUs)",
         POOL_IN("test-zone-1, test-zone-2, test-zone-3") N1 N2 WEB_1 WEB_2 POD("a", "app: web", NEAR("podAntiAffinity", ZONE, "web"))},
        {"every zone is taken: preferred",
         IN_1_AND_2 N1 N2 WEB_1 WEB_2 POD("a", "app: web", NEAR("podAntiAffinity", ZONE, "web")), "keeps away from pods with app=web (same topology.kubernetes.io/zone: test-zone-1 1, test-zone-2 1); pool "
         "default can buy room for it only in test-zone-1 and test-zone-2. Fix: let pool default buy in "
         "test-zone-3, or make the anti-affinity a preferred one", "nodes: 2 looked at; none has 0.1 CPUs free (most: n1, 0 CPUs)",
         IN_1_AND_2 N1 N2 WEB_1 WEB_2 POD("a", "app: web", LIKE_NEAR("podAntiAffinity", ZONE, "web"))},
        {"another pod keeps it away",
         IN_1_AND_2 N1 N2 BOUND("d1", "n1", "app: db", ", " NEAR("podAntiAffinity", ZONE, "web"))
         BOUND("d2", "n2", "app: db", ", " NEAR("podAntiAffinity", ZONE, "web")) POD("a", "app: web", "priority: 0"),
         "is kept away by default/d1 and 1 more, whose anti-affinity wants no such pod in the same "
         "topology.kubernetes.io/zone (test-zone-1 1, test-zone-2 1); pool default can buy room for it only in "
         "test-zone-1 and test-zone-2. Fix: let pool default buy in test-zone-3, or make the anti-affinity of "
         "default/d1 and 1 more a preferred one", "nodes: 2 looked at; none has 0.1 CPUs free (most: n1, 0 CPUs)",
         POOL_IN("test-zone-1, test-zone-2, test-zone-3") N1 N2 BOUND("d1", "n1", "app: db", ", " NEAR("podAntiAffinity", ZONE, "web"))
         BOUND("d2", "n2", "app: db", ", " NEAR("podAntiAffinity", ZONE, "web")) POD("a", "app: web", "priority: 0")},
        {"another pod on the node",
         POOL_IN("test-zone-9") NODE("n1", "test-zone-1", ROOM) BOUND("d1", "n1", "app: db", ", " NEAR("podAntiAffinity", HOST, "web"))
         POD("a", "app: web", "priority: 0"), NO_ZONE, "nodes: 1 looked at; 1 refused by the anti-affinity of default/d1 over kubernetes.io/hostname", NULL},
        {"another pod on each of the nodes, one of which is full",
         POOL_IN("test-zone-9") NODE("n1", "test-zone-1", ROOM) NODE("n2", "test-zone-1", ROOM) NODE("n3", "test-zone-1", NEVER)
         BOUND("d1", "n1", "app: db", ", " NEAR("podAntiAffinity", HOST, "web"))
         BOUND("d2", "n2", "app: db", ", " NEAR("podAntiAffinity", HOST, "web")) POD("a", "app: web", "priority: 0"),
         NO_ZONE,
         "nodes: 3 looked at; 1 without room: none has 0.1 CPUs free (most: n3, 0.05 CPUs); 2 refused by the anti-affinity of pods there over "
         "kubernetes.io/hostname", NULL},
        {"near and away from the same",
         PLAIN_POOL NODE("n1", "test-zone-1", NO_ROOM) BOUND("d1", "n1", "app: db, x: one", "")
         POD("a", "app: web", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " ZONE
         ", labelSelector: {matchLabels: {app: db}}}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "[{topologyKey: " ZONE ", labelSelector: {matchExpressions: [{key: x, operator: Exists}]}}]}}"), "finds no node of pool default that all of these allow: its affinity to pods with app=db over "
         "topology.kubernetes.io/zone (test-zone-1 1); its anti-affinity to pods with x over "
         "topology.kubernetes.io/zone (test-zone-1 1). Fix: make one of them a preferred one", NULL, NULL},
    };
    CHECK_ROWS(rows);
}

/* The pool buys large types in another zone only. */
#define LARGE_THERE                                                                                \
    "- {name: u, resources: {cpu: 8, memory: 8Gi, pods: 10}, offerings: [{zone: a, capacity: spot, price: 1}]}\n" \
    "- {name: x, resources: {cpu: 8, memory: 8Gi, pods: 10}, offerings: [{zone: b, capacity: spot, price: 1}]}\n"
#define POOL_SMALL                                                                                 \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: " \
    "[{key: node.kubernetes.io/instance-type, operator: In, values: [t, x]}]}}}\n"
#define CPUS_5                                                                                     \
    POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}], " USES(USE("data")) "}\n" PENDING

static void volumes(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"a volume where the pool does not buy",
         POOL_IN("test-zone-1") NODE("n1", "test-zone-1", ROOM) CLAIM("data", "v") VOLUME("v", "test-zone-2") POD("a", "", USES(USE("data"))),
         "has volume claim data in test-zone-2; pool default has topology.kubernetes.io/zone In [test-zone-1]. Fix: "
         "let pool default buy in test-zone-2", "nodes: 1 looked at; 1 is not where its volumes are",
         POOL_IN("test-zone-1, test-zone-2") NODE("n1", "test-zone-1", ROOM) CLAIM("data", "v") VOLUME("v", "test-zone-2") POD("a", "", USES(USE("data")))},
        {"a volume where what is sold is too small",
         SMALL_TYPES("9") PLAIN_POOL CLAIM("data", "v") VOLUME("v", "a")
         POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}], " USES(USE("data")) "}\n" PENDING,
         "asks for 5 CPUs; the largest type that pool default may buy has 4 CPUs for pods. Fix: ask for at most 4 CPUs (no "
         "type of the catalogue has 5 for pods)", "nodes: there are none",
         SMALL_TYPES("9") "- {name: u, resources: {cpu: 8, memory: 8Gi, pods: 10}, offerings: [{zone: a, capacity: spot, price: 1}]}\n"
         PLAIN_POOL CLAIM("data", "v") VOLUME("v", "a")
         POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}], " USES(USE("data")) "}\n" PENDING},
        {"a volume where only the other zone has a large type",
         SMALL_TYPES("9") "- {name: u, resources: {cpu: 8, memory: 8Gi, pods: 10}, offerings: [{zone: b, capacity: spot, price: 1}]}\n"
         PLAIN_POOL CLAIM("data", "v") VOLUME("v", "a")
         POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}], " USES(USE("data")) "}\n" PENDING,
         "has its volumes where pool default can buy no room for it: data is in a. Fix: ask for less (no type of the "
         "catalogue that is sold where they are has all of it)", "nodes: there are none",
         SMALL_TYPES("9") "- {name: u, resources: {cpu: 8, memory: 8Gi, pods: 10}, offerings: [{zone: a, capacity: spot, price: 1}]}\n"
         PLAIN_POOL CLAIM("data", "v") VOLUME("v", "a")
         POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}], " USES(USE("data")) "}\n" PENDING},
        {"a volume where the pool does not buy the large type",
         SMALL_TYPES("9") LARGE_THERE POOL_SMALL CLAIM("data", "v") VOLUME("v", "a") CPUS_5,
         "has its volumes where pool default can buy no room for it: data is in a. Fix: let pool default buy a larger type "
         "where they are", NULL,
         SMALL_TYPES("9") LARGE_THERE PLAIN_POOL CLAIM("data", "v") VOLUME("v", "a") CPUS_5},
        {"a volume that is being made for a node without room",
         PLAIN_POOL NODE("n1", "test-zone-1", NEVER) WAITING_CLASS MADE_FOR("data", "n1")
         POD("a", "", USES(USE("data"))),
         "has volume claim data that is being made for node n1, which does not take it. Fix: make room on node n1, or "
         "take annotation volume.kubernetes.io/selected-node off the claim", NULL,
         PLAIN_POOL NODE("n1", "test-zone-1", NEVER) WAITING_CLASS MADE_FOR("data", "''")
         POD("a", "", USES(USE("data")))},
        {"two volumes apart",
         PLAIN_POOL CLAIM("data", "v") VOLUME("v", "test-zone-2") CLAIM("logs", "u") VOLUME("u", "test-zone-1")
         POD("a", "", USES(USE("data") ", " USE("logs"))),
         "has volumes that no node of pool default reaches all: data is in test-zone-2, logs is in test-zone-1. "
         "Fix: put its volumes into one zone", "nodes: there are none", NULL},
        {"a volume in another zone than the pod asks for",
         PLAIN_POOL CLAIM("data", "v") VOLUME("v", "test-zone-2") POD("a", "", "nodeSelector: {" ZONE ": test-zone-1}, " USES(USE("data"))),
         "has volume claim data in test-zone-2; it asks for topology.kubernetes.io/zone In [test-zone-1]. Fix: let "
         "the pod go to test-zone-2", "nodes: there are none", PLAIN_POOL CLAIM("data", "v") VOLUME("v", "test-zone-2") POD("a", "", "nodeSelector: {" ZONE ": test-zone-2}, " USES(USE("data")))},
        {"more than a node attaches",
         SMALL_TYPES("1") PLAIN_POOL NODE("n1", "a", ROOM) CSI_NODE("n1", "1") CLAIM("data", "v") VOLUME("v", "a") CLAIM("logs", "u")
         VOLUME("u", "a") POD("a", "", USES(USE("data") ", " USE("logs"))),
         "attaches 2 volumes of csi.example.com; no type that pool default may buy attaches more than 1. Fix: use "
         "at most 1 volume of csi.example.com (no type of the catalogue attaches 2)", "nodes: 1 looked at; none can attach 2 volumes of csi.example.com more (most: n1, 1)",
         SMALL_TYPES("2") PLAIN_POOL NODE("n1", "a", ROOM) CSI_NODE("n1", "1") CLAIM("data", "v") VOLUME("v", "a") CLAIM("logs", "u")
         VOLUME("u", "a") POD("a", "", USES(USE("data") ", " USE("logs")))},
    };
    CHECK_ROWS(rows);
}

#define ANY_POOL(name_, spec_, template_)                                                          \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"              \
    "spec: {" spec_ "template: {spec: {" template_ "}}}\n"
#define IN(key_, value_) "requirements: [{key: " key_ ", operator: In, values: [" value_ "]}]"
#define GENERAL ANY_POOL("general", "", IN("node.kubernetes.io/instance-type", "small-instance-type"))
#define KEPT "taints: [{key: gpu, value: full, effect: NoSchedule}]"
#define TOLERATES "tolerations: [{key: gpu, operator: Exists}]"
#define ASKING(amounts_, more_)                                                                    \
    POD_META("a", "") "spec: {containers: [{name: c, resources: {requests: {" amounts_ "}}}]"        \
    more_ "}\n" PENDING
#define GPU_POOL ANY_POOL("gpu", "", IN("team", "ml") ", " KEPT)
#define NONE_LEFT ANY_POOL("default", "limits: {cpu: 0}, ", "requirements: []")

/* The nearest of several pools is named, and all of the fixes together give the pod a place. */
static void nearest(void **state)
{
    (void)state;
    static const struct reason_row rows[] = {
        {"a pool by name, whose taint is not tolerated",
         GENERAL GPU_POOL POD("a", "", "nodeSelector: {karpenter.sh/nodepool: gpu}"),
         "does not tolerate taint gpu=full:NoSchedule of pool gpu. Fix: tolerate gpu=full:NoSchedule, or take the taint "
         "from the pool",
         "pool general: it asks for karpenter.sh/nodepool In [gpu]; pool general has karpenter.sh/nodepool In [general]",
         GENERAL GPU_POOL POD("a", "", "nodeSelector: {karpenter.sh/nodepool: gpu}, " TOLERATES)},
        {"a label that only the tainted pool has",
         GENERAL GPU_POOL POD("a", "", "nodeSelector: {team: ml}"),
         "does not tolerate taint gpu=full:NoSchedule of pool gpu. Fix: tolerate gpu=full:NoSchedule, or take the taint "
         "from the pool",
         "pool general: it asks for team In [ml], a label that pool general does not set",
         GENERAL GPU_POOL POD("a", "", "nodeSelector: {team: ml}, " TOLERATES)},
        {"a device that only the tainted pool buys",
         GENERAL ANY_POOL("gpu", "", IN("node.kubernetes.io/instance-type", "gpu-vendor-instance-type") ", " KEPT)
         ANY_POOL("arm", "", IN("kubernetes.io/arch", "arm64") ", " KEPT) ASKING("fake.com/vendor-a: 1", ", nodeSelector: {kubernetes.io/arch: amd64}"),
         "does not tolerate taint gpu=full:NoSchedule of pool gpu. Fix: tolerate gpu=full:NoSchedule, or take the taint "
         "from the pool", NULL,
         GENERAL ANY_POOL("gpu", "", IN("node.kubernetes.io/instance-type", "gpu-vendor-instance-type") ", " KEPT)
         ASKING("fake.com/vendor-a: 1", ", nodeSelector: {kubernetes.io/arch: amd64}, " TOLERATES)},
        {"the pool asked for by name is not there",
         GENERAL POD("a", "", "nodeSelector: {karpenter.sh/nodepool: gpu}"),
         "asks for karpenter.sh/nodepool In [gpu]; pool general has karpenter.sh/nodepool In [general]. Fix: ask for pool "
         "general, or leave the pool open", NULL, GENERAL POD("a", "", "priority: 0")},
        {"the pool asked for by name is static",
         GENERAL ANY_POOL("gpu", "replicas: 0, ", "requirements: []") POD("a", "", "nodeSelector: {karpenter.sh/nodepool: gpu}"),
         "asks for pool gpu, which is static: spec.replicas says how many nodes it has. Fix: ask for pool general, or leave "
         "the pool open", NULL, GENERAL POD("a", "", "nodeSelector: {karpenter.sh/nodepool: general}")},
        {"a zone in which nothing is sold",
         POOL_IN("test-zone-1") POD("a", "", "nodeSelector: {" ZONE ": test-zone-9}"),
         "asks for topology.kubernetes.io/zone In [test-zone-9] (there are test-zone-1, test-zone-2 and test-zone-3); pool "
         "default has topology.kubernetes.io/zone In [test-zone-1]. Fix: ask for what pool default has", NULL,
         POOL_IN("test-zone-1") POD("a", "", "nodeSelector: {" ZONE ": test-zone-1}")},
        {"the last part of a well-known label",
         PLAIN_POOL POD("a", "", "nodeSelector: {zone: test-zone-1}"),
         "asks for zone In [test-zone-1], a label that pool default does not set (did you mean topology.kubernetes.io/zone?). "
         "Fix: add zone to the labels or requirements of pool default", NULL,
         PLAIN_POOL POD("a", "", "nodeSelector: {" ZONE ": test-zone-1}")},
        {"spread over a key that is none",
         PLAIN_POOL POD("a", "app: web", SPREAD("topology.kubernetes.io/zoen", "1", "")),
         "needs label topology.kubernetes.io/zoen on its node, for spread, and pool default does not set it (did you mean "
         "topology.kubernetes.io/zone?). Fix: add topology.kubernetes.io/zoen to the labels or requirements of pool default", NULL,
         PLAIN_POOL POD("a", "app: web", SPREAD(ZONE, "1", ""))},
        {"limits, and pods that are nowhere",
         NONE_LEFT POD("a", "", NEAR("podAffinity", ZONE, "none")),
         "finds only 0 CPUs left within the limits of pool default (0: 0 used), and every type that would hold it has "
         "more; it also must be where a pod with app=none is (same topology.kubernetes.io/zone), and no such pod has a "
         "place. Fix: raise spec.limits.cpu of pool default; and run a pod with app=none, or make the affinity a "
         "preferred one", NULL,
         PLAIN_POOL POD("a", "", LIKE_NEAR("podAffinity", ZONE, "none"))},
        {"too large for any, and beyond the limits of the one that is not tainted",
         ANY_POOL("gpu", "", "requirements: [], " KEPT) ANY_POOL("default", "limits: {cpu: 8}, ", "requirements: []") ASKING("cpu: 17", ""),
         "asks for 17 CPUs; the largest type that pool default may buy has 15.9 CPUs for pods; it also finds only 8 CPUs "
         "left within the limits of pool default (8: 0 used), and every type that would hold it has more. Fix: ask for at "
         "most 15.9 CPUs (no type of the catalogue has 17 for pods); and raise spec.limits.cpu of pool default",
         "pool gpu: it does not tolerate taint gpu=full:NoSchedule of pool gpu; it also asks for 17 CPUs; the largest type "
         "that pool gpu may buy has 15.9 CPUs for pods", NULL},
        {"a million CPUs within limits",
         ANY_POOL("default", "limits: {cpu: 8}, ", "requirements: []") ASKING("cpu: 1M", ""),
         "asks for 1000000 CPUs; the largest type that pool default may buy has 15.9 CPUs for pods. Fix: write the CPU "
         "request with m (thousandths of a CPU) if that is meant; M is a million CPUs", NULL,
         ANY_POOL("default", "limits: {cpu: 8}, ", "requirements: []") ASKING("cpu: 1m", "")},
        {"two limits",
         ANY_POOL("default", "limits: {cpu: 0, memory: 1Gi}, ", "requirements: []") POD("a", "", "priority: 0"),
         "finds only 0 CPUs left within the limits of pool default (0: 0 used), and every type that would hold it has "
         "more; it also finds only 1Gi of memory left within the limits of pool default (1Gi: 0 used), and every type "
         "that would hold it has more. Fix: raise spec.limits.cpu of pool default; and raise spec.limits.memory of pool "
         "default", NULL,
         ANY_POOL("default", "limits: {cpu: 2, memory: 2Gi}, ", "requirements: []") POD("a", "", "priority: 0")},
        {"too large, and pods that are nowhere",
         ANY_POOL("default", "", IN("size", "small")) ASKING("cpu: 6", ", " NEAR("podAffinity", HOST, "none")),
         "asks for 6 CPUs; the largest type that pool default may buy has 3.9 CPUs for pods; it also must be where a "
         "pod with app=none is (same kubernetes.io/hostname), and no such pod has a place. Fix: let pool default buy a "
         "type with 6 CPUs or more; and run a pod with app=none, or make the affinity a preferred one", NULL,
         PLAIN_POOL ASKING("cpu: 6", ", " LIKE_NEAR("podAffinity", HOST, "none"))},
        {"two taints, and a zone in which it does not buy",
         ANY_POOL("gpu", "", IN(ZONE, "test-zone-1") ", taints: [{key: gpu, effect: NoSchedule}, {key: x, effect: NoExecute}]")
         POD("a", "", "nodeSelector: {" ZONE ": test-zone-2}"),
         "does not tolerate taints gpu:NoSchedule and x:NoExecute of pool gpu; it also asks for "
         "topology.kubernetes.io/zone In [test-zone-2]; pool gpu has topology.kubernetes.io/zone In [test-zone-1]. Fix: "
         "tolerate gpu:NoSchedule and x:NoExecute, or take the taints from the pool; and let pool gpu allow "
         "topology.kubernetes.io/zone In [test-zone-2], or ask for what it has", NULL,
         ANY_POOL("gpu", "", IN(ZONE, "test-zone-1, test-zone-2") ", taints: [{key: gpu, effect: NoSchedule}, {key: x, effect: NoExecute}]")
         POD("a", "", "nodeSelector: {" ZONE ": test-zone-2}, tolerations: [{key: gpu, operator: Exists}, {key: x, operator: Exists}]")},
        {"a volume elsewhere, and pods that are nowhere",
         POOL_IN("test-zone-1") CLAIM("data", "v") VOLUME("v", "test-zone-2")
         POD("a", "", USES(USE("data")) ", " NEAR("podAffinity", HOST, "none")),
         "has volume claim data in test-zone-2; pool default has topology.kubernetes.io/zone In [test-zone-1]; it also "
         "must be where a pod with app=none is (same kubernetes.io/hostname), and no such pod has a place. Fix: let pool "
         "default buy in test-zone-2; and run a pod with app=none, or make the affinity a preferred one", NULL,
         POOL_IN("test-zone-1, test-zone-2") CLAIM("data", "v") VOLUME("v", "test-zone-2")
         POD("a", "", USES(USE("data")) ", " LIKE_NEAR("podAffinity", HOST, "none"))},
    };
    CHECK_ROWS(rows);
}

/* What was supposed for the sake of an answer is forgotten: what comes after is planned as before. */
static void supposed(void **state)
{
    (void)state;
    struct cluster c;
    cluster_init(&c);
    cluster_types_c0(&c);
    cluster_add(&c, NONE_LEFT GPU_POOL POD("a", "", "nodeSelector: {team: ml}") POD("b", "", "priority: 0"));
    const struct plan *p = cluster_plan(&c);
    assert_int_equal(p->claim_count, 0);
    assert_non_null(cluster_failed(&c, "a"));
    const struct plan_unschedulable *b = cluster_failed(&c, "b");
    assert_true(span_eq(b->details[0].text, SPAN("it does not tolerate taint gpu=full:NoSchedule of pool gpu")));
    cluster_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread), cmocka_unit_test(affinity), cmocka_unit_test(anti_affinity),
        cmocka_unit_test(volumes), cmocka_unit_test(nearest), cmocka_unit_test(supposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
