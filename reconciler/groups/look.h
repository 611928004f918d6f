/* look: what one pass over the node groups goes by: the groups as their provider has them, with what is remembered of
 * them, and a world that has a node of each group's shape beside what there is. */
#ifndef RECONCILER_GROUPS_LOOK_H
#define RECONCILER_GROUPS_LOOK_H

#include "planner/groups/choice.h"
#include "reconciler/derive.h"

struct pass;
struct pooled;

struct group_look {
    struct node_groups file;
    struct group_flags flags; /* beside NodePools those of a choice (planner/groups/choice.h) */
    struct group_objects objects;
    struct group_model *model;
    struct world *world;
    struct pooled *pooled; /* as which pods are seen; NULL: as they are */
    bool kept; /* the world, and pooled, are the next pass's, too (kept.h) */
    enum derive_way how; /* the world was made */
};

/* CapacityBuffers are filled by groups: there are groups, and no NodePool that could do it. */
bool group_look_fills_buffers(const struct pass *p);

/* False: err says what the provider could not tell, or what it and the cluster disagree about. All of it lives until
 * group_look_end, and but for the world until the end of the pass. */
bool group_look_begin(struct pass *p, struct group_look *out, struct err *err);
void group_look_end(struct group_look *l);

/* Who is to ask the groups though the pools' plan buys a node for it, as `plan` has it (planner/groups/choice.h). NULL: nobody.
 * Places on machines of groups that are on their way stay. The keeper has begun. */
const struct choice *group_look_choice(struct pass *p, const struct plan_options *o, const struct plan *pools);

/* Without NodePools: where one search over the groups has pods go, into the objects. */
void group_look_wishes(struct pass *p, struct group_look *l);

/* Pods that a plan of the pools has to count where they will be: on machines of groups that are on their way, and others mind
 * where. NULL: there are none. The keeper has begun. */
const struct choice *group_look_guests(struct pass *p);

#endif
