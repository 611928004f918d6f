/* arrivals: pods that the scheduler is binding right now, with no node yet in any snapshot. A plan has no
 * say in where they go and gives the room that they take to nobody else. It has no place for them either:
 * where they are shows in the next snapshot.
 *
 * Not one that waits and was sent to one node: it has its place there (places_with). Nor a DaemonSet's pod,
 * whose room the world keeps. */
#ifndef PLANNER_ARRIVALS_H
#define PLANNER_ARRIVALS_H

#include "planner/places.h"

struct snapshot;

struct arrival {
    uint64_t id;             /* span_hash of its uid */
    int32_t priority;
    const struct pod *waits; /* it waits for a node, too; NULL: it never has */
    const amount *requests;  /* a vector of the world's columns */
    const uint32_t *rows;    /* it is to be on one of them; the likeliest first */
    uint32_t row_count;      /* at least one */
    bool sure;               /* that was the only node that the scheduler was told */
};

/* Of who was sent somewhere, in that order; in `a`. Who is bound or gone in the snapshot, and Nodes that the
 * world does not have, are passed over. */
uint32_t arrivals_find(struct arena *a, const struct world *w, const struct snapshot *s,
                       const struct sent_pod *sent, uint32_t count, const struct arrival **out);

#endif
