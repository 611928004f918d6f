/* learned: what the nodes of each group are, kept for when it has none: one more of a group that has shrunk to nothing is
 * like those that it had, which its provider need not know (spec node-groups 2.4, 2.6).
 *
 * Of a group that has a good node, labels, taints, capacity and allocatable of that one are learned: not what is the one
 * node's own (its name, in whatever label; taints that pass). What was learned stands for the provider's template
 * (`learned` of kube/node_groups.h) as long as that is as it was then: whoever changes it means the next node.
 * As text it outlives the process. Pure but for its own memory, which the groups bound and LEARNED_MAX. */
#ifndef PLANNER_GROUPS_LEARNED_H
#define PLANNER_GROUPS_LEARNED_H

#include "planner/groups/model.h"

enum {
    LEARNED_GROUP_MAX = 16 * 1024, /* of a group, in bytes of text: a node with all labels that a cloud and feature
                                      discovery give it has a third of it. Of one that has more nothing is learned */
    LEARNED_MAX = 512 * 1024,      /* of all: half of what a ConfigMap may hold. Groups by name, until it is full */
};

struct learned;

struct learned *learned_new(void);
void learned_free(struct learned *l); /* NULL is fine */

/* Adds what learned_text wrote, of groups of which nothing is known; lines that are nothing of the kind are skipped later. */
void learned_read(struct learned *l, struct span text);
/* A line a group, by name, YAML and at most LEARNED_MAX. Equal where the same was learned. In `a`. */
struct span learned_text(const struct learned *l, struct arena *a);

/* Sets `learned` of the groups of a file, as their provider told it. In `a`. */
void learned_recall(const struct learned *l, struct node_groups *file, struct symtab *syms, struct arena *a);
/* From the groups of the model that have a good node. Groups that it does not have are forgotten. */
void learned_take(struct learned *l, const struct group_model *m, const struct symtab *syms);

#endif
