/* object_index: objects of one kind by namespace and name. Of objects with one name the first counts.
 *
 * Made when first asked: of a hundred thousand volumes a pass may need none. */
#ifndef PLANNER_PODS_OBJECT_INDEX_H
#define PLANNER_PODS_OBJECT_INDEX_H

#include "kube/meta.h"

struct object_slot {
    uint32_t tag;  /* upper half of the hash */
    uint32_t item; /* plus one; 0: free */
};

struct object_index {
    struct arena *arena;
    const void *const *items; /* copied: the caller's list may go; each begins with a struct meta */
    struct object_slot *slots; /* NULL: not made yet; at most half full */
    uint32_t mask, count;
};

void object_index_init(struct object_index *x, struct arena *a, const void *const *items,
                       size_t count);
/* Which item; -1: none. `ns` is empty for cluster-scoped kinds. */
int32_t object_index_find(struct object_index *x, struct span ns, struct span name);
/* The same without writing, for those who share it: -1 also when nobody has asked yet. */
int32_t object_index_look(const struct object_index *x, struct span ns, struct span name);

static inline const void *object_index_at(const struct object_index *x, int32_t at)
{
    return at < 0 ? NULL : x->items[at];
}

#endif
