/* pod: the part of a Pod that decides where it can run and when it may move.
 *
 * Containers are summed up while decoding and not kept: a cluster has more pods than anything else,
 * and 600 bytes is what one may take. What pods of one template say alike they share (kube/commons.h). */
#ifndef KUBE_POD_H
#define KUBE_POD_H

#include "kube/meta.h"

struct host_port {
    int32_t port;
    sym ip, protocol; /* SYM_NONE: 0.0.0.0, TCP */
};

struct host_ports {
    struct host_port *items;
    uint32_t count;
};

struct node_term { /* the expressions of one term are ANDed */
    struct expressions match_expressions;
    bool has_match_fields;
    struct expressions match_fields;
};

struct node_terms { /* terms are ORed */
    struct node_term *items;
    uint32_t count;
};

struct preferred_node_term {
    int32_t weight;
    struct node_term preference;
};

struct preferred_node_terms {
    struct preferred_node_term *items;
    uint32_t count;
};

struct pod_term {
    sym topology_key;
    bool has_selector, has_namespace_selector;
    struct label_selector selector, namespace_selector;
    struct syms namespaces, match_label_keys, mismatch_label_keys;
};

struct pod_terms {
    struct pod_term *items;
    uint32_t count;
};

struct preferred_pod_term {
    int32_t weight;
    struct pod_term term;
};

struct preferred_pod_terms {
    struct preferred_pod_term *items;
    uint32_t count;
};

struct affinity {
    struct node_terms required_node;
    bool has_required_node; /* required with an empty list of terms matches no node */
    struct preferred_node_terms preferred_node;
    struct pod_terms required_pod, required_anti;
    struct preferred_pod_terms preferred_pod, preferred_anti;
};

struct spread {
    int32_t max_skew, min_domains; /* min_domains 0: absent */
    sym topology_key;
    bool hard;            /* DoNotSchedule */
    bool has_selector;
    bool ignore_affinity; /* nodeAffinityPolicy Ignore */
    bool honor_taints;    /* nodeTaintsPolicy Honor */
    struct label_selector selector;
    struct syms match_label_keys;
};

struct spreads {
    struct spread *items;
    uint32_t count;
};

struct pod_volume {
    struct span claim; /* persistentVolumeClaim.claimName, or "<pod>-<volume>" of an ephemeral one */
    bool ephemeral;
    sym storage_class; /* that an ephemeral one's claim is to have; SYM_NONE: none is said */
};

struct pod_volumes { /* those with a claim; others need nothing of a node */
    struct pod_volume *items;
    uint32_t count;
};

#define POD_MADE_UP INT64_MAX /* meta.created of a pod that no API server has: after all that wait already */

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod {
    struct meta meta;
    sym node;           /* spec.nodeName; SYM_NONE: not bound */
    sym nominated_node; /* status.nominatedNodeName */
    sym scheduler;
    int32_t priority;
    enum pod_phase phase;
    bool unschedulable;        /* a PodScheduled condition has reason Unschedulable */
    bool gated;                /* spec.schedulingGates is not empty: never planned, not even all-unbound */
    bool ready, unready;       /* condition Ready is True; is False */
    bool has_grace;
    bool is_virtual : 1;       /* a CapacityBuffer's or ProvisioningRequest's: made by the planner, never in the API */
    bool node_critical : 1;    /* of priorityClass system-node-critical, and may push others aside */
    bool local_storage : 1;    /* a hostPath or an emptyDir on disk, and its annotation does not call it safe to lose */
    bool resource_claims : 1;  /* spec.resourceClaims, or a container's resources.claims, is not empty */
    uint32_t verdict;          /* hash of what the scheduler says of an unschedulable one, 0: nothing. Its words
                                  change when it tries again after the nodes have changed, the times do not */
    wall_ms start_time;
    struct resources requests; /* of the whole pod as spec provisioning 2.6 counts it, "pods" left out */
    struct resources limits;   /* in the same way; only told in metrics, nothing is decided by them */
    struct host_ports ports;   /* of app containers */
    struct sym_pairs node_selector;
    struct tolerations tolerations;
    struct affinity *affinity; /* NULL: none */
    struct spreads spreads;
    struct pod_volumes volumes;
    int64_t grace_seconds;    /* spec.terminationGracePeriodSeconds */
};

/* What the scheduler counts for a pod: its requests and "pods": 1. */
struct resources pod_requests(struct arena *a, const struct pod *p);

/* Predicates of spec provisioning 1.1, 1.3 and disruption 0.4; `now` for durations of do-not-disrupt. */
bool pod_is_daemon(const struct pod *p);
/* Of one workload: both have a controller, and it is the same object. */
bool pod_same_controller(const struct pod *a, const struct pod *b);
bool pod_is_static(const struct pod *p);      /* owned by a Node */
bool pod_is_terminal(const struct pod *p);    /* Succeeded or Failed */
/* Provisionable: all five rules of 1.1, but that a nomination of our own is no reason to leave it to the scheduler. */
bool pod_is_pending(const struct pod *p);
/* status.nominatedNodeName says what we wrote there, by the API server's word (kube/meta.h). */
bool pod_is_nominated_by_us(const struct pod *p);
/* Has no node, and nobody says yet that none takes it: the scheduler has not looked. */
bool pod_is_unseen(const struct pod *p);
bool pod_is_reschedulable(const struct pod *p);
bool pod_is_evictable(const struct pod *p, wall_ms now);
/* Its annotation karpenter.sh/do-not-disrupt: none, of no meaning, "true", or so long from its start. */
enum pod_keep { POD_KEEP_NOT, POD_KEEP_INVALID, POD_KEEP_ALWAYS, POD_KEEP_FOR };
enum pod_keep pod_keep(const struct pod *p, span_ms *length_out);
bool pod_do_not_disrupt(const struct pod *p, wall_ms now);
/* Tolerates karpenter.sh/disrupted:NoSchedule, so a drain leaves it alone. */
bool pod_tolerates_disrupted(const struct pod *p);

extern const struct schema pod_schema;
/* PodTemplateSpec into struct pod, with missing requests filled from limits (DaemonSets, 2.8). */
extern const struct schema pod_template_schema;

#endif
