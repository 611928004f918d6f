/* beside: node groups beside NodePools, each pod in one plan: groups are asked for those alone that the pools' plan has no
 * place for. What that plan gives on a node that stands is taken, what it buys is not the groups' matter. Whom it is not to
 * buy for, since groups are cheaper, choice.h says. The live loop does the same (reconciler/groups/look.c). */
#ifndef PLANNER_GROUPS_BESIDE_H
#define PLANNER_GROUPS_BESIDE_H

#include "planner/groups/pass.h"
#include "planner/plan/plan.h"

/* The objects as a pass over the groups is to see them beside the pools' plan. Pods: without those for whom a node is bought,
 * and those who have their place on a node as if the scheduler had nominated them for it. What is bought, if it matters to
 * anybody (bought.h): then the world of the pass is to be made of these objects. In `a`. */
void groups_see_plan(struct group_objects *o, const struct plan *p, struct arena *a);
/* Pods of the plan without a place that have one in the groups: they wait for a group, and not for a pool. */
void groups_take_over(struct plan *p, const struct group_pass *g);

#endif
