/* drain: what becomes of each pod when its node goes (spec node-groups 4.4), in the order of Cluster Autoscaler's
 * rules: the first that has an answer gives it. The one home of these rules.
 *
 * Pods that have ended (its rule 6) are in no simulation, so that nothing is said of them here. */
#ifndef PLANNER_GROUPS_DOWN_DRAIN_H
#define PLANNER_GROUPS_DOWN_DRAIN_H

#include "planner/groups/down/evictions.h"
#include "planner/groups/flags.h"
#include "planner/pods/object_index.h"

enum drain_outcome {
    DRAIN_MOVE,  /* is evicted, and must fit elsewhere */
    DRAIN_SKIP,  /* mirror pods, and those that should be gone already: as if it were not there */
    DRAIN_DAEMON, /* a DaemonSet's: needs no place */
    DRAIN_WAIT,  /* its node goes once it has ended */
    DRAIN_BLOCK,
};

enum drain_block { /* why the node stays */
    DRAIN_BLOCK_NOT,
    DRAIN_CONTROLLER_NOT_FOUND,
    DRAIN_MIN_REPLICAS_REACHED,
    DRAIN_NOT_REPLICATED,
    DRAIN_LOCAL_STORAGE,
    DRAIN_NOT_SAFE,
    DRAIN_SYSTEM_POD,
    DRAIN_NOT_ENOUGH_PDB,
    DRAIN_BLOCK_COUNT,
};
const char *drain_block_name(enum drain_block b); /* Cluster Autoscaler's: "ControllerNotFound"… */

struct drain_controllers { /* those that there are; DaemonSets, and struct controller but for Jobs */
    struct object_index replica_sets, replication_controllers, stateful_sets, jobs, daemon_sets;
};

struct drain {
    const struct group_flags *flags;
    const struct symtab *syms;
    struct drain_controllers *controllers; /* NULL: all controllers exist, and have replicas enough */
    const struct evictions *evictions;     /* NULL: there are no budgets */
    wall_ms now;
};

enum drain_outcome group_drain_judge(const struct drain *d, const struct pod *p, enum drain_block *block_out);

bool drain_is_mirror(const struct pod *p);
bool drain_is_daemon(const struct pod *p); /* by its controller or by annotation */
/* Its time to end was over half a minute ago. */
bool drain_is_overdue(const struct pod *p, wall_ms now);

#endif
