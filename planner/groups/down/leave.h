/* leave: which unneeded nodes may go now, and in which order (spec node-groups 4.6). */
#ifndef PLANNER_GROUPS_DOWN_LEAVE_H
#define PLANNER_GROUPS_DOWN_LEAVE_H

#include "base/arena.h"
#include "base/units.h"
#include "planner/groups/down/crop.h"
#include "planner/groups/down/unremovable.h"

struct leave_node {
    uint32_t node, group;
    wall_ms since;  /* unneeded without a break */
    bool ready;
    bool drains;    /* has pods that need a place elsewhere */
    bool risky;     /* whose budgets do not let them go at once */
    bool waits;     /* has pods that are to run to their end */
    double worth;   /* an hour without it, less its evictions; 0 where nobody knows the price, less these */
    enum unremovable why; /* the answer; UNREMOVABLE_NOT: it may go */
};

struct leave_group {
    struct crop_group crop;
    int32_t min, deletions;            /* under way */
    span_ms unneeded_time, unready_time;
    const int64_t *costs;              /* what a node of it is of each of the cluster's resources */
};

/* How much the cluster can lose of each resource before it has less than its minimum. */
struct leave_room {
    int64_t *left; /* is used up */
    uint32_t count;
};

/* Nodes come in the order in which they take their share of what may go: by name as upstream, else those that are worth the
 * most first. Those that may go are told in `out`, which has room for all of them, in the order in which they
 * are to: empty ones, others, risky ones; those of groups that go as a whole behind all others. Returns how many. */
uint32_t leave_judge(struct leave_node *nodes, uint32_t count, const struct leave_group *groups, uint32_t group_count,
                     struct leave_room room, wall_ms now, struct arena *scratch, struct crop_node *out);

#endif
