#include "reconciler/provision/batch.h"

#include <stdlib.h>

#include "base/arena.h"

enum { FIRST_SLOTS = 256 };

void batch_init(struct batch *b, span_ms idle, span_ms max)
{
    *b = (struct batch){.idle = idle, .max = max};
}

void batch_release(struct batch *b)
{
    free(b->seen);
    *b = (struct batch){0};
}

/* Open addressing; 0 marks a free slot. True when it was not there. */
static bool add(uint64_t *slots, uint32_t count, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash % count);
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) % count;
    if (slots[at] == hash)
        return false;
    slots[at] = hash;
    return true;
}

static void grow(struct batch *b)
{
    uint32_t count = b->seen_slots != 0 ? b->seen_slots * 2 : FIRST_SLOTS;
    uint64_t *slots = mem_new(count * sizeof(*slots));
    for (uint32_t i = 0; i < b->seen_slots; i++)
        if (b->seen[i] != 0)
            add(slots, count, b->seen[i]);
    free(b->seen);
    b->seen = slots;
    b->seen_slots = count;
}

void batch_wake(struct batch *b, mono_ms now)
{
    b->last = now;
    if (!b->open) {
        b->open = true;
        b->opened = now;
    }
}

void batch_trigger(struct batch *b, struct span element, mono_ms now)
{
    uint64_t hash = span_hash(element) | 1;
    if (b->seen_count * 2 >= b->seen_slots)
        grow(b);
    if (!add(b->seen, b->seen_slots, hash))
        return;
    b->seen_count++;
    batch_wake(b, now);
}

mono_ms batch_due(const struct batch *b)
{
    if (!b->open)
        return INT64_MAX;
    mono_ms idle = b->last + b->idle, max = b->opened + b->max;
    return idle < max ? idle : max;
}

void batch_close(struct batch *b)
{
    if (b->seen_slots != 0)
        memset(b->seen, 0, b->seen_slots * sizeof(*b->seen));
    b->seen_count = 0;
    b->open = false;
}
