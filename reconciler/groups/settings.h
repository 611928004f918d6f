/* settings: of the loop that keeps node groups: the flags of Cluster Autoscaler that are about the loop and not about what
 * one pass decides (planner/groups/flags.h), with its defaults (spec node-groups 5), and who has the groups. */
#ifndef RECONCILER_GROUPS_SETTINGS_H
#define RECONCILER_GROUPS_SETTINGS_H

#include "cloud/group_provider.h"
#include "planner/groups/flags.h"
#include "reconciler/groups/drain_turns.h"

struct default_spread_config;

struct group_answer { /* what a pass says of one group (planner/groups/explain.h) */
    struct span group, json;
    const struct span *nodes; /* names of its Nodes */
    uint32_t node_count;
    bool has_price;
    double price; /* of one, an hour */
};

struct group_refusal { /* of a pod that no group takes: "2 Insufficient cpu" */
    struct span uid, text;
};

struct groups_told { /* what a pass says; lives as long as the call */
    const struct group_answer *groups;
    const struct group_refusal *refusals;
    uint32_t group_count, refusal_count;
};

struct group_settings {
    struct group_provider *provider; /* NULL: there are no groups. The caller's; freed after the reconciler */
    struct group_flags flags;        /* its spans live as long as the reconciler */
    const struct default_spread_config *default_spread; /* of --scheduler-config; NULL: none. Outlives the reconciler */
    /* Told after each pass of all groups, and of the pods that they do not take; NULL: nobody asks. On the reconciler's thread. */
    void (*answered)(void *user, const struct groups_told *told);
    void *user;
    span_ms scan_interval;           /* --scan-interval [10 s]: between passes that nothing brings on */
    bool frequent;                   /* --frequent-loops-enabled [true]: a pod that waits brings one on */
    bool write_status;               /* --write-status-configmap [true]; Events about groups are on it */
    struct span status_name;         /* --status-config-map-name [cluster-autoscaler-status], in flags.config_namespace */
    bool cordon;                     /* --cordon-node-before-terminating [true] */
    bool evict_daemons_of_empty;     /* --daemonset-eviction-for-empty-nodes [false] */
    bool evict_daemons_of_occupied;  /* --daemonset-eviction-for-occupied-nodes [true] */
    span_ms delay_after_taint;       /* --node-delete-delay-after-taint [5 s] */
    int32_t max_grace;               /* --max-graceful-termination-sec [600] */
    struct drain_turns drain_turns;  /* --drain-priority-config [none]: instead of max_grace */
    span_ms max_eviction_time;       /* --max-pod-eviction-time [2 min] */
    span_ms max_deletion_delay;      /* --node-deletion-delay-timeout [2 min] */
    int32_t soft_taints;             /* --max-bulk-soft-taint-count [10]: written in a pass; 0: there are none */
    span_ms max_inactivity;          /* --max-inactivity [10 min]: without a pass; then /health-check fails */
    span_ms max_failing_time;        /* --max-failing-time [15 min]: without a pass that succeeded */
    span_ms max_startup_time;        /* --max-startup-time [20 min]: the same until the first */
    bool per_group_metrics;          /* --emit-per-nodegroup-metrics [false] */
    /* of ProvisioningRequests, with flags.provisioning_requests */
    bool check_batches;              /* --check-capacity-batch-processing [false] */
    int32_t check_batch;             /* --check-capacity-provisioning-request-max-batch-size [10] */
    span_ms check_timebox;           /* --check-capacity-provisioning-request-batch-timebox [10 s] */
    span_ms request_backoff_first;   /* --provisioning-request-initial-backoff-time [1 min] */
    span_ms request_backoff_max;     /* --provisioning-request-max-backoff-time [10 min] */
    int32_t request_backoff_count;   /* --provisioning-request-max-backoff-cache-size [1000]: of so many it is remembered */
    span_ms candidate_ttl;           /* --node-deletion-candidate-ttl [0]: so old a soft taint may be at the start */
};

/* The defaults, without a provider. */
struct group_settings group_settings_default(void);

#endif
