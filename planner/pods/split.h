/* split: which pods of a workload go to spot capacity, and which to on-demand.
 *
 * Annotations of a pod, which it has from its workload's template: stowage.dev/on-demand-base N (absent:
 * 0) and stowage.dev/spot-percent P (absent: 100). Of an owner's n pods min(n, N) are on-demand; of the
 * rest floor(rest * P / 100) are spot, the others on-demand. The owner is the pod's controller, for a
 * ReplicaSet the one that controls it, so that the pods of a Deployment count together whatever template
 * they come from; a pod without a controller is its own. The annotations of the owner's newest pod hold.
 *
 * Pods that stand on a node count as what its label karpenter.sh/capacity-type says; everything but spot,
 * no label included, is on-demand. Pods that are over or being deleted do not count. Those still to be
 * placed, pods of leaving nodes among them, are given sides so that the sums come out as the formula has
 * them, or as near as they can. Whose own node selector or affinity leaves one side only keeps to that and
 * counts as that.
 *
 * Pure. Built while the world is built, once its rows are there; of a cluster in which nobody asks for a
 * split it costs a look at each pod's annotations. */
#ifndef PLANNER_PODS_SPLIT_H
#define PLANNER_PODS_SPLIT_H

#include "planner/intern.h"
#include "planner/world.h"

struct split_owner {
    struct span kind, ns, name;
    bool has_base, has_percent;
    uint32_t base, percent;
    uint32_t first;      /* of its seats */
    uint32_t pods, spot; /* how many there are, how many of them ought to be on spot */
    uint32_t over;       /* how many there are too many on one side when all have found their place */
    enum split_side scarce; /* the other; of no account without some over */
    bool active;         /* the newest pod asks for a split, and its annotations can be read */
};

struct split_seat { /* a pod that counts */
    const struct pod *pod;
    uint32_t owner;
    enum split_side side; /* where it stands, or is to go */
    enum split_side asks; /* what it is planned with: while it stands, what comes in its place */
    bool free;            /* still to be placed, and both sides would do */
    uint64_t review;      /* span_hash of the review that gave it its side; 0: none did */
};

struct split {
    struct split_owner *owners;
    uint32_t owner_count; /* 0: nobody asks */
    struct split_seat *seats; /* by owner, then age */
    uint32_t seat_count;
    uint32_t *slots; /* seats + 1 by the hash of the pod's name; at most half full */
    uint32_t *by_review; /* the same by the hash of the review that gave the pod its side (kube/shaped_by.h), of those that bear one */
    uint32_t mask; /* of both */
    const struct span *warnings; /* annotations that cannot be read: a sentence with its fix; sorted */
    uint32_t warning_count;
};

void split_build(struct split *s, struct world *w, const struct world_input *in);

/* The pod's seat; NULL: nobody splits it. */
const struct split_seat *split_look_up(const struct split *s, const struct pod *p);
static inline const struct split_seat *split_find(const struct split *s, const struct pod *p)
{
    return s->owner_count == 0 ? NULL : split_look_up(s, p);
}

/* The pod may change sides, its own or others', by coming or going: it asks for a split, or is in a namespace
 * where somebody does. */
bool split_concerns(const struct split *s, const struct pod *p);

/* "its Deployment web wants 4 of 10 pods on spot (stowage.dev/on-demand-base: 2,
 * stowage.dev/spot-percent: 50)" */
struct span split_text(struct arena *a, const struct split_owner *o);

#endif
