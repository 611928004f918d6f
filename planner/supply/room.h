/* room: which types have how much, a column at a time, so that "which of these types hold that" is an
 * intersection of a few sets, however many types there are. Of a type with several allocatables the
 * greatest counts. */
#ifndef PLANNER_SUPPLY_ROOM_H
#define PLANNER_SUPPLY_ROOM_H

#include "base/arena.h"
#include "kube/meta.h"
#include "planner/bits.h"

struct room_column {
    amount *values; /* distinct, greatest first */
    uint64_t *sets; /* a set of types a value: those that have as much or more */
    uint32_t count;
};

/* `types` are the members that count; their room is at room[first_group[type]] and on, up to the next
 * type's, in rows of `columns`. One struct room_column a column. */
struct room_column *room_build(struct arena *a, const uint64_t *types, uint32_t words,
                               const uint32_t *first_group, const amount *room, uint32_t columns);

/* Drops from `set` what has less than `requests`. */
void room_keep(const struct room_column *c, uint32_t columns, uint32_t words,
               const amount *requests, uint64_t *set);
/* Drops from `set` what has more than `most`. */
void room_drop(const struct room_column *c, uint32_t words, amount most, uint64_t *set);
/* The place in `values` of the greatest that a member of the set has; count when it is empty. */
uint32_t room_greatest(const struct room_column *c, uint32_t words, const uint64_t *set);

#endif
