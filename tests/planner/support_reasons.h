/* support_reasons: clusters in which pod a has no place, and what is said of it. */
#ifndef TESTS_PLANNER_SUPPORT_REASONS_H
#define TESTS_PLANNER_SUPPORT_REASONS_H

#include "support_cluster.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define POOL_IN(zones_)                                                                            \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {template: {spec: {requirements: [{key: " ZONE ", operator: In, values: [" zones_       \
    "]}]}}}\n"
#define PLAIN_POOL                                                                                 \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n"                \
    "spec: {template: {spec: {requirements: []}}}\n"
#define NODE(name_, zone_, room_)                                                                  \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name_ ", labels: {" ZONE ": " zone_ ", " \
    HOST ": " name_ "}}\nstatus: {capacity: {" room_ ", pods: 10}, allocatable: {" room_           \
    ", pods: 10}}\n"
#define POD_META(name_, labels_)                                                                   \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name_ ", labels: {" labels_ "}}\n"
#define ASKS "containers: [{name: c, resources: {requests: {cpu: 100m}}}]"
#define PENDING                                                                                    \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "       \
    "Unschedulable}]}\n"
#define POD(name_, labels_, spec_)                                                                 \
    POD_META(name_, labels_) "spec: {" ASKS ", " spec_ "}\n" PENDING
#define BOUND(name_, node_, labels_, spec_)                                                        \
    POD_META(name_, labels_) "spec: {nodeName: " node_ ", " ASKS spec_ "}\nstatus: {phase: Running}\n"
#define SPREAD(key_, skew_, more_)                                                                 \
    "topologySpreadConstraints: [{topologyKey: " key_ ", maxSkew: " skew_                          \
    ", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}" more_ "}]"
#define NEAR(kind_, key_, app_)                                                                    \
    "affinity: {" kind_ ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " key_  \
    ", labelSelector: {matchLabels: {app: " app_ "}}}]}}"
#define LIKE_NEAR(kind_, key_, app_)                                                               \
    "affinity: {" kind_ ": {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "        \
    "podAffinityTerm: {topologyKey: " key_ ", labelSelector: {matchLabels: {app: " app_ "}}}}]}}"
#define NO_ROOM "cpu: 100m, memory: 1Gi" /* once a pod is there */
#define NEVER "cpu: 50m, memory: 1Gi"
#define ROOM "cpu: 8, memory: 8Gi"

#define CLAIM(name_, volume_)                                                                      \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name_               \
    ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}\n"                                \
    "spec: {storageClassName: s, volumeName: " volume_ "}\n"
#define WAITING_CLASS                                                                              \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\n"               \
    "provisioner: csi.example.com\nvolumeBindingMode: WaitForFirstConsumer\n"
#define MADE_FOR(name_, node_)                                                                     \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name_                     \
    ", annotations: {volume.kubernetes.io/selected-node: " node_ "}}\n"                            \
    "spec: {storageClassName: s}\n"
#define VOLUME(name_, zone_)                                                                       \
    "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " name_ "}\n"                   \
    "spec: {csi: {driver: csi.example.com, volumeHandle: " name_                                   \
    "}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE             \
    ", operator: In, values: [" zone_ "]}]}]}}}\n"
#define USES(claims_) "volumes: [" claims_ "]"
#define USE(claim_) "{name: " claim_ ", persistentVolumeClaim: {claimName: " claim_ "}}"
#define CSI_NODE(node_, limit_)                                                                    \
    "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " node_                   \
    "}\nspec: {drivers: [{name: csi.example.com, nodeID: x, allocatable: {count: " limit_ "}}]}\n"
#define SMALL_TYPES(limit_)                                                                        \
    "---\nkind: InstanceTypes\nitems:\n- {name: t, resources: {cpu: 4, memory: 8Gi, pods: 10}, "   \
    "volumeLimits: {csi.example.com: " limit_ "}, offerings: [{zone: a, capacity: spot, price: "   \
    "0.1}, {zone: b, capacity: spot, price: 0.1}]}\n"

struct reason_row {
    const char *label;
    const char *objects;
    const char *message; /* of pod a */
    const char *detail;  /* one of its details; NULL: not asked */
    const char *fixed;   /* with the fix applied, in which a has a place; NULL: not tried */
};

/* The cluster is planned; what is said of pod a, or NULL: it has a place. */
const struct plan_unschedulable *reasons_plan(struct cluster *c, const char *objects);
/* Fails the test unless the row's words are said, and its fix is one. */
void reasons_check(const struct reason_row *row);
#define CHECK_ROWS(rows_)                                                                          \
    for (size_t i_ = 0; i_ < COUNT_OF(rows_); i_++)                                                \
    reasons_check(&(rows_)[i_])

#endif
