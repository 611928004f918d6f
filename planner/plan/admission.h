/* admission: whom a plan looks for a place for, and where those of removed nodes may not go. */
#ifndef PLANNER_PLAN_ADMISSION_H
#define PLANNER_PLAN_ADMISSION_H

#include "planner/columns.h"
#include "planner/plan/plan.h"

/* The pod is of the pass. Not so: one that stays where it is until it may move, unless it is `forced`. */
bool admission_takes(const struct plan_options *o, const struct waiting_pod *x, bool forced);
/* Of the pass, but no place is looked for; *out says why, but for whose it is. */
bool admission_fails(const struct world *w, const struct plan_options *o, const struct waiting_pod *x,
                     struct plan_unschedulable *out);
/* The rows that take no pod of a node that consolidation removes: their pool's consolidateAfter is not over since their
 * last pod came or went (disruption 13.4). A set in `a`. */
const uint64_t *admission_closed(struct arena *a, const struct world *w, wall_ms now);

#endif
