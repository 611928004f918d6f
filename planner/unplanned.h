/* unplanned: pods of a world that have no node, and for which nothing is planned, with their classes. They are among its
 * `members`, and among those aside, too. */
#ifndef PLANNER_UNPLANNED_H
#define PLANNER_UNPLANNED_H

#include "planner/columns.h"

#define UNPLANNED_GONE UINT32_MAX

struct unplanned_pod {
    uint64_t uid; /* its hash */
    uint32_t class_id; /* UNPLANNED_GONE: it is, and unplanned_settle will drop it */
};

bool world_pod_is_unplanned(const struct world *w, const struct pod *p);
/* Unsorted until unplanned_settle. */
void unplanned_put(struct world *w, struct arena *a, const struct pod *p, uint32_t class_id);
/* Of those that were there when it was settled last. False: it is none of them. */
bool unplanned_take(struct world *w, const struct pod *p, uint32_t *class_out);
void unplanned_settle(struct world *w);

#endif
