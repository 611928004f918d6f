/* tell: the reasons of a plan in words. A plan that nobody looks at needs none. */
#ifndef PLANNER_EXPLAIN_TELL_H
#define PLANNER_EXPLAIN_TELL_H

#include "planner/plan/plan.h"

/* `why` and details of all who have no place. To be called while plan_options.user lives: `stop` is asked on the way, and
 * a search that was stopped is not looked into. */
void plan_tell(struct plan *p);

/* "it is to be on spot; its Deployment web wants …" Absent: its side is free. */
struct span tell_split(struct plan *p, uint32_t class_id);
/* What keeps the pod, a number of the trial, out of one option: a sentence about it without its name; absent: nothing. */
struct span tell_refusal(struct plan *p, struct trial *t, uint32_t pod, uint32_t option);

#endif
