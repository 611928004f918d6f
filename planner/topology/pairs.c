#include "planner/topology/pairs.h"

void pairs_init(struct pairs *p, struct arena *a)
{
    *p = (struct pairs){.arena = a, .mask = 63};
    p->slots = ARENA_ARRAY(a, struct pair_slot, p->mask + 1);
}

void pairs_copy(struct pairs *p, struct arena *a)
{
    struct pair_slot *slots = ARENA_ARRAY(a, struct pair_slot, (size_t)p->mask + 1);
    memcpy(slots, p->slots, ((size_t)p->mask + 1) * sizeof(*slots));
    p->arena = a;
    p->slots = slots;
    p->spare = NULL;
}

void pairs_renumber(struct pairs *p, struct arena *a, const uint32_t *to)
{
    struct pairs old = *p;
    pairs_init(p, a);
    for (uint32_t i = 0; i <= old.mask; i++) {
        uint64_t key = old.slots[i].key - 1;
        if (old.slots[i].number != 0)
            pairs_add(p, (uint32_t)(key >> 32), to[(uint32_t)key] - 1, old.slots[i].number);
    }
}

static struct pair_slot *slot_of(const struct pairs *p, uint64_t key)
{
    uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & p->mask;
    while (p->slots[at].key != 0 && p->slots[at].key != key)
        at = (at + 1) & p->mask;
    return &p->slots[at];
}

static uint64_t key_of(uint32_t group, uint32_t target)
{
    return ((uint64_t)group << 32 | target) + 1;
}

int32_t pairs_get(const struct pairs *p, uint32_t group, uint32_t target)
{
    return p->used == 0 ? 0 : slot_of(p, key_of(group, target))->number;
}

/* Those that are zero leave; if that is not half of them, there is to be more room. */
static void make_room(struct pairs *p)
{
    struct pair_slot *old = p->slots;
    uint32_t count = p->mask + 1, left = 0;
    for (uint32_t i = 0; i < count; i++)
        left += old[i].number != 0;
    if (left * 2 > p->used) {
        p->mask = count * 2 - 1;
        p->slots = ARENA_ARRAY(p->arena, struct pair_slot, (size_t)p->mask + 1);
        p->spare = NULL;
    } else if (p->spare == NULL) {
        p->slots = ARENA_ARRAY(p->arena, struct pair_slot, count);
        p->spare = old;
    } else {
        p->slots = memset(p->spare, 0, count * sizeof(*old));
        p->spare = old;
    }
    p->used = left;
    for (uint32_t i = 0; i < count; i++)
        if (old[i].number != 0)
            *slot_of(p, old[i].key) = old[i];
}

void pairs_add(struct pairs *p, uint32_t group, uint32_t target, int32_t by)
{
    struct pair_slot *s = slot_of(p, key_of(group, target));
    if (s->key == 0) {
        if (p->used * 2 > p->mask) {
            make_room(p);
            s = slot_of(p, key_of(group, target));
        }
        s->key = key_of(group, target);
        p->used++;
    }
    s->number += by;
}
