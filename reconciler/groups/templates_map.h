/* templates_map: the ConfigMap in which what was learned of groups' nodes outlives a leader (planner/groups/learned.h): read
 * before the first pass, written when something else was learned. For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_TEMPLATES_MAP_H
#define RECONCILER_GROUPS_TEMPLATES_MAP_H

#include "reconciler/groups/keeper.h"

/* Beside the status ConfigMap, in flags.config_namespace; its key `templates`. */
#define TEMPLATES_CONFIG_MAP "stowage-node-group-templates"

/* False: it is being read for the first time. Who cannot read it goes on without, and writes nothing until it can. Not with
 * --search greedy, which learns nothing. */
bool templates_map_known(struct pass *p);
/* After a pass that learned. */
void templates_map_write(struct pass *p);
void templates_map_forget(struct keeper *k);

#endif
