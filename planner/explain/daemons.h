/* daemons: DaemonSets in words: which one takes what of a new node. */
#ifndef PLANNER_EXPLAIN_DAEMONS_H
#define PLANNER_EXPLAIN_DAEMONS_H

#include "planner/explain/words.h"

/* "DaemonSet kube-system/agent": that takes most of the column on the nodes of a group; ties by name. */
struct span daemons_heaviest(struct plan *p, const struct daemon_group *g, uint32_t column);
/* "DaemonSet kube-system/agent takes 14 CPUs of each node", "DaemonSets take 14 CPUs of each node, DaemonSet
 * kube-system/agent 10 CPUs of them" */
struct span daemons_take(struct plan *p, const struct daemon_group *g, uint32_t column);
/* The first of a group, by name, that wants one of the host ports; absent: none does. */
struct span daemons_on_port(struct plan *p, const struct daemon_group *g, struct host_port port);

#endif
