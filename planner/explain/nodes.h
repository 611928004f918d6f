/* nodes: why no node that stands takes a pod, in one line. */
#ifndef PLANNER_EXPLAIN_NODES_H
#define PLANNER_EXPLAIN_NODES_H

#include "planner/explain/groups.h"

/* "nodes: 3 looked at; 1 has other labels or taints, 2 have no 2 CPUs free (most: n1, 1 CPU)". */
struct span nodes_refuse(const struct group_question *q);

#endif
