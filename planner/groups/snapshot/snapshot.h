/* snapshot: the cluster as a pass simulates it: what kube-scheduler's filters would say of a pod and a node, while nodes
 * are added and removed and pods are moved; and all of it taken back.
 *
 * Over a world that does not change, with numbers of its own: the scheduler counts nodes that exist, the world also what
 * could be bought. A *node* is a row of the world (the same number; it stands once it was added), or, from the number of
 * rows on, a copy of one: same labels, taints, room and pods, but a name (and hostname) of its own. Nodes are listed in
 * the order in which they were added.
 *
 * Pods are of classes of the world; pods of a class are alike to every filter. Filters are those of kube-scheduler by
 * default, PreFilter included: what is only preferred counts for nothing. */
#ifndef PLANNER_GROUPS_SNAPSHOT_H
#define PLANNER_GROUPS_SNAPSHOT_H

#include "planner/world.h"

struct snapshot;

#define SNAPSHOT_NONE UINT32_MAX

/* The class of a pod that has no node. The world has to have one for those that it does not plan
 * (world_options.unbound_classes). */
uint32_t snapshot_class_of(const struct world *w, const struct pod *p);

/* No node stands. Bound pods with a priority below the cutoff are left out of it: their room is free. */
struct snapshot *snapshot_create(struct arena *a, const struct world *w, int32_t expendable_cutoff);

/* Forks nest. Revert undoes everything since the last one, commit keeps it. */
void snapshot_fork(struct snapshot *s);
void snapshot_revert(struct snapshot *s);
void snapshot_commit(struct snapshot *s);

/* A row with the pods that are bound to it. Once only. */
void snapshot_add_row(struct snapshot *s, uint32_t row);
/* A copy of the row, which need not stand. Its number is used again once its adding is reverted. */
uint32_t snapshot_add_copy(struct snapshot *s, uint32_t row);
/* With the pods that are on it. */
void snapshot_remove(struct snapshot *s, uint32_t node);
/* It stays where its pods count, at the end of the list, tainted ToBeDeletedByClusterAutoscaler:NoSchedule. */
void snapshot_ghost(struct snapshot *s, uint32_t node);

uint32_t snapshot_node_limit(const struct snapshot *s); /* all numbers are below */
bool snapshot_stands(const struct snapshot *s, uint32_t node);
uint32_t snapshot_count(const struct snapshot *s); /* of nodes that stand */
const uint32_t *snapshot_list(const struct snapshot *s); /* these; until one is added or removed */
uint32_t snapshot_row(const struct snapshot *s, uint32_t node); /* that it is, or is a copy of */
/* What is on it now; until a pod comes or goes. */
const struct pod *const *snapshot_pods(const struct snapshot *s, uint32_t node, uint32_t *count_out);
const uint32_t *snapshot_pod_classes(const struct snapshot *s, uint32_t node);

/* A pod comes, whatever the filters say; a pod that is on the node goes. */
void snapshot_place(struct snapshot *s, uint32_t node, const struct pod *p, uint32_t class_id);
void snapshot_unplace(struct snapshot *s, uint32_t node, const struct pod *p);

bool snapshot_fits(struct snapshot *s, uint32_t node, uint32_t class_id);
/* Whether spreading is what keeps pods of the class off: the node has the labels for it. */
bool snapshot_spread_refuses(struct snapshot *s, uint32_t node, uint32_t class_id);
/* Why not, in the scheduler's words: "Insufficient cpu". None: it fits, or PreFilter left the node out. */
struct spans snapshot_refusal(struct snapshot *s, struct arena *a, uint32_t node, uint32_t class_id);

/* Who is asked: nodes from a number on, of a set (bits by number, of snapshot_node_limit; NULL: all), but for one. */
struct snapshot_among {
    const uint64_t *set;
    uint32_t from, but; /* but: SNAPSHOT_NONE: none */
};
/* The first node in the list that the pod fits, from behind the one that was found last, cordoned ones passed over; the
 * pod is placed there. SNAPSHOT_NONE: there is none. */
uint32_t snapshot_seat(struct snapshot *s, const struct pod *p, uint32_t class_id, const struct snapshot_among *among);

#endif
