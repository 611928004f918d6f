/* daemon_room: which pods to move off nodes that stand, so that DaemonSets' pods that found no room there find some. A
 * DaemonSet that comes to nodes that are full gets its pods where others leave by chance, and kube-scheduler preempts for
 * it only below its priority; Karpenter has no such thing. Pools ask for it (node_pool_daemon_room).
 *
 * A pod is moved for DaemonSets of at least its own priority, when a controller makes it again and nothing forbids its
 * eviction; of the ways to enough room, a cheap one. Nobody is moved where that would not be enough, or while a pod
 * of the node is still ending: then the room shows first. A node that is made room on uses up its pool's budget
 * for Underutilized like one that goes. */
#ifndef PLANNER_DISRUPTION_DAEMON_ROOM_H
#define PLANNER_DISRUPTION_DAEMON_ROOM_H

#include "planner/disruption/candidate.h"

struct daemon_room {
    uint32_t row;
    const struct pod *const *pods; /* to be evicted; by name */
    uint32_t count;
};

/* Of nodes that a budget lets it be done on, in the order of rows; in `a`. */
uint32_t daemon_room_find(struct arena *a, const struct world *w, const struct candidate_facts *f,
                          const struct daemon_room **out);

#endif
