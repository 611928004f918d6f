/* places: where pods that are not bound yet are meant to go, virtual ones excepted: nothing is held for
 * them. Published beside the snapshot; holds no pointer into it, so it pins nothing.
 *
 * Rebuilt by one pure function from what is in the API when a new leader starts: NodeClaims carry
 * stowage.dev/planned (which pod shapes, how many). */
#ifndef PLANNER_PLACES_H
#define PLANNER_PLACES_H

#include "base/share.h"
#include "planner/part.h"
#include "planner/world.h"

struct place {
    struct span uid, ns, pod;   /* of the Pod */
    struct span target;         /* Node name, or NodeClaim name while the Node is not there */
    bool on_claim;              /* target names a NodeClaim */
    struct span group;          /* of a machine of this node group that has not registered: target says which. Absent: none */
    bool sent;                  /* the scheduler was told to bind it there: of places_with only */
    wall_ms since;              /* planned at */
};

struct places {
    struct shared shared;
    struct part *texts;         /* of the items; leans on those of the places that these came from */
    uint32_t layers;            /* how many of them */
    uint64_t snapshot;          /* sequence of the snapshot planned on */
    wall_ms made;
    const struct place *items;  /* sorted by uid; malloc'ed */
    uint32_t count;
    uint32_t again;             /* the first so many are, sorted, of those before: places_again */
    bool any_sent;
};

struct place_sight { /* a place as a world sees it */
    uint64_t id;           /* span_hash of the pod's uid */
    const struct pod *pod; /* NULL: the world has no such pod that waits */
    int32_t class_id;      /* of the pod; -1: likewise */
    int32_t row;           /* of the target; -1: not in sight */
};

enum { SENT_BASE = 4 }; /* CPU, memory, ephemeral storage, pods: columns 0 to 3 of any world */

/* What the scheduler was told a moment ago, and no snapshot shows yet: the pod may go to this Node, and
 * nowhere else; or, `several`, to others as well; or, `refused`, the pod's planned Node was turned down by a
 * filter of its own. */
struct sent_pod {
    struct span uid, ns, name;
    uint64_t node;       /* span_hash of the Node's name; of several the likeliest, 0: nobody knows */
    const uint64_t *told; /* the names of several; none when they are too many */
    uint32_t told_count;
    amount base[SENT_BASE]; /* what it asks for, while no snapshot tells */
    uint64_t seen;       /* sequence of a snapshot that had the pod; 0: none had */
    int32_t priority;
    struct span instead; /* uid of the equal pod whose place there it took */
    struct span published; /* of the one for which that was published; absent: it has its own */
    bool inherits; /* that pod had to leave its node, and has no use for the place itself */
    bool several, refused;
    bool daemon;  /* of a DaemonSet */
    bool volumes; /* are bound first, which takes as long as it takes */
};

/* Places for at most so many pods are made one by one; those for virtual pods are none. `target` lives in p's texts. In
 * the end, a place that its pod had in `previous` (NULL: nobody had) is as old as that. */
struct places *places_begin(uint32_t room, wall_ms now);
void places_add(struct places *p, const struct pod *pod, struct span target, bool on_claim);
void places_end(struct places *p, const struct places *previous);
/* One on a Node by its name, or, with `group`, on a machine of it. Texts are copied. */
void places_add_named(struct places *p, const struct pod *pod, struct span target, struct span group);
/* The same, and it begins with those in `previous`, without those of the pods in `gone`. */
struct places *places_again(const struct places *previous, const struct pod *const *gone, uint32_t gone_count,
                            uint32_t room, wall_ms now);
/* The target of a row: its Node, or its NodeClaim while there is none. */
struct span places_target(struct places *p, const struct world_node *n, bool *on_claim);
/* A copy without those whose flag is set. */
struct places *places_without(const struct places *p, const bool *dropped);
/* A copy in which the place at i is on the Node nodes[i], where that is not absent. */
struct places *places_registered(const struct places *p, const struct span *nodes);
/* What a plan begins with: as `p` (NULL: none), but a pod that was sent somewhere has its place there, and one that
 * may go to several Nodes (arrivals.h) or was refused where it has its place has none. Pods and Nodes that the
 * world does not have are passed over. Borrows texts from `p`. */
struct places *places_with(const struct places *p, const struct sent_pod *sent, uint32_t count,
                           const struct world *w);
/* Equal pods of a workload trade places: who was sent to the place of another gets it, and whoever has it by
 * then gets what he had. Who inherits has the place of a pod that had to go. NULL: nobody has. */
struct places *places_traded(const struct places *p, const struct sent_pod *sent, uint32_t count,
                             const struct world *w);
const struct place *places_find(const struct places *p, struct span uid); /* or NULL */
int32_t place_row(const struct world *w, const struct place *x); /* -1: its target is not in sight */
/* Whether the scheduler could put the pod on its Node at `row` as far as the Node goes: one without a NodeClaim has to be
 * ready and without a taint against the pod. */
bool place_is_open(const struct world *w, int32_t row, const struct pod *pod);
/* Of each item. */
const struct place_sight *places_sights(struct arena *a, const struct world *w,
                                        const struct places *p);
void places_destroy(struct shared *places); /* for share_init */

/* The value of stowage.dev/planned for a claim with these pods: pod shapes and counts, e.g.
 * "3x1f2e…,1x77ab…,12x*" with a shape's stable hash (equal in every process). Fits an annotation: at
 * most 64 shapes named, the rest summed. */
struct span places_planned_text(struct arena *a, const struct world *w,
                                const struct pod *const *pods, uint32_t count);
/* Places of unbound pods on claims that carry the annotation, each pod at most once, oldest claim
 * first; then of those that wait with a nomination of our own, on its node. */
struct places *places_rebuild(const struct world *w, wall_ms now);
uint64_t pod_shape_hash(const struct pod *p, const struct symtab *syms);

#endif
