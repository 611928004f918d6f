/* removal: one node of a group on its way out, from its mark to its machine's end (spec node-groups 4.8, 4.9). For
 * reconciler/groups only. */
#ifndef RECONCILER_GROUPS_REMOVAL_H
#define RECONCILER_GROUPS_REMOVAL_H

#include "planner/groups/pass.h"

struct keeper;
struct pass;
struct node_view;

/* The pass has found that these may go: they are marked, and then go on by themselves. */
void removals_begin(struct pass *p, const struct group_pass *decided);
/* Each goes one step on where it can. In every pass of the reconciler. */
void removals_run(struct pass *p);
/* Nodes of which the removal is under way, into `deletions`. */
void removals_recall(struct pass *p, struct group_state *out);
bool removal_is_under_way(const struct keeper *k, struct span node_uid);
void removals_forget(struct keeper *k);

#endif
