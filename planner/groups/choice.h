/* choice: who goes to the NodePools and who to the node groups of a cluster that has both: where the whole is cheapest.
 *
 * Begins with the pools' plan (beside.h) and looks at pods for which that buys a node: as if all of them asked the groups;
 * as one search has it to which a group and a pool are the same (offers.h); then, shape by shape, the most pods first, as if
 * those asked the groups that do not yet, or did not any more. Each way is worked out as it would go, by a plan of the pools
 * and a pass over the groups, and taken when it leaves out fewer pods of the highest priority at which it differs, else when
 * it has fewer nodes of which nobody knows the price, else when it is cheaper. So what comes of it is never worse than pools
 * first, nor than groups first. Where the one search has a pod go to a group, the pass has it go there, too
 * (choice_wishes), unless an expander was asked for, or --balance-similar-node-groups.
 *
 * A pod's annotation stowage.dev/prefer comes before any price: `pools`, `groups`, or the name of a group; but no pod is left
 * without a place for it. What was asked of a group already stays with it.
 *
 * With --search greedy, and where no group has a price and no pod a preference, there is no choice: pools first.
 *
 * In a cluster without pools the same search goes over the groups alone, and is held against the pass as it is: never fewer
 * pods, never dearer.
 *
 * Where pods must be spread, together or apart, each side knows of the other: groups see what the pools buy (bought.h), and
 * the pools' plan counts the pods of machines that are on their way to groups as its guests. */
#ifndef PLANNER_GROUPS_CHOICE_H
#define PLANNER_GROUPS_CHOICE_H

#include "planner/groups/beside.h"
#include "planner/groups/offers.h"

struct choice_ground {
    const struct world *pools;          /* of the pools' plan */
    const struct plan_options *options; /* of it, and of those that are tried */
    const struct world *groups;         /* has the templates, and all pods of `objects` */
    const struct group_model *model;
    const struct group_flags *flags;      /* as choice_flags has them */
    const struct group_objects *objects;  /* pods: all */
    bool at_once; /* no later plan follows that would know the groups' machines: if the pools can place more pods
                   * beside what the groups now ask for, they do */
    /* A world like `groups` of other objects: of those with what a plan buys (bought.h). To be freed. */
    struct world *(*world_of)(void *user, const struct group_objects *objects);
    /* A world like `pools` in which groups can be bought, too: of the same objects but for pools, catalogue and options,
     * which are the offers'. To be freed. */
    struct world *(*both_of)(void *user, const struct group_offers *offers);
    void *user;
};

/* Flags of a pass in which prices count, where some group has one: more than one group may grow in it, and unless another
 * expander than the default was asked for the cheapest a pod grows. Without pools those that come with another expander stay as
 * they are, as do all with --search greedy. */
struct group_flags choice_flags(const struct group_flags *f, const struct node_groups *file, bool beside_pools);

struct choice;
/* There may be one beside pools: who has neither prices nor preferences need not make the ground. */
bool choice_is_open(const struct node_groups *file, const struct plan *pools);
/* Whether a value of stowage.dev/prefer means anything. */
bool choice_knows(const struct group_model *m, struct span wish);
/* NULL: pools first. `pools` is their plan as it is with nobody put off, and stays. In `a`. */
const struct choice *choice_make(const struct choice_ground *g, const struct plan *pools, struct arena *a);

/* Whom the pass over the groups that follows is to have go where (group_objects). */
const struct group_wish *choice_wishes(const struct choice *c, size_t *count_out);

/* No choice: pods that have a place on a machine of a group that is on its way are the plan's guests, and stay there. In `a`. */
const struct choice *choice_of_guests(const struct guest *guests, uint32_t count, struct arena *a);
/* Whether a pod on such a machine has to be one: it matters to others where it is. `pools`: the world of their plan. */
bool choice_is_guest(const struct world *pools, const struct pod *p);

/* Options of the pools' plan by a choice: who asks the groups is put off. */
struct choice_options {
    struct plan_options plan;
    const struct choice *choice;
    const struct plan_options *of;
};
/* *out stays where it is as long as a plan is made with it. */
void choice_plan_options(const struct plan_options *o, const struct choice *c, struct choice_options *out);
/* Whether a pod of a plan has no place there because it asks the groups. */
bool choice_put_off(const struct plan_unschedulable *u);

#endif
