/* pairs: numbers by (group, target), most of which are zero. Memory goes by how many were not at one time. */
#ifndef PLANNER_PAIRS_H
#define PLANNER_PAIRS_H

#include "base/arena.h"

struct pair_slot {
    uint64_t key; /* group and target, + 1; 0: free */
    int32_t number;
};

struct pairs {
    struct arena *arena;
    struct pair_slot *slots, *spare; /* of as many; NULL: none yet */
    uint32_t mask, used;
};

void pairs_init(struct pairs *p, struct arena *a);
void pairs_copy(struct pairs *p, struct arena *a); /* goes on in another arena */
/* The same, target by target: `to` is the new one, + 1, of each that has a number. */
void pairs_renumber(struct pairs *p, struct arena *a, const uint32_t *to);
int32_t pairs_get(const struct pairs *p, uint32_t group, uint32_t target);
void pairs_add(struct pairs *p, uint32_t group, uint32_t target, int32_t by);

#endif
