/* commons: what many objects of a kind say alike, once: labels, owners, requests, tolerations of pods that one template
 * makes. Blocks by the digest of their content; each knows how many objects that are not gone have it.
 *
 * The writer's own. A block that nobody has any more goes when no snapshot can see it (litter.h). */
#ifndef KUBE_COMMONS_H
#define KUBE_COMMONS_H

#include <stdbool.h>

#include "kube/litter.h"

struct common;

struct commons { /* zero: none */
    struct common **items; /* by number - 1; NULL: free */
    uint32_t item_count, item_capacity, free_from; /* below it no number is free */
    uint32_t *slots; /* by digest: number of the first; chained */
    uint32_t slot_count, count;
};

/* The content of this digest and size, once more; its number, which is never 0, is for commons_leave. */
void *commons_join(struct commons *c, uint64_t digest, size_t size, uint64_t born, uint32_t *number_out,
                   bool *fresh_out);
void commons_leave(struct commons *c, uint32_t number, struct litter *litter);
void commons_release(struct commons *c);

#endif
