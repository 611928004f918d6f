#include "reconciler/termination/detach.h"

#include "base/buf.h"
#include "reconciler/termination/drain.h"

enum { NAMED_MAX = 5 };

static bool is_of(const struct detach_node *n, const struct pod *p, struct span volume)
{
    for (uint32_t i = 0; i < p->volumes.count; i++) {
        const struct volume_claim *c = n->claim(n->from, p->meta.ns, p->volumes.items[i].claim);
        if (c != NULL && span_eq(c->volume, volume))
            return true;
    }
    return false;
}

static bool is_awaited(const struct detach_node *n, const struct volume_attachment *x)
{
    bool counts = x->node == n->name && n->name != SYM_NONE && x->volume.len != 0;
    for (uint32_t i = 0; counts && i < n->pod_count; i++)
        counts = drain_awaits(n->pods[i], n->now) || !is_of(n, n->pods[i], x->volume);
    return counts;
}

void detach_look(struct arena *a, struct attachments *x, const struct detach_node *n,
                 const struct volume_attachment *attachment)
{
    if (!is_awaited(n, attachment))
        return;
    ARENA_PUSH(a, x->items, x->count, x->capacity, attachment);
    for (uint32_t i = x->count - 1;
         i > 0 && span_cmp(x->items[i - 1]->meta.name, attachment->meta.name) > 0; i--) {
        x->items[i] = x->items[i - 1];
        x->items[i - 1] = attachment;
    }
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

struct span detach_sentence(struct arena *a, const struct attachments *x)
{
    if (x->count == 0)
        return (struct span){0};
    struct span names = detach_names(a, x);
    return arena_printf(a, "%u volume%s still attached (VolumeAttachment %.*s)", x->count,
                        x->count == 1 ? " is" : "s are", SPAN_ARG(names));
}
