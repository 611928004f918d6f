/* unplanned: why nothing is planned for a pod that has no node: not because there is no place, but because it is
 * not for a plan to find one. */
#ifndef PLANNER_EXPLAIN_UNPLANNED_H
#define PLANNER_EXPLAIN_UNPLANNED_H

#include "planner/world.h"

/* "its scheduling gates are not open yet"; of a DaemonSet's pod that the scheduler has turned down what its node
 * lacks and who holds it: "it belongs to DaemonSet kube-system/agent, whose pod for node n1 asks for 2 CPUs, and
 * 1.5 of 4 are free there (most is held by shop/web-0, 2 CPUs): …". No full stop. The pod need not be of the
 * world. In `a`, or static. */
struct span unplanned_why(const struct world *w, struct arena *a, const struct pod *pod);

#endif
