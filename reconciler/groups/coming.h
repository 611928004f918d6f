/* coming: places for pods on machines of groups that are on their way, as pods have them on NodeClaims: who is meant to go
 * there takes nobody else's room meanwhile, and nobody else takes theirs. For the reconciler only.
 *
 * A pass over the groups finds who fits which of them (planner/groups/pass.h, `coming`). Such a place has the group and
 * a name for the machine as its target until its Node registers, and then the Node. Machines of a group are alike, so
 * that the first Node gets the places of the first machine. A plan that finds a pod a place on a node that stands comes
 * before; the others stay beside it until the next pass over the groups. They are not remembered: a new leader's first
 * pass finds them again. */
#ifndef RECONCILER_GROUPS_COMING_H
#define RECONCILER_GROUPS_COMING_H

#include "planner/groups/pass.h"
#include "planner/places.h"

struct keeper;
struct pass;

/* The place is on a machine of a group that has not registered, or on a group's Node that does not let the pod in yet. */
bool coming_has(const struct pass *p, const struct place *x, const struct pod *pod);
/* The stage. Nodes of groups that have registered since the last look get what was planned on their machines. */
void coming_run(struct pass *p);
/* A plan's places and, for pods that it has none for, those on machines on their way. Takes over `plans`. */
struct places *coming_beside(struct pass *p, struct places *plans, bool *any_out);
/* What a pass over the groups found is published, in the place of what the last one did. */
void coming_publish(struct pass *p, const struct group_pass *decided);
void coming_forget(struct keeper *k);

#endif
