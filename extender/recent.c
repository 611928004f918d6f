#include "extender/recent.h"

void recent_add(struct recent *r, struct span uid, struct span node, mono_ms now)
{
    struct recent_item *i = &r->items[r->next];
    if (uid.len == 0 || uid.len >= sizeof(i->uid) || node.len >= sizeof(i->node))
        return;
    r->next = (r->next + 1) % RECENT_MAX;
    memcpy(i->uid, uid.ptr, uid.len);
    i->uid[uid.len] = '\0';
    memcpy(i->node, node.ptr, node.len);
    i->node[node.len] = '\0';
    i->until = now + RECENT_MS;
}

void recent_forget(struct recent *r, struct span uid)
{
    for (uint32_t k = 0; k < RECENT_MAX; k++)
        if (r->items[k].uid[0] != '\0' && span_eq(span_of(r->items[k].uid), uid))
            r->items[k].uid[0] = '\0';
}

void recent_hold(const struct recent *r, struct arena *a, struct held *h, const struct world *w,
                 struct span except, mono_ms now)
{
    for (uint32_t k = 0; k < RECENT_MAX; k++) {
        const struct recent_item *i = &r->items[k];
        if (i->uid[0] == '\0' || i->until <= now || span_eq(span_of(i->uid), except))
            continue;
        int32_t row = world_find_node(w, span_of(i->node));
        if (row >= 0)
            held_add(a, h, w, (uint32_t)row, span_of(i->uid));
    }
}
