/* litter: blocks of memory that are of no more use, but that older snapshots can still see.
 *
 * Snapshots die in any order, so a block goes when its last sequence is older than that of the oldest alive. */
#ifndef KUBE_LITTER_H
#define KUBE_LITTER_H

#include <stddef.h>
#include <stdint.h>

struct litter_item {
    void *block; /* of malloc */
    uint64_t last; /* sequence that can still see it */
};

struct litter { /* zero: none */
    uint64_t sequence; /* of the last snapshot */
    struct litter_item *items; /* a queue by sequence */
    size_t at, count, capacity;
};

/* `born`: the first sequence that could see the block; what nobody has seen is freed at once. */
void litter_drop(struct litter *l, void *block, uint64_t born);
/* Frees what nobody from `oldest` on can see. */
void litter_collect(struct litter *l, uint64_t oldest);
void litter_release(struct litter *l); /* collected before, to the end */

#endif
