/* flags: those of Cluster Autoscaler that have a meaning in a pass, with its defaults (spec node-groups 5). */
#ifndef PLANNER_GROUPS_FLAGS_H
#define PLANNER_GROUPS_FLAGS_H

#include "kube/node_groups.h"

enum expander {
    EXPANDER_RANDOM, /* ends a chain: what is left is a tie, broken by name */
    EXPANDER_MOST_PODS,
    EXPANDER_LEAST_WASTE,
    EXPANDER_LEAST_NODES,
    EXPANDER_PRICE,
    EXPANDER_PRIORITY,
    EXPANDER_COUNT,
};

struct resource_bounds {
    struct span resource; /* absent: of GPUs the type is said */
    int64_t min, max;
};

struct group_flags {
    bool as_upstream; /* --search greedy: upstream's own slips are made, too (docs/differences.md, "Node groups") */
    /* scale-up */
    enum expander expanders[EXPANDER_COUNT];
    uint32_t expander_count;
    bool beside_pools;   /* prices are weighed against those of NodePools (choice.h) */
    bool by_cost;        /* the group that costs the least a pod comes before what expanders say (choice.h) */
    bool is_trial;       /* for choice.h: not put off because all pods have just come (delays hold), and no turn of requests */
    bool balance_similar;
    struct spans balancing_ignore_labels, balancing_labels;
    double memory_ratio, free_ratio, allocatable_ratio; /* …-difference-ratio */
    int32_t max_nodes_total, max_nodes_per_scale_up;    /* 0: no limit */
    int64_t cores_min, cores_max, memory_min, memory_max; /* cores and bytes */
    struct {
        struct resource_bounds *items; /* --gpu-total: `resource` is the GPU's type */
        uint32_t count;
    } gpus;
    span_ms new_pod_delay;
    int32_t expendable_cutoff;
    bool enforce_min_size, salvo, scale_up_from_zero, force_daemon_sets, scale_from_unschedulable;
    bool simulate_skipped; /* --scaleup-simulation-for-skipped-node-groups-enabled */
    struct spans bypassed_schedulers, allowed_schedulers;
    struct spans startup_taints, status_taints; /* keys; --ignore-taint counts as the first */
    struct spans startup_taint_prefixes;
    struct span config_namespace; /* --namespace: of the priority expander's ConfigMap */
    bool capacity_quotas; /* --capacity-quotas-enabled: CapacityQuotas bound growth, as well as the limits above */
    bool provisioning_requests; /* --enable-provisioning-requests: they are seen to, and pods that wait for one are not */
    struct span check_instance; /* --check-capacity-processor-instance; absent: all that name none */
    int32_t check_batch;        /* check-capacity requests in a pass */
    /* health */
    int32_t ok_unready_count;
    double max_unready_percentage;
    span_ms backoff_first, backoff_max, backoff_reset;
    bool force_delete_unregistered, force_delete_failed;
    /* scale-down */
    struct group_scaling scaling; /* where a group has no option of its own */
    bool scale_down_enabled, scale_down_unready_enabled, delay_type_local;
    span_ms delay_after_add, delay_after_delete, delay_after_failure;
    span_ms unremovable_recheck;
    int32_t max_parallelism, max_drains;
    bool skip_system_pods, skip_local_storage, skip_custom_controller_pods;
    int32_t min_replica_count;
    span_ms system_pod_timeout;
    bool ignore_mirror_pods;
};

struct group_flags group_flags_default(void);

#endif
