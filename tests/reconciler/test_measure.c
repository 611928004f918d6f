/* Names and labels are what dashboards made for Karpenter v1.15.0 ask for: a slip here is a panel that stays
 * empty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reconciler/measure.h"

static const struct {
    const char *name;
    enum measure_type type;
    const char *labels; /* "a,b" */
} rows[] = {
    {"karpenter_scheduler_scheduling_duration_seconds", MEASURE_HISTOGRAM, "controller"},
    {"karpenter_scheduler_queue_depth", MEASURE_GAUGE, "controller,scheduling_id"},
    {"karpenter_scheduler_unfinished_work_seconds", MEASURE_GAUGE, "controller,scheduling_id"},
    {"karpenter_scheduler_ignored_pods_count", MEASURE_GAUGE, ""},
    {"karpenter_scheduler_unschedulable_pods_count", MEASURE_GAUGE, "controller"},
    {"karpenter_scheduler_pending_pods_by_effective_zone_count", MEASURE_GAUGE, "controller,zone"},
    {"karpenter_cluster_state_node_count", MEASURE_GAUGE, ""},
    {"karpenter_cluster_state_synced", MEASURE_GAUGE, ""},
    {"karpenter_cluster_state_unsynced_time_seconds", MEASURE_GAUGE, ""},
    {"karpenter_pods_scheduling_decision_duration_seconds", MEASURE_HISTOGRAM, ""},
    {"karpenter_nodeclaims_created_total", MEASURE_COUNTER, "reason,nodepool,min_values_relaxed"},
    {"karpenter_pods_bound_duration_seconds", MEASURE_HISTOGRAM, "dynamic_resources"},
    {"karpenter_pods_unbound_time_seconds", MEASURE_GAUGE, "name,namespace,dynamic_resources"},
    {"karpenter_pods_provisioning_bound_duration_seconds", MEASURE_HISTOGRAM, "dynamic_resources"},
    {"karpenter_pods_provisioning_unbound_time_seconds", MEASURE_GAUGE,
     "name,namespace,dynamic_resources"},
    /* The four panels of karpenter-performance-dashboard.json. */
    {"karpenter_nodes_termination_duration_seconds", MEASURE_SUMMARY, "nodepool"},
    {"karpenter_pods_startup_duration_seconds", MEASURE_SUMMARY, ""},
    {"controller_runtime_reconcile_time_seconds", MEASURE_HISTOGRAM, "controller"},
    {"controller_runtime_reconcile_total", MEASURE_COUNTER, "controller,result"},
    {"karpenter_cloudprovider_errors_total", MEASURE_COUNTER,
     "controller,method,provider,error,nodepool"},
    {"karpenter_cloudprovider_duration_seconds", MEASURE_HISTOGRAM, "controller,method,provider"},
    /* What 1.15 has changed (spec api 11.5). */
    {"karpenter_nodepools_allowed_disruptions", MEASURE_GAUGE, "nodepool,reason"},
    {"karpenter_nodepools_nodes_consuming_budgets", MEASURE_GAUGE, "nodepool,reason"},
    {"karpenter_voluntary_disruption_decisions_total", MEASURE_COUNTER, "decision,reason,consolidation_type"},
    {"karpenter_voluntary_disruption_decisions_by_nodepool_total", MEASURE_COUNTER,
     "nodepool,decision,reason,consolidation_type"},
    {"karpenter_voluntary_disruption_terminate_first_decisions_total", MEASURE_COUNTER,
     "nodepool,reason,terminate_first_reason"},
    {"operator_nodeclaim_status_condition_transition_seconds", MEASURE_HISTOGRAM, "type,status,to_status"},
    {"operator_nodepool_status_condition_transition_seconds", MEASURE_HISTOGRAM, "type,status,to_status"},
    {"operator_status_condition_transition_seconds", MEASURE_HISTOGRAM, "group,kind,type,status,to_status"},
    {"karpenter_voluntary_disruption_queue_failures_total", MEASURE_COUNTER, "decision,reason,consolidation_type"},
    {"karpenter_nodes_reboots_total", MEASURE_COUNTER, "result"},
    {"karpenter_nodes_reboot_duration_seconds", MEASURE_HISTOGRAM, "result"},
    {"karpenter_nodes_reboot_recovery_duration_seconds", MEASURE_HISTOGRAM, ""},
    {"karpenter_pod_deletion_cost_nodes_with_pending_annotation_writes", MEASURE_GAUGE, "nodepool"},
    {"karpenter_pod_deletion_cost_pod_annotation_writes_total", MEASURE_COUNTER, "result"},
    {"karpenter_nodeclaims_unhealthy_disrupted_total", MEASURE_COUNTER,
     "condition,nodepool,capacity_type,image_id,termination_mode"},
};

static const struct measure_info *find(const char *name)
{
    for (size_t i = 0; i < MEASURE_ID_COUNT; i++)
        if (strcmp(measure_infos[i].name, name) == 0)
            return &measure_infos[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void dashboards_find_their_series(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        const struct measure_info *m = find(rows[r].name);
        char labels[256] = "";
        for (size_t i = 0; i < MEASURE_LABELS_MAX && m->labels[i] != NULL; i++) {
            strcat(labels, i != 0 ? "," : "");
            strcat(labels, m->labels[i]);
        }
        if (strcmp(labels, rows[r].labels) != 0)
            fail_msg("%s has labels %s, not %s", m->name, labels, rows[r].labels);
        if (m->type != rows[r].type)
            fail_msg("%s is of another type", m->name);
    }
}

static void no_name_is_given_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < MEASURE_ID_COUNT; i++)
        assert_ptr_equal(find(measure_infos[i].name), &measure_infos[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dashboards_find_their_series),
        cmocka_unit_test(no_name_is_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
