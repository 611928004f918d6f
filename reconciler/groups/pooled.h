/* pooled: what a pass over the groups sees otherwise than it is, since NodePools have their say, too: pods that wait for a
 * plan of theirs do not ask groups, those with a place on a Node have its room, and those for which a machine is bought stand
 * on it where that matters (planner/groups/bought.h). For the reconciler only.
 *
 * Memory: the pods that wait; and copies of those whose place is on a Node, or on a machine that matters. The pods that it
 * means are those of the snapshot. */
#ifndef RECONCILER_GROUPS_POOLED_H
#define RECONCILER_GROUPS_POOLED_H

#include "base/arena.h"
#include "planner/groups/bought.h"

struct pass;

struct pooled_pod {
    const struct pod *pod;
    const struct pod *as; /* a copy, in the arena; NULL: it is not seen */
    bool met;             /* scratch of who compares two */
};

struct pooled {
    struct arena arena;
    struct pooled_pod *pods; /* that are seen otherwise, in the order of the snapshot */
    uint32_t *by_address;    /* the same */
    uint32_t count, capacity;
    struct group_bought bought;
};

/* There are NodePools of a provider of ours. */
bool pass_has_pools(const struct pass *p);

struct pooled *pooled_new(const struct pass *p); /* NULL: there are no pools */
void pooled_free(struct pooled *x);              /* NULL is fine */

/* The same is seen of the very same pods. Either may be NULL. */
bool pooled_same(const struct pooled *x, const struct pooled *y);
struct pooled_pod *pooled_find(const struct pooled *x, const struct pod *pod); /* NULL: it is seen as it is */
/* All pods of the snapshot, in its order, become those that are seen. Returns how many. */
size_t pooled_see(const struct pooled *x, const struct pod **pods, size_t count);

#endif
