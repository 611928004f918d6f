/* pools: why NodePools are not asked, in words. */
#ifndef PLANNER_EXPLAIN_POOLS_H
#define PLANNER_EXPLAIN_POOLS_H

#include "planner/plan/plan.h"

/* What the first condition says that Ready follows from and that is not true; absent: nothing is said. */
struct span pool_not_ready(const struct node_pool *pool);
/* "is not ready: NodeClass not found on cluster: …"; of a pool that is none of the world's options. */
struct span pool_obstacle(struct arena *a, const struct node_pool *pool);

/* Of a world without options, what is said of a pod: "has no NodePool to go to: general is not ready: …" */
struct why pools_closed(struct arena *a, const struct world *w);

#endif
