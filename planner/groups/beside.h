/* beside: node groups beside NodePools, each pod in one plan: groups are asked for those alone that the pools' plan has no
 * place for. What that plan gives on a node that stands is taken, what it buys is not the groups' matter. Whom it is not to
 * buy for, since groups are cheaper, choice.h says. The live loop does the same (reconciler/groups/look.c). */
#ifndef PLANNER_GROUPS_BESIDE_H
#define PLANNER_GROUPS_BESIDE_H

#include "planner/groups/pass.h"
#include "planner/plan/plan.h"

/* `pods` as a pass over the groups is to see them beside the pools' plan: without those for whom a node is bought, and
 * those who have their place on a node as if the scheduler had nominated them for it. In `a`. */
const struct pod *const *groups_beside_plan(const struct plan *p, const struct pod *const *pods, size_t count,
                                            size_t *count_out, struct arena *a);
/* Pods of the plan without a place that have one in the groups: they wait for a group, and not for a pool. */
void groups_take_over(struct plan *p, const struct group_pass *g);

#endif
