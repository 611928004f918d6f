/* node: a Node, a NodeClaim and a NodePool, and the KWOKNodeClass (karpenter.sh/v1). */
#ifndef KUBE_NODE_H
#define KUBE_NODE_H

#include "kube/meta.h"

struct node {
    struct meta meta;
    struct span provider_id;
    struct span boot_id; /* another one with each boot */
    bool unschedulable;
    struct taints taints;
    struct resources capacity, allocatable;
    struct conditions conditions; /* of Ready and the pressure ones only reason, status and times are kept */
};

struct node_class_ref {
    struct span group, kind, name;
};

struct node_claim {
    struct meta meta;
    struct node_class_ref node_class;
    struct expressions requirements;
    struct resources requests; /* spec.resources.requests */
    struct taints taints, startup_taints;
    bool has_expire_after, never_expires; /* has_expire_after: a length of time was given */
    span_ms expire_after;
    bool has_grace; /* terminationGracePeriod */
    span_ms grace;
    /* status */
    sym node_name;
    struct span provider_id, image_id;
    struct resources capacity, allocatable;
    struct conditions conditions;
    wall_ms last_pod_event;
};

enum consolidation_policy {
    CONSOLIDATE_EMPTY_OR_UNDERUTILIZED,
    CONSOLIDATE_EMPTY,
    CONSOLIDATE_BALANCED,
};

struct budget {
    struct span nodes; /* "10%", "5" */
    bool has_reasons;
    struct spans reasons;
    struct span schedule, duration; /* absent: always */
};

struct budgets {
    struct budget *items;
    uint32_t count;
};

struct plain_label { /* kept as text: the template's hash and copies need no symbols */
    struct span key, value;
};

struct plain_labels {
    struct plain_label *items;
    uint32_t count;
};

struct node_pool {
    struct meta meta;
    /* spec.template */
    struct sym_pairs labels;
    bool has_labels, has_annotations, has_taints, has_startup_taints; /* [] and absent hash differently */
    struct plain_labels annotations;
    struct node_class_ref node_class;
    struct expressions requirements;
    struct taints taints, startup_taints;
    bool has_expire_after; /* false with "Never"; the API server defaults it to 720h */
    span_ms expire_after;
    bool has_grace;
    span_ms grace;
    /* spec */
    enum consolidation_policy policy;
    bool has_consolidate_after; /* false: Never */
    span_ms consolidate_after;
    bool has_budgets;
    struct budgets budgets;
    struct resources limits;
    int32_t weight; /* absent: 0 */
    bool has_replicas;
    int64_t replicas;
    /* status */
    struct conditions conditions;
    int64_t status_nodes;
    bool has_status_nodes;
    struct resources status_resources;
};

struct node_class { /* what those of all providers begin with */
    struct meta meta;
    struct conditions conditions;
};

enum { REGISTRATION_TIMEOUT_MS = 15 * MS_MINUTE }; /* so long a NodeClaim that is launched may be without its Node */

struct kwok_node_class {
    struct meta meta;
    struct conditions conditions;
    span_ms registration_delay;
};

extern const struct schema node_schema, node_claim_schema, node_pool_schema, kwok_node_class_schema;

/* Text of the pool's template hash, version v3 (spec api 5.8): decimal digits in `out`. */
void node_pool_hash(const struct node_pool *p, const struct symtab *syms, char out[24]);
#define NODE_POOL_HASH_VERSION "v3"

/* What a node of the pool costs in an hour beside its price (agents, licences), by its annotation
 * stowage.dev/node-cost; absent: 0. False, and 0, when that is no amount of dollars. */
bool node_pool_cost(const struct node_pool *p, double *out);

/* What a consolidation has to save for nodes of the pool to be in it, by its annotation stowage.dev/min-savings: dollars an
 * hour ("0.05"), a share of what those nodes cost ("10%"), or how soon it pays back the time in which old and new nodes
 * both run ("30m"). */
struct min_savings {
    double per_hour, share; /* 0: nothing */
    span_ms payback;        /* INT64_MAX: ever */
};
/* False, and nothing is asked for, when it is none of these. */
bool node_pool_min_savings(const struct node_pool *p, struct min_savings *out);

/* Whether pods are moved off its nodes for DaemonSets' pods that found no room there, by its annotation
 * stowage.dev/daemonset-room: "true". False, and *out is, when that says neither "true" nor "false". */
bool node_pool_daemon_room(const struct node_pool *p, bool *out);

/* "<group>/<lowercase kind>", the label that ties claims and nodes to their class. */
struct span node_class_label(struct arena *a, const struct node_class_ref *ref);

bool node_is_ready(const struct node *n);
bool node_is_virtual(const struct node *n, const struct symtab *syms); /* virtual-kubelet's: no sum of capacity counts it */
bool node_is_initialized(const struct node *n); /* by Karpenter's label */
/* Whether the node as such lets the pod come now: it is ready and stays, and no taint, startup taints included, keeps the
 * pod off. That of a node which has only just become ready goes by itself: who waits for that comes after
 * kube-scheduler's own attempt. What the pod asks for is there, which for devices takes a while; who else
 * stands there does not matter. */
struct pod;
bool node_lets_in(const struct node *n, const struct pod *pod, const struct symtab *syms);
/* Known ephemeral taints (spec provisioning 2.4). */
bool taint_is_ephemeral(const struct taint *t, const struct symtab *syms);

#endif
