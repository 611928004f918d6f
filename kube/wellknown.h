/* wellknown: the strings that every symbol table knows under the same id (kube_symtab_new), so that
 * code compares small constants instead of text. Sources: spec of labels and resources in
 * karpenter.sh/v1 (api 3.1, 3.3, 5.1) and Kubernetes' own.
 *
 * One X-macro line each: identifier, text. */
#ifndef KUBE_WELLKNOWN_H
#define KUBE_WELLKNOWN_H

#include "base/sym.h"

#define WELLKNOWN_LIST(X)                                                                          \
    X(EMPTY, "")                                                                                   \
    /* resources */                                                                                \
    X(CPU, "cpu")                                                                                  \
    X(MEMORY, "memory")                                                                            \
    X(EPHEMERAL_STORAGE, "ephemeral-storage")                                                      \
    X(PODS, "pods")                                                                                \
    X(NODES, "nodes")                                                                              \
    /* labels */                                                                                   \
    X(NODEPOOL, "karpenter.sh/nodepool")                                                           \
    X(CAPACITY_TYPE, "karpenter.sh/capacity-type")                                                 \
    X(REGISTERED, "karpenter.sh/registered")                                                       \
    X(INITIALIZED, "karpenter.sh/initialized")                                                     \
    X(DO_NOT_SYNC_TAINTS, "karpenter.sh/do-not-sync-taints")                                       \
    X(ZONE, "topology.kubernetes.io/zone")                                                         \
    X(REGION, "topology.kubernetes.io/region")                                                     \
    X(INSTANCE_TYPE, "node.kubernetes.io/instance-type")                                           \
    X(ARCH, "kubernetes.io/arch")                                                                  \
    X(OS, "kubernetes.io/os")                                                                      \
    X(HOSTNAME, "kubernetes.io/hostname")                                                          \
    X(WINDOWS_BUILD, "node.kubernetes.io/windows-build")                                           \
    X(EXCLUDE_BALANCERS, "node.kubernetes.io/exclude-from-external-load-balancers")                \
    X(KWOK_SIZE, "karpenter.kwok.sh/instance-size")                                                \
    X(KWOK_FAMILY, "karpenter.kwok.sh/instance-family")                                            \
    X(KWOK_CPU, "karpenter.kwok.sh/instance-cpu")                                                  \
    X(KWOK_MEMORY, "karpenter.kwok.sh/instance-memory")                                            \
    X(KWOK_NODECLASS, "karpenter.kwok.sh/kwoknodeclass")                                           \
    /* annotations */                                                                              \
    X(DO_NOT_DISRUPT, "karpenter.sh/do-not-disrupt")                                               \
    X(DO_NOT_REPAIR, "karpenter.sh/do-not-repair")                                                 \
    X(DISRUPTION_COST, "karpenter.sh/disruption-cost")                                             \
    X(POD_DELETION_COST, "controller.kubernetes.io/pod-deletion-cost")                             \
    X(NODEPOOL_HASH, "karpenter.sh/nodepool-hash")                                                 \
    X(NODEPOOL_HASH_VERSION, "karpenter.sh/nodepool-hash-version")                                 \
    X(TERMINATION_TIMESTAMP, "karpenter.sh/nodeclaim-termination-timestamp")                       \
    X(REBOOT_GRACE, "karpenter.sh/reboot-termination-grace-period")                                \
    X(REBOOT_BEFORE, "karpenter.sh/reboot-pre-boot-id")                                            \
    X(MIN_VALUES_RELAXED, "karpenter.sh/nodeclaim-min-values-relaxed")                             \
    X(MIRROR, "kubernetes.io/config.mirror")                                                       \
    X(SAFE_TO_EVICT, "cluster-autoscaler.kubernetes.io/safe-to-evict")                             \
    X(SAFE_LOCAL_VOLUMES, "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes")          \
    X(DAEMON_SET_POD, "cluster-autoscaler.kubernetes.io/daemonset-pod")                            \
    X(SCALE_DOWN_DISABLED, "cluster-autoscaler.kubernetes.io/scale-down-disabled")                 \
    X(PLANNED, "stowage.dev/planned")                                                              \
    X(REPLACES, "stowage.dev/replaces")                                                            \
    X(DECISION, "stowage.dev/decision")                                                            \
    X(CLAIM_UID, "stowage.dev/nodeclaim-uid")                                                      \
    X(ON_DEMAND_BASE, "stowage.dev/on-demand-base")                                                \
    X(SPOT_PERCENT, "stowage.dev/spot-percent")                                                    \
    X(NODE_COST, "stowage.dev/node-cost")                                                          \
    X(MIN_SAVINGS, "stowage.dev/min-savings")                                                      \
    X(ALLOW_WINDOWS, "stowage.dev/allow-windows")                                                  \
    X(DAEMON_ROOM, "stowage.dev/daemonset-room")                                                   \
    X(MODE, "stowage.dev/mode")                                                                    \
    X(PREFER, "stowage.dev/prefer")                                                                \
    X(SHAPE_POOL, "stowage.dev/nodepool")                                                          \
    X(SHAPE_SCHEDULER, "stowage.dev/scheduler")                                                    \
    X(SHAPED_BY, "stowage.dev/shaped-by")                                                          \
    X(BIND_COMPLETED, "pv.kubernetes.io/bind-completed")                                           \
    X(SELECTED_NODE, "volume.kubernetes.io/selected-node")                                         \
    X(DEFAULT_CLASS, "storageclass.kubernetes.io/is-default-class")                                \
    /* taint keys */                                                                               \
    X(TO_BE_DELETED, "ToBeDeletedByClusterAutoscaler")                                             \
    X(UNREGISTERED, "karpenter.sh/unregistered")                                                   \
    X(DISRUPTED, "karpenter.sh/disrupted")                                                         \
    X(REBOOTING, "karpenter.sh/rebooting")                                                         \
    X(NOT_READY, "node.kubernetes.io/not-ready")                                                   \
    X(UNREACHABLE, "node.kubernetes.io/unreachable")                                               \
    X(UNSCHEDULABLE, "node.kubernetes.io/unschedulable")                                           \
    X(CLOUD_UNINITIALIZED, "node.cloudprovider.kubernetes.io/uninitialized")                       \
    /* finalizers */                                                                               \
    X(TERMINATION, "karpenter.sh/termination")                                                     \
    /* values */                                                                                   \
    X(TRUE, "true")                                                                                \
    X(FALSE, "false")                                                                              \
    X(UNKNOWN, "Unknown")                                                                          \
    X(ON_DEMAND, "on-demand")                                                                      \
    X(SPOT, "spot")                                                                                \
    X(RESERVED, "reserved")                                                                        \
    X(LINUX, "linux")                                                                              \
    X(WINDOWS, "windows")                                                                          \
    X(AMD64, "amd64")                                                                              \
    X(ARM64, "arm64")                                                                              \
    X(DEFAULT_NAMESPACE, "default")                                                                \
    /* owners */                                                                                   \
    X(API_V1, "v1")                                                                                \
    X(API_APPS_V1, "apps/v1")                                                                      \
    X(API_KARPENTER_V1, "karpenter.sh/v1")                                                         \
    X(KIND_NODE, "Node")                                                                           \
    X(KIND_DAEMON_SET, "DaemonSet")                                                                \
    X(KIND_JOB, "Job")                                                                             \
    X(KIND_STATEFUL_SET, "StatefulSet")                                                            \
    X(KIND_REPLICA_SET, "ReplicaSet")                                                              \
    X(KIND_REPLICATION_CONTROLLER, "ReplicationController")                                        \
    X(KIND_NODE_POOL, "NodePool")                                                                  \
    X(KIND_NODE_CLAIM, "NodeClaim")                                                                \
    /* older names of label keys (api 3.2) */                                                      \
    X(BETA_ZONE, "failure-domain.beta.kubernetes.io/zone")                                         \
    X(BETA_REGION, "failure-domain.beta.kubernetes.io/region")                                     \
    X(BETA_ARCH, "beta.kubernetes.io/arch")                                                        \
    X(BETA_OS, "beta.kubernetes.io/os")                                                            \
    X(BETA_INSTANCE_TYPE, "beta.kubernetes.io/instance-type")                                                            \
    /* host ports */                                                                               \
    X(TCP, "TCP")                                                                                  \
    X(ANY_IPV4, "0.0.0.0")                                                                         \
    X(ANY_IPV6, "::")

enum wellknown_sym {
    SYM_WELLKNOWN_FIRST = 0,
#define X(id, text) SYM_##id,
    WELLKNOWN_LIST(X)
#undef X
    SYM_WELLKNOWN_END,
};

extern const struct span wellknown_text[]; /* indexed by id - 1 */

/* A table in which the constants above hold. */
struct symtab *kube_symtab_new(void);

#endif
