#include "planner/object_index.h"

static uint32_t first_slot(const struct object_index *x, struct span ns, struct span name)
{
    return (uint32_t)(span_hash(ns) * 31 + span_hash(name)) & x->mask;
}

/* Where the object is, or the free slot where it belongs. */
static uint32_t slot_of(const struct object_index *x, struct span ns, struct span name)
{
    uint32_t at = first_slot(x, ns, name);
    for (; x->slots[at] != 0; at = (at + 1) & x->mask) {
        const struct meta *m = x->items[x->slots[at] - 1];
        if (span_eq(m->name, name) && span_eq(m->ns, ns))
            break;
    }
    return at;
}

void object_index_init(struct object_index *x, struct arena *a, const void *const *items,
                       size_t count)
{
    *x = (struct object_index){.mask = 7, .count = (uint32_t)count};
    const void **copy = ARENA_ARRAY(a, const void *, count);
    if (count != 0)
        memcpy(copy, items, count * sizeof(*copy));
    x->items = copy;
    while (x->mask / 2 < count)
        x->mask = x->mask * 2 + 1;
    x->slots = ARENA_ARRAY(a, uint32_t, (size_t)x->mask + 1);
    for (uint32_t i = 0; i < x->count; i++) {
        const struct meta *m = items[i];
        uint32_t at = slot_of(x, m->ns, m->name);
        if (x->slots[at] == 0)
            x->slots[at] = i + 1;
    }
}

int32_t object_index_find(const struct object_index *x, struct span ns, struct span name)
{
    return (int32_t)x->slots[slot_of(x, ns, name)] - 1;
}
