/* plan_groups: node groups beside what `plan` reads: their file, the world with their templates, the pass. */
#ifndef SERVER_PLAN_GROUPS_H
#define SERVER_PLAN_GROUPS_H

#include "planner/groups/pass.h"
#include "server/group_options.h"
#include "server/plan_command.h"

/* For input.own, before anything is read. */
struct input_own plan_groups_own(void);

/* The groups of --node-groups FILE (NULL: not given), or of the objects that were read; *out is NULL where there are
 * none. Mistakes go to standard error. */
bool plan_groups_find(struct input *o, const char *file, const struct group_options_given *given,
                      const struct node_groups **out, struct err *err);

/* Beside the plan of the NodePools (*pools is NULL: there are none), which is another after it when groups are cheaper for
 * some (planner/groups/choice.h): whom that has no place for, and the groups have, is unschedulable there no more. NULL, and err set: groups and cluster disagree. The answer is in o->arena, and looks at *world_out, which is to be
 * freed after it. */
struct group_pass *plan_groups_decide(struct input *o, const struct options *options, const struct plan_reading *r,
                                      const struct node_groups *groups, const struct group_flags *given,
                                      struct plan **pools, struct world **world_out, struct err *err);

#endif
