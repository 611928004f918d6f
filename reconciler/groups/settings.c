#include "reconciler/groups/settings.h"

struct group_settings group_settings_default(void)
{
    return (struct group_settings){
        .flags = group_flags_default(),
        .scan_interval = 10 * MS_SECOND,
        .frequent = true,
        .write_status = true,
        .status_name = SPAN("cluster-autoscaler-status"),
        .cordon = true,
        .evict_daemons_of_occupied = true,
        .delay_after_taint = 5 * MS_SECOND,
        .max_grace = 600,
        .max_eviction_time = 2 * MS_MINUTE,
        .max_deletion_delay = 2 * MS_MINUTE,
        .soft_taints = 10,
        .max_inactivity = 10 * MS_MINUTE,
        .max_failing_time = 15 * MS_MINUTE,
        .max_startup_time = 20 * MS_MINUTE,
        .check_batch = 10,
        .check_timebox = 10 * MS_SECOND,
        .request_backoff_first = MS_MINUTE,
        .request_backoff_max = 10 * MS_MINUTE,
        .request_backoff_count = 1000,
    };
}
