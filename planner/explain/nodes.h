/* nodes: why no node that stands takes a pod, in one line. */
#ifndef PLANNER_EXPLAIN_NODES_H
#define PLANNER_EXPLAIN_NODES_H

#include "planner/explain/groups.h"

/* Of the rows below `end`: "3 looked at; taints or labels keep it off 1; 2 without room: none has 2 CPUs
 * free (most: n1, 1 CPU)". */
struct span nodes_refuse(const struct group_question *q, uint32_t end);

#endif
