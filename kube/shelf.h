/* shelf: objects of one kind by namespace and name: a directory of chunks of pointers, which
 * snapshots copy.
 *
 * A chunk that no snapshot has seen yet is changed in place; one that was published is copied first,
 * and the old one is litter. One thread changes; whoever has a snapshot reads its chunks, which never
 * change. */
#ifndef KUBE_SHELF_H
#define KUBE_SHELF_H

#include "kube/commons.h"
#include "kube/meta.h"

struct shelf_head { /* before every object; all but born is the writer's own */
    _Alignas(max_align_t) uint64_t born; /* first sequence that can see it */
    uint64_t version; /* the newest seen; that in the object may be older, of the same content */
    uint64_t digest;  /* of the content but for the version */
    uint32_t list;    /* the LIST that saw it last */
    uint32_t common;  /* what it shares (commons.h); 0: nothing */
};

struct shelf_item {
    uint64_t hash; /* in a chunk, items stand by it: equal content has one order, whatever its history */
    const void *object;
};

struct store_chunk {
    uint64_t born;
    uint32_t count, capacity;
    struct shelf_item items[];
};

struct shelf {
    struct litter *litter;
    struct commons commons; /* of the objects that stand there */
    struct store_chunk **chunks;
    uint32_t bits; /* 1 << bits chunks, by the top bits of the hash */
    uint32_t count;
};

void shelf_init(struct shelf *k, struct litter *litter);
void shelf_release(struct shelf *k); /* frees the objects, too */

/* A copy of an object, for shelf_put: as of schema_pack_apart, behind its head. */
void *shelf_pack(struct shelf *k, const struct schema *schema, const void *object, const struct symtab *from,
                 struct symtab *to, struct shelf_head head);
void shelf_put(struct shelf *k, const void *object); /* taken, head and all; instead of what had its name */
bool shelf_remove(struct shelf *k, struct span ns, struct span name); /* false: it was not there */
uint32_t shelf_sweep(struct shelf *k, uint32_t list); /* removes those that this LIST has not seen; how many */
/* The chunk, ours to change in place. */
struct store_chunk *shelf_own(struct shelf *k, uint32_t chunk);
void shelf_discard(struct shelf *k, const void *object); /* that stands there no more */

/* In these chunks, of a shelf or of a snapshot; NULL: it is not there. */
const void *shelf_find(struct store_chunk *const *chunks, uint32_t bits, struct span ns, struct span name);
struct shelf_head *shelf_head(const void *object);

#endif
