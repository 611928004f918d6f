/* look: what one pass over the node groups goes by: the groups as their provider has them, with what is remembered of
 * them, and a world that has a node of each group's shape beside what there is. */
#ifndef RECONCILER_GROUPS_LOOK_H
#define RECONCILER_GROUPS_LOOK_H

#include "planner/groups/pass.h"

struct pass;

struct group_look {
    struct node_groups file;
    struct group_objects objects;
    struct group_model *model;
    struct world *world;
};

/* CapacityBuffers are filled by groups: there are groups, and no NodePool that could do it. */
bool group_look_fills_buffers(const struct pass *p);

/* False: err says what the provider could not tell, or what it and the cluster disagree about. All of it lives until
 * group_look_end or the end of the pass. */
bool group_look_begin(struct pass *p, struct group_look *out, struct err *err);
void group_look_end(struct group_look *l);

#endif
