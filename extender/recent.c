#include "extender/recent.h"

void recent_add(struct recent *r, struct span uid, struct span node, mono_ms now)
{
    struct recent_item *i = &r->items[r->next];
    if (uid.len == 0 || uid.len >= sizeof(i->uid) || node.len >= sizeof(i->node))
        return;
    r->next = (r->next + 1) % RECENT_MAX;
    r->used += r->used < RECENT_MAX;
    memcpy(i->uid, uid.ptr, uid.len);
    i->uid[uid.len] = '\0';
    memcpy(i->node, node.ptr, node.len);
    i->node[node.len] = '\0';
    i->until = now + RECENT_MS;
}

/* The k-th of those used, the oldest first. */
static uint32_t slot(const struct recent *r, uint32_t k)
{
    return (r->next + RECENT_MAX - r->used + k) % RECENT_MAX;
}

void recent_forget(struct recent *r, struct span uid, mono_ms now)
{
    for (uint32_t k = 0; k < r->used; k++) {
        struct recent_item *i = &r->items[slot(r, k)];
        if (span_eq(span_of(i->uid), uid))
            i->uid[0] = '\0';
    }
    while (r->used != 0 && r->items[slot(r, 0)].until <= now)
        r->used--;
}

void recent_hold(const struct recent *r, struct arena *a, struct held *h, const struct world *w,
                 struct span except, mono_ms now)
{
    for (uint32_t k = 0; k < r->used; k++) {
        const struct recent_item *i = &r->items[slot(r, k)];
        if (i->uid[0] == '\0' || i->until <= now || span_eq(span_of(i->uid), except))
            continue;
        int32_t row = world_find_node(w, span_of(i->node));
        if (row >= 0)
            held_add(a, h, w, (uint32_t)row, span_of(i->uid));
    }
}
