/* marks: the taints by which Cluster Autoscaler says what becomes of a node (spec node-groups 4.8, 4.10): the hard one of a
 * node that goes, and the soft one of a node that nobody needs. For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_MARKS_H
#define RECONCILER_GROUPS_MARKS_H

#include "planner/groups/pass.h"

struct memos;
struct pass;
struct node_view;

bool mark_is_hard(const struct node_view *n);
/* Writes the hard taint, its value being now, and cordons where the settings say so; or takes both off (`cordoned`: the
 * node was so before). The Node's gate must be open (act_may). */
void mark_hard(struct pass *p, const struct node_view *n);
void unmark_hard(struct pass *p, const struct node_view *n, bool cordoned);
/* Soft taints follow what the pass found unneeded, so many at a time. */
void marks_follow(struct pass *p, const struct group_pass *decided);
/* Marks of another time, those that the first pass finds, are taken off, or, where they are young enough, remembered; in each
 * pass until they are. */
void marks_clean(struct pass *p, const struct group_model *m);

void marks_stale_init(struct memos *stale); /* keeper.stale; released by memos_release */

#endif
