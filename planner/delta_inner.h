/* delta_inner: what the delta*.c files share: a world being made from the one before. */
#ifndef PLANNER_DELTA_INNER_H
#define PLANNER_DELTA_INNER_H

#include "planner/columns.h"

struct delta {
    const struct world *from;
    struct world *w;
    struct arena scratch;
    uint64_t *dirty;  /* rows whose pods changed now; NULL: no row did in any way, and PART_ROWS is not ours */
    uint64_t *blocks; /* of `lists`, made anew now */
    bool *left;       /* by number of waiting pod: it is gone */
    bool *lost;       /* by DaemonSet: its newest pod is gone, and none is known to be the newest now */
    bool daemons_moved; /* pods of DaemonSets came to rows or went */
};

struct arena *delta_own_part(struct delta *d, enum world_part part, struct part *under);
/* Rows are ours to change from now on; not their lists. */
void delta_own_rows(struct delta *d);

/* A Node or NodeClaim as it is now. False: what the world is made of became another. */
bool delta_node(struct delta *d, const struct node *n);
bool delta_claim(struct delta *d, const struct node_claim *c);

#endif
