#include "planner/groups/flags.h"

#define GIB ((int64_t)1 << 30)

struct group_flags group_flags_default(void)
{
    return (struct group_flags){
        .expanders = {EXPANDER_LEAST_WASTE},
        .expander_count = 1,
        .memory_ratio = 0.015,
        .free_ratio = 0.05,
        .allocatable_ratio = 0.05,
        .max_nodes_per_scale_up = 1000,
        .cores_max = 320000,
        .memory_max = 6400000 * GIB,
        .expendable_cutoff = -10,
        .scale_up_from_zero = true,
        .check_batch = 1,
        .config_namespace = SPAN("kube-system"),
        .ok_unready_count = 3,
        .max_unready_percentage = 45,
        .backoff_first = 5 * MS_MINUTE,
        .backoff_max = 30 * MS_MINUTE,
        .backoff_reset = 3 * MS_HOUR,
        .scaling = {.utilization_threshold = 0.5,
                    .gpu_utilization_threshold = 0.5,
                    .unneeded_time = 10 * MS_MINUTE,
                    .unready_time = 20 * MS_MINUTE,
                    .provision_time = 15 * MS_MINUTE,
                    .startup_time = 15 * MS_MINUTE},
        .scale_down_enabled = true,
        .scale_down_unready_enabled = true,
        .delay_after_add = 10 * MS_MINUTE,
        .delay_after_failure = 3 * MS_MINUTE,
        .unremovable_recheck = 5 * MS_MINUTE,
        .max_parallelism = 10,
        .max_drains = 1,
        .skip_system_pods = true,
        .skip_local_storage = true,
        .skip_custom_controller_pods = true,
        .system_pod_timeout = MS_HOUR,
    };
}
