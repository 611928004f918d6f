/* measure: what the reconciler counts, under the names that Karpenter's dashboards use (spec
 * provisioning 5.6, disruption 10, api 11.5). */
#ifndef RECONCILER_MEASURE_H
#define RECONCILER_MEASURE_H

#include "base/span.h"

enum measure_type { MEASURE_COUNTER, MEASURE_GAUGE, MEASURE_HISTOGRAM, MEASURE_SUMMARY };

/* id, name, type, label keys, help */
#define MEASURE_LIST(X)                                                                            \
    X(CLAIMS_CREATED, "karpenter_nodeclaims_created_total", COUNTER,                               \
      L("reason", "nodepool", "min_values_relaxed"), "NodeClaims created")                         \
    X(CLAIMS_TERMINATED, "karpenter_nodeclaims_terminated_total", COUNTER, L("nodepool"),          \
      "NodeClaims whose machine is gone and whose finalizer was released")                         \
    X(CLAIMS_DISRUPTED, "karpenter_nodeclaims_disrupted_total", COUNTER,                           \
      L("reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"),        \
      "NodeClaims deleted by Stowage, by reason")                                                  \
    X(PODS_DISRUPTED, "karpenter_pods_disruption_initiated_total", COUNTER,                        \
      L("reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"),        \
      "Pods that have to move since their NodeClaim was deleted by Stowage, by reason")            \
    X(UNHEALTHY_DISRUPTED, "karpenter_nodeclaims_unhealthy_disrupted_total", COUNTER,              \
      L("condition", "nodepool", "capacity_type", "image_id", "termination_mode"),                 \
      "NodeClaims deleted or rebooted since their node was not well, by its condition")            \
    X(CLAIM_TERMINATION, "karpenter_nodeclaims_termination_duration_seconds", HISTOGRAM,           \
      L("nodepool"), "From a NodeClaim's deletion to its end")                                     \
    X(INSTANCE_TERMINATION, "karpenter_nodeclaims_instance_termination_duration_seconds",          \
      HISTOGRAM, L("nodepool"), "From asking for a machine's end to its end")                      \
    X(NODES_CREATED, "karpenter_nodes_created_total", COUNTER, L("nodepool"),                      \
      "Nodes registered")                                                                          \
    X(REBOOTS, "karpenter_nodes_reboots_total", COUNTER, L("result"), "Reboots that have ended") \
    X(REBOOT_DURATION, "karpenter_nodes_reboot_duration_seconds", HISTOGRAM, L("result"),          \
      "From asking for a reboot to its end")                                                       \
    X(REBOOT_RECOVERY, "karpenter_nodes_reboot_recovery_duration_seconds", HISTOGRAM, NO_LABELS,   \
      "From a reboot's being under way to its end")                                                \
    X(NODES_TERMINATED, "karpenter_nodes_terminated_total", COUNTER, L("nodepool"),                \
      "Nodes whose finalizer was released")                                                        \
    X(NODES_DRAINED, "karpenter_nodes_drained_total", COUNTER, L("nodepool"),                      \
      "Nodes from which every pod was moved away")                                                 \
    X(NODE_TERMINATION, "karpenter_nodes_termination_duration_seconds", SUMMARY,                   \
      L("nodepool"), "From a Node's deletion to its end")                                          \
    X(PODS_DRAINED, "karpenter_pods_drained_total", COUNTER, L("reason"),                          \
      "Pods evicted or deleted for a node to leave")                                               \
    X(EVICTIONS, "karpenter_nodes_eviction_requests_total", COUNTER, L("code"),                    \
      "Evictions asked for, by answer")                                                            \
    X(SCHEDULING_DURATION, "karpenter_scheduler_scheduling_duration_seconds", HISTOGRAM,           \
      L("controller"), "Duration of one solve")                                                    \
    X(IGNORED_PODS, "karpenter_scheduler_ignored_pods_count", GAUGE, NO_LABELS,                    \
      "Waiting pods that failed validation")                                                       \
    X(UNSCHEDULABLE_PODS, "karpenter_scheduler_unschedulable_pods_count", GAUGE,                   \
      L("controller"), "Waiting pods without a place in the last plan")                            \
    X(QUEUE_DEPTH, "karpenter_scheduler_queue_depth", GAUGE, L("controller", "scheduling_id"),     \
      "Pods of the last solve")                                                                    \
    X(UNFINISHED_WORK, "karpenter_scheduler_unfinished_work_seconds", GAUGE,                       \
      L("controller", "scheduling_id"), "How long the solve under way has taken so far")           \
    X(EFFECTIVE_ZONES, "karpenter_scheduler_pending_pods_by_effective_zone_count", GAUGE,          \
      L("controller", "zone"), "Pods of the last solve by the zone in which they have to end")     \
    X(DECISION_DURATION, "karpenter_pods_scheduling_decision_duration_seconds", HISTOGRAM,         \
      NO_LABELS, "From a pod's being seen waiting to the first plan that has it")                  \
    X(PODS_BOUND, "karpenter_pods_bound_duration_seconds", HISTOGRAM, L("dynamic_resources"),      \
      "From a pod's creation to its being bound")                                                  \
    X(PODS_UNBOUND, "karpenter_pods_unbound_time_seconds", GAUGE,                                  \
      L("name", "namespace", "dynamic_resources"), "How old a pod is that is not bound")           \
    X(PODS_STARTUP, "karpenter_pods_startup_duration_seconds", SUMMARY, NO_LABELS,                 \
      "From a pod's creation to its being ready for the first time")                               \
    X(PODS_PLANNED_BOUND, "karpenter_pods_provisioning_bound_duration_seconds", HISTOGRAM,         \
      L("dynamic_resources"),                                                                      \
      "From the first plan that has a place for a pod to its being bound")                         \
    X(PODS_PLANNED_UNBOUND, "karpenter_pods_provisioning_unbound_time_seconds", GAUGE,             \
      L("name", "namespace", "dynamic_resources"),                                                 \
      "How long a pod has had a place in the plans and is not bound")                              \
    X(STATE_NODES, "karpenter_cluster_state_node_count", GAUGE, NO_LABELS,                         \
      "Nodes and NodeClaims known")                                                                \
    X(STATE_SYNCED, "karpenter_cluster_state_synced", GAUGE, NO_LABELS,                            \
      "1 when every claim is launched and every kind was listed")                                  \
    X(STATE_UNSYNCED, "karpenter_cluster_state_unsynced_time_seconds", GAUGE, NO_LABELS,           \
      "How long the state has not been synced")                                                    \
    X(ALLOWED_DISRUPTIONS, "karpenter_nodepools_allowed_disruptions", GAUGE,                       \
      L("nodepool", "reason"), "Nodes that the budgets let go at once")                            \
    X(CONSUMING_BUDGETS, "karpenter_nodepools_nodes_consuming_budgets", GAUGE,                     \
      L("nodepool", "reason"), "Nodes that use the budgets up now")                                \
    X(ELIGIBLE_NODES, "karpenter_voluntary_disruption_eligible_nodes", GAUGE, L("reason"),         \
      "Nodes that could be disrupted")                                                             \
    X(DISRUPTION_DECISIONS, "karpenter_voluntary_disruption_decisions_total", COUNTER,             \
      L("decision", "reason", "consolidation_type"), "Commands decided")                           \
    X(POOL_DECISIONS, "karpenter_voluntary_disruption_decisions_by_nodepool_total", COUNTER,       \
      L("nodepool", "decision", "reason", "consolidation_type"), "Commands decided, by each NodePool of theirs") \
    X(TERMINATE_FIRST, "karpenter_voluntary_disruption_terminate_first_decisions_total", COUNTER,  \
      L("nodepool", "reason", "terminate_first_reason"),                                           \
      "Commands decided that bring their replacements afterwards, by why")                         \
    X(QUEUE_FAILURES, "karpenter_voluntary_disruption_queue_failures_total", COUNTER,               \
      L("decision", "reason", "consolidation_type"), "Replacements of commands that were taken back") \
    X(CONSOLIDATION_TIMEOUTS, "karpenter_voluntary_disruption_consolidation_timeouts_total", COUNTER, \
      L("consolidation_type"), "Searches for a consolidation that ended before all was looked at")   \
    X(DISRUPTION_LOOPS, "stowage_disruption_loops_total", COUNTER, L("nodepool"),                   \
      "Nodes that are not consolidated for a while, since consolidations undid one another")       \
    X(LAST_FULL_SWEEP, "stowage_consolidation_last_full_sweep_seconds", GAUGE, NO_LABELS,           \
      "Since a search for a consolidation last came to every node that may go")                    \
    X(FAILED_VALIDATIONS, "karpenter_voluntary_disruption_failed_validations_total", COUNTER,      \
      L("consolidation_type"), "Nodes that left a command during its wait")                        \
    X(DELETION_COST_NODES, "karpenter_pod_deletion_cost_nodes_with_pending_annotation_writes", GAUGE, L("nodepool"), \
      "Nodes on which the last look found pods whose pod-deletion-cost is to change")              \
    X(DELETION_COST_WRITES, "karpenter_pod_deletion_cost_pod_annotation_writes_total", COUNTER, L("result"), \
      "Writes of pod-deletion-cost: updated, skipped_unchanged, skipped_notfound, skipped_conflict, error") \
    X(CLOUD_DURATION, "karpenter_cloudprovider_duration_seconds", HISTOGRAM,                       \
      L("controller", "method", "provider"), "Duration of a provider's calls")                     \
    X(CLOUD_ERRORS, "karpenter_cloudprovider_errors_total", COUNTER,                               \
      L("controller", "method", "provider", "error", "nodepool"),                                  \
      "Provider's calls that failed")                                                              \
    X(RECONCILE_TIME, "controller_runtime_reconcile_time_seconds", HISTOGRAM, L("controller"),     \
      "Duration of a pass over the cluster")                                                       \
    X(RECONCILE_TOTAL, "controller_runtime_reconcile_total", COUNTER, L("controller", "result"),   \
      "Passes over the cluster")                                                                   \
    X(CLAIM_TRANSITIONS, "operator_nodeclaim_status_condition_transition_seconds", HISTOGRAM,      \
      L("type", "status", "to_status"), "How long a condition of a NodeClaim was what it was")     \
    X(POOL_TRANSITIONS, "operator_nodepool_status_condition_transition_seconds", HISTOGRAM,        \
      L("type", "status", "to_status"), "How long a condition of a NodePool was what it was")      \
    X(TRANSITIONS, "operator_status_condition_transition_seconds", HISTOGRAM,                      \
      L("group", "kind", "type", "status", "to_status"), "The same of both, as earlier versions have it") \
    X(LOWER_BOUND, "stowage_plan_lower_bound_per_hour", GAUGE, NO_LABELS,                          \
      "No fleet for the planned pods is cheaper than this")                                        \
    X(HELD_BACK, "stowage_purchases_held_total", COUNTER, L("reason"),                             \
      "NodeClaims not created because of a cap or a limit, or since room comes in a moment")       \
    X(DIVERGED, "stowage_divergences_total", COUNTER, L("cause"),                                  \
      "Planned pods that did not go where they were planned: ahead, refused, elsewhere, late")     \
    X(BOUND_AS_PLANNED, "stowage_pods_bound_total", COUNTER, L("where"),                           \
      "Pods with a place that were bound: planned, elsewhere")                                     \
    X(SCHEDULER_SILENT, "stowage_scheduler_silent", GAUGE, NO_LABELS,                              \
      "1 while pods wait and no scheduler asks the extender")                                      \
    X(CLOCK_STEPS, "stowage_clock_steps_total", COUNTER, L("direction"),                            \
      "Steps of the wall clock by a minute or more: forward, backward")                          \
    X(OBSERVING, "stowage_observing", GAUGE, NO_LABELS, "1 while nothing may be written")          \
    X(REMOVALS_STOPPED, "stowage_removals_stopped", GAUGE, L("reason", "kind"),                    \
      "1 while the view of a kind is partial, so that nodes are not removed")                                                \
    X(PASS_DURATION, "stowage_reconcile_batch_to_claim_seconds", HISTOGRAM, NO_LABELS,             \
      "From the end of the batch window to the NodeClaim's creation") \
    /* of node groups, under Cluster Autoscaler's names (spec node-groups, appendix B) */ \
    X(GROUPS_SAFE, "cluster_autoscaler_cluster_safe_to_autoscale", GAUGE, NO_LABELS, "1 while the cluster is well enough for its node groups to be scaled") \
    X(GROUPS_NODES, "cluster_autoscaler_nodes_count", GAUGE, L("state"), "Nodes, and machines that are none yet, by state") \
    X(GROUPS_COUNT, "cluster_autoscaler_node_groups_count", GAUGE, L("node_group_type"), "Node groups") \
    X(GROUPS_UNSCHEDULABLE, "cluster_autoscaler_unschedulable_pods_count", GAUGE, L("type"), "Pods that ask node groups for room") \
    X(GROUPS_MAX_NODES, "cluster_autoscaler_max_nodes_count", GAUGE, NO_LABELS, "Nodes that there may be at most") \
    X(GROUPS_CORES, "cluster_autoscaler_cluster_cpu_current_cores", GAUGE, NO_LABELS, "Cores of all Nodes") \
    X(GROUPS_CORES_LIMITS, "cluster_autoscaler_cpu_limits_cores", GAUGE, L("direction"), "--cores-total") \
    X(GROUPS_MEMORY, "cluster_autoscaler_cluster_memory_current_bytes", GAUGE, NO_LABELS, "Memory of all Nodes") \
    X(GROUPS_MEMORY_LIMITS, "cluster_autoscaler_memory_limits_bytes", GAUGE, L("direction"), "--memory-total") \
    X(GROUPS_ACTIVITY, "cluster_autoscaler_last_activity", GAUGE, L("activity"), "When it was last done, in seconds since 1970") \
    X(GROUPS_DURATION, "cluster_autoscaler_function_duration_seconds", HISTOGRAM, L("function"), "Duration of a pass over the node groups") \
    X(GROUPS_WORLDS, "stowage_groups_worlds_total", COUNTER, L("how"), "Worlds that passes over the node groups looked at") \
    X(GROUPS_ERRORS, "cluster_autoscaler_errors_total", COUNTER, L("type"), "Passes and calls that failed") \
    X(GROUPS_SCALED_UP, "cluster_autoscaler_scaled_up_nodes_total", COUNTER, NO_LABELS, "Nodes that groups were asked for") \
    X(GROUPS_FAILED_UP, "cluster_autoscaler_failed_scale_ups_total", COUNTER, L("reason"), "Groups that could not grow, or whose machines could not be made") \
    X(GROUPS_UNNEEDED, "cluster_autoscaler_unneeded_nodes_count", GAUGE, NO_LABELS, "Nodes of groups that nobody needs") \
    X(GROUPS_UNREMOVABLE, "cluster_autoscaler_unremovable_nodes_count", GAUGE, L("reason"), "Nodes of groups that stay, by why") \
    X(GROUPS_COOLDOWN, "cluster_autoscaler_scale_down_in_cooldown", GAUGE, NO_LABELS, "1 while nodes of groups stay since one came or went a moment ago") \
    X(GROUPS_SCALED_DOWN, "cluster_autoscaler_scaled_down_nodes_total", COUNTER, L("reason"), "Nodes of groups that were removed") \
    X(GROUPS_EVICTED, "cluster_autoscaler_evicted_pods_total", COUNTER, L("eviction_result"), "Pods evicted for a node of a group to go") \
    X(GROUPS_DELETIONS, "cluster_autoscaler_pending_node_deletions", GAUGE, NO_LABELS, "Removals of nodes of groups under way") \
    X(GROUPS_UNREGISTERED, "cluster_autoscaler_old_unregistered_nodes_removed_count", COUNTER, NO_LABELS, "Machines ended that never became Nodes") \
    X(GROUP_MIN, "cluster_autoscaler_node_group_min_count", GAUGE, L("node_group"), "Minimum size, with --emit-per-nodegroup-metrics") \
    X(GROUP_MAX, "cluster_autoscaler_node_group_max_count", GAUGE, L("node_group"), "Maximum size, with --emit-per-nodegroup-metrics") \
    X(GROUP_TARGET, "cluster_autoscaler_node_group_target_count", GAUGE, L("node_group"), "Target size, with --emit-per-nodegroup-metrics") \
    X(GROUP_HEALTHY, "cluster_autoscaler_node_group_healthiness", GAUGE, L("node_group"), "1 when healthy, with --emit-per-nodegroup-metrics") \
    X(GROUP_BACKOFF, "cluster_autoscaler_node_group_backoff_status", GAUGE, L("node_group", "reason"), "1 while backed off, with --emit-per-nodegroup-metrics")

enum measure_id {
#define X(id, name, type, labels, help) MEASURE_##id,
    MEASURE_LIST(X)
#undef X
        MEASURE_ID_COUNT,
};

enum { MEASURE_LABELS_MAX = 5 };

struct measure_info {
    const char *name, *help;
    enum measure_type type;
    const char *labels[MEASURE_LABELS_MAX]; /* NULL: no more */
};

extern const struct measure_info measure_infos[MEASURE_ID_COUNT];

struct measure { /* lives during the callback */
    enum measure_id id;
    struct span labels[MEASURE_LABELS_MAX]; /* values, in the table's order; absent is "" */
    double value; /* added to a counter, set in a gauge, observed by a histogram or summary */
    bool gone;    /* a gauge's series that is no more */
};

#endif
