#include "reconciler/detach.h"

#include <stdlib.h>

#include "base/buf.h"
#include "reconciler/drain.h"

enum { NAMED_MAX = 5 };

static bool is_of(const struct snapshot *s, const struct pod *p, struct span volume)
{
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        const struct volume_claim *c =
            snapshot_find(s, KIND_VOLUME_CLAIM, p->meta.ns, p->volumes.items[i].claim);
        if (c != NULL && span_eq(c->volume, volume))
            return true;
    }
    return false;
}

static int by_name(const void *x, const void *y)
{
    const struct volume_attachment *const *a = x, *const *b = y;
    return span_cmp((*a)->meta.name, (*b)->meta.name);
}

struct attachments detach_pending(struct arena *a, const struct snapshot *s, sym node,
                                  const struct pod *const *pods, uint32_t pod_count, wall_ms now)
{
    struct attachments out = {NULL, 0};
    uint32_t capacity = 0;
    struct snapshot_iter it = snapshot_each(s, KIND_VOLUME_ATTACHMENT);
    for (const struct volume_attachment *x; (x = snapshot_next(&it)) != NULL;) {
        bool counts = x->node == node && node != SYM_NONE && x->volume.len != 0;
        for (uint32_t i = 0; counts && i < pod_count; i++)
            counts = drain_awaits(pods[i], now) || !is_of(s, pods[i], x->volume);
        if (counts)
            ARENA_PUSH(a, out.items, out.count, capacity, x);
    }
    if (out.count != 0)
        qsort(out.items, out.count, sizeof(*out.items), by_name);
    return out;
}

struct span detach_names(struct arena *a, const struct attachments *x)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < x->count && i < NAMED_MAX; i++)
        buf_addf(&b, "%s%.*s", i != 0 ? ", " : "", SPAN_ARG(x->items[i]->meta.name));
    if (x->count > NAMED_MAX)
        buf_addf(&b, " and %u other(s)", x->count - NAMED_MAX);
    struct span names = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return names;
}
