/* template: what one more node of each group would be (spec node-groups 2.4). */
#ifndef PLANNER_GROUPS_TEMPLATE_H
#define PLANNER_GROUPS_TEMPLATE_H

#include "planner/groups/model.h"

/* Fills in `template` of every group: from a good node of its; where it has none at all, from what was
 * learned of those that it had; else from the file's template, else from any node. */
void group_templates(struct group_model *m, const struct group_flags *flags, const struct group_objects *objects,
                     wall_ms now, struct arena *a);
/* Whether a world has the same node by both. */
bool group_node_same(const struct node *x, const struct node *y);
/* Whether a world has the same node and pods by both, made of the same Nodes, pods and DaemonSets, though at other times. */
bool group_template_same(const struct group_template *x, const struct group_template *y);
/* Both are of the very same Node, pods and DaemonSets; where a file or memory says what it is like, of the same of those
 * that there are. */
bool group_template_of_same(const struct group_template *x, const struct group_template *y);

#endif
