/* floor: what the pods of nodes that go cost anywhere, at least. For this folder only.
 *
 * Of pods that are no smaller than some size, in CPU and in memory, the nodes that stay hold no more than so many, and no
 * more than what is free on those that have room for one. The rest stands on machines that are bought, and of no type is
 * the room for such pods cheaper than of the cheapest. Labels, taints, spreads and whatever else may keep a pod off a node
 * or a type only make it dearer. So no plan for these nodes costs less than their floor, be it greedy's or a cheaper one,
 * and who needs one that does need not ask for any.
 *
 * Memory: by candidate and size some words; of sizes there are at most FLOOR_SIZES. */
#ifndef PLANNER_DISRUPTION_FLOOR_H
#define PLANNER_DISRUPTION_FLOOR_H

#include "planner/disruption/methods.h"

enum { FLOOR_SIZES = 48 };

struct floor_share { /* of one node, by size */
    double cpu, memory;           /* of its pods that are as large */
    double free_cpu, free_memory; /* of what it leaves to others, if one has room */
    uint32_t pods, holds;
};

struct floor_market { /* for pods of a size: of the types that hold one, the least in an hour, and the most */
    double per_pod, per_cpu, per_memory, least;
    double pods, cpu, memory;
};

struct floor {
    uint32_t sizes;
    const struct floor_share *all; /* by size: what is free on all nodes; no pods */
    const struct floor_share *of;  /* by candidate and size */
    const struct floor_market *markets, *no_spot; /* of all that is sold, and of what is not spot */
};

/* In `a`. Of these candidates, whose pods the simulator knows. */
struct floor floor_make(struct arena *a, const struct world *w, struct simulator *s, struct candidates c);
struct least {
    double price; /* an hour; INFINITY: some of them have no place anywhere */
    double claims;
};
/* `has`, by candidate: those that go together; `no_spot`: and nothing that is spot may be bought for them. */
struct least floor_of(const struct floor *f, const uint8_t *has, uint32_t count, bool no_spot);

#endif
