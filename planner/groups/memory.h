/* memory: what a controller of node groups remembers from one pass to the next (spec node-groups 3.1, 3.12, 4.1, 4.6):
 * scale-up requests, back-off, sizes that do not fit, since when machines have not registered and nodes were unneeded.
 * Nothing in it is what the cluster or the cloud says.
 *
 * A pass reads it from the file of groups, where `group_memory_recall` puts it, and `group_memory_learn` takes over what
 * the pass found. What was done since (a group grew, a call failed, a removal began and ended) is told by the notes; they
 * may come while a pass is decided: what it learned is then taken from what is remembered by that time.
 * Pure but for its own memory, which the number of groups, their machines and the cluster's nodes bound, and what was
 * noted since the last pass: who is not in the file or the cluster any more is forgotten. */
#ifndef PLANNER_GROUPS_MEMORY_H
#define PLANNER_GROUPS_MEMORY_H

#include "planner/groups/pass.h"

struct group_memory;

/* A removal is undone when its group grows for pods within the hour. From then on the group's nodes go once they have been
 * unneeded for twice as long as would have spared it, at most for three hours: who came back in so short a time comes again,
 * and by then a node that waits costs more than its removals do. Forgotten when it next grows later than that after a
 * removal, and at a restart. Not with --search greedy. */
enum { GROUP_UNDONE_MS = 60 * 60 * 1000, GROUP_HOLD_MAX_MS = 3 * 60 * 60 * 1000 };

/* As the status has a back-off's message; longer ones end in "<truncated>". */
enum { GROUP_MESSAGE_MAX = 500 };

/* `started`: of the process; times that are not known are an hour before. */
struct group_memory *group_memory_new(wall_ms started);
void group_memory_free(struct group_memory *m); /* NULL is fine */

/* Puts all that is remembered into the file as its provider told it: requests, back-off, mismatches, errors known,
 * unregisteredSince, times, and `state` without deletions; of nodes what concerns those that there are, since a file may
 * not speak of others. The shortest time between passes counts the pass to come, at `now`. In `a`; texts live until the
 * memory next learns. */
void group_memory_recall(const struct group_memory *m, struct node_groups *file, const struct group_objects *objects,
                         wall_ms now, struct arena *a);
/* What the pass at `now` found, over a file that was recalled: see above. Not what it decided to do: that is told by the
 * notes when it was accepted or refused. */
void group_memory_learn(struct group_memory *m, const struct group_pass *p, const struct group_flags *flags, wall_ms now);

/* The group was asked for `delta` more, and the provider took it. */
void group_memory_grew(struct group_memory *m, struct span group, int32_t delta, wall_ms now);
/* It failed to grow: it is backed off (3.12: 5 minutes, doubled when a failure comes after the last back-off ended, at
 * most 30 minutes, forgotten 3 hours after the last failure). `code` and `message` go into the status. */
void group_memory_failed(struct group_memory *m, const struct group_flags *flags, struct span group, struct span code,
                         struct span message, wall_ms now);
/* The pass at `now` began to remove nodes, or could not so much as begin (4.8: the taints were not set): each has its
 * cool-down, for the whole cluster. */
void group_memory_removals_began(struct group_memory *m, wall_ms now);
void group_memory_removals_failed(struct group_memory *m, wall_ms now);
/* The provider took the removal of a node of the group, or refused it: for --scale-down-delay-type-local, whose
 * cool-downs are the group's. A drain that came to nothing is none of both (4.8). */
void group_memory_removal_ended(struct group_memory *m, struct span group, bool well, wall_ms now);
/* From a soft taint of before the restart: unneeded since then (--node-deletion-candidate-ttl). */
void group_memory_unneeded(struct group_memory *m, struct span node, wall_ms since);
/* The view was partial from `from` until `until`: no node was seen to be unneeded in that time. */
void group_memory_hold(struct group_memory *m, wall_ms from, wall_ms until);

/* Until when the group is backed off at `now`, and why; 0: it is not. The spans live until the memory next learns. */
wall_ms group_memory_backoff(const struct group_memory *m, struct span group, wall_ms now, struct span *code,
                             struct span *message);

#endif
