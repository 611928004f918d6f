/* offers: node groups as the planner's search sees what can be bought. Each that may grow and says what a node costs is an owner
 * of options like a NodePool: of one type, which is its template, with the template's labels, taints and room, and with as many
 * nodes left as the group may still grow by. So one search goes over both, and knows neither.
 *
 * Price decides between them: a group weighs as much as the heaviest NodePool. What only the pass over the groups knows
 * (limits, health, minimal scale-ups) is not in it: what comes of a plan with these is a proposal, which the pass has to bear
 * out (choice.h). */
#ifndef PLANNER_GROUPS_OFFERS_H
#define PLANNER_GROUPS_OFFERS_H

#include "planner/groups/model.h"
#include "planner/world.h"

struct group_offers {
    /* What a world of both is built by, in place of the cluster's; NodeOverlays are in the catalogue already. */
    const struct node_pool *const *pools;
    size_t pool_count;
    struct catalogue catalogue;
    struct world_options options;
    /* Of the pools those that stand for groups, and for which (positions in the model). */
    const struct node_pool *own;
    const uint32_t *groups;
    uint32_t count; /* 0: no group can be offered */
};

/* `w`: of the NodePools' plan. In `a`, symbols in `syms`; borrows from all. */
struct group_offers group_offers_make(const struct world *w, const struct group_model *m, wall_ms now, struct symtab *syms,
                                      struct arena *a);
/* The group that a NodePool of a plan stands for; -1: it is the cluster's own. */
int32_t group_of_offer(const struct group_offers *o, const struct node_pool *p);

#endif
