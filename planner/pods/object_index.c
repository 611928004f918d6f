#include "planner/pods/object_index.h"

/* The slot of the object, or the free one where it belongs. */
static struct object_slot *slot_of(const struct object_index *x, struct span ns, struct span name,
                                   uint64_t hash)
{
    uint32_t at = (uint32_t)hash & x->mask;
    for (; x->slots[at].item != 0; at = (at + 1) & x->mask) {
        if (x->slots[at].tag != (uint32_t)(hash >> 32))
            continue;
        const struct meta *m = x->items[x->slots[at].item - 1];
        if (span_eq(m->name, name) && span_eq(m->ns, ns))
            break;
    }
    return &x->slots[at];
}

static uint64_t hash_of(struct span ns, struct span name)
{
    return span_hash(ns) * 31 + span_hash(name);
}

void object_index_init(struct object_index *x, struct arena *a, const void *const *items,
                       size_t count)
{
    *x = (struct object_index){.arena = a, .mask = 7, .count = (uint32_t)count};
    const void **copy = ARENA_ARRAY(a, const void *, count);
    if (count != 0)
        memcpy(copy, items, count * sizeof(*copy));
    x->items = copy;
}

static void make(struct object_index *x)
{
    while (x->mask / 2 < x->count)
        x->mask = x->mask * 2 + 1;
    x->slots = ARENA_ARRAY(x->arena, struct object_slot, (size_t)x->mask + 1);
    for (uint32_t i = 0; i < x->count; i++) {
        const struct meta *m = x->items[i];
        uint64_t hash = hash_of(m->ns, m->name);
        struct object_slot *slot = slot_of(x, m->ns, m->name, hash);
        if (slot->item == 0)
            *slot = (struct object_slot){(uint32_t)(hash >> 32), i + 1};
    }
}

int32_t object_index_find(struct object_index *x, struct span ns, struct span name)
{
    if (x->count == 0)
        return -1;
    if (x->slots == NULL)
        make(x);
    return object_index_look(x, ns, name);
}

int32_t object_index_look(const struct object_index *x, struct span ns, struct span name)
{
    if (x->slots == NULL)
        return -1;
    return (int32_t)slot_of(x, ns, name, hash_of(ns, name))->item - 1;
}
