#include "kube/litter.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void litter_drop(struct litter *l, void *block, uint64_t born)
{
    if (born > l->sequence) { /* nobody has seen it */
        free(block);
        return;
    }
    if (l->count == l->capacity) {
        if (l->at > l->count / 2) {
            l->count -= l->at;
            memmove(l->items, l->items + l->at, l->count * sizeof(l->items[0]));
            l->at = 0;
        } else {
            l->capacity = l->capacity != 0 ? l->capacity * 2 : 64;
            l->items = mem_grow(l->items, l->capacity, sizeof(l->items[0]));
        }
    }
    l->items[l->count++] = (struct litter_item){block, l->sequence};
}

void litter_collect(struct litter *l, uint64_t oldest)
{
    while (l->at < l->count && l->items[l->at].last < oldest)
        free(l->items[l->at++].block);
}

void litter_release(struct litter *l)
{
    free(l->items);
    *l = (struct litter){0};
}
