#include "planner/intern.h"

void words_init(struct words *w, struct arena *a)
{
    w->arena = a;
    w->items = w->first;
    w->count = 0;
    w->capacity = (uint32_t)COUNT_OF(w->first);
}

void words_put(struct words *w, uint32_t word)
{
    ARENA_PUSH(w->arena, w->items, w->count, w->capacity, word);
}

void words_put64(struct words *w, uint64_t word)
{
    words_put(w, (uint32_t)word);
    words_put(w, (uint32_t)(word >> 32));
}

void requirements_words(struct words *w, const struct requirements *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct requirement *x = &r->items[i];
        words_put(w, x->key);
        words_put(w, (uint32_t)x->complement << 2 | (uint32_t)x->has_gte << 1 | x->has_lte);
        words_put64(w, x->has_gte ? (uint64_t)x->gte : 0);
        words_put64(w, x->has_lte ? (uint64_t)x->lte : 0);
        words_put(w, x->count);
        for (uint32_t v = 0; v < x->count; v++)
            words_put(w, x->values[v]);
    }
}

static uint64_t words_hash(const struct words *w)
{
    return span_hash((struct span){(const char *)w->items, w->count * sizeof(uint32_t)});
}

void intern_init(struct intern *i, struct arena *a)
{
    *i = (struct intern){.arena = a, .slot_count = 64};
    i->slots = ARENA_ARRAY(a, uint32_t, i->slot_count);
}

void intern_copy(struct intern *i, struct arena *a)
{
    uint32_t *slots = ARENA_ARRAY(a, uint32_t, i->slot_count);
    struct intern_item *items = ARENA_ARRAY(a, struct intern_item, (size_t)i->count + 1);
    memcpy(slots, i->slots, i->slot_count * sizeof(*slots));
    if (i->count != 0)
        memcpy(items, i->items, i->count * sizeof(*items));
    i->arena = a;
    i->slots = slots;
    i->items = items;
    i->capacity = i->count + 1;
}

/* The slot of the content, or the free one where it belongs. */
static uint32_t intern_slot(const struct intern *i, const struct words *w, uint64_t hash)
{
    uint32_t mask = i->slot_count - 1;
    uint32_t at = (uint32_t)hash & mask;
    for (; i->slots[at] != 0; at = (at + 1) & mask) {
        const struct intern_item *item = &i->items[i->slots[at] - 1];
        if (item->hash == hash && item->count == w->count &&
            memcmp(item->words, w->items, w->count * sizeof(uint32_t)) == 0)
            break;
    }
    return at;
}

static void intern_grow(struct intern *i)
{
    i->slot_count *= 2;
    i->slots = ARENA_ARRAY(i->arena, uint32_t, i->slot_count);
    for (uint32_t n = 0; n < i->count; n++) {
        uint32_t at = (uint32_t)i->items[n].hash & (i->slot_count - 1);
        while (i->slots[at] != 0)
            at = (at + 1) & (i->slot_count - 1);
        i->slots[at] = n + 1;
    }
}

uint32_t intern_put(struct intern *i, const struct words *w, bool *new_out)
{
    uint64_t hash = words_hash(w);
    uint32_t at = intern_slot(i, w, hash);
    if (new_out != NULL)
        *new_out = i->slots[at] == 0;
    if (i->slots[at] != 0)
        return i->slots[at] - 1;
    if (i->count * 2 >= i->slot_count) {
        intern_grow(i);
        at = intern_slot(i, w, hash);
    }
    uint32_t *copy = ARENA_ARRAY(i->arena, uint32_t, w->count);
    memcpy(copy, w->items, w->count * sizeof(uint32_t));
    struct intern_item item = {copy, w->count, hash};
    ARENA_PUSH(i->arena, i->items, i->count, i->capacity, item);
    i->slots[at] = i->count;
    return i->count - 1;
}

int32_t intern_find(const struct intern *i, const struct words *w)
{
    return (int32_t)i->slots[intern_slot(i, w, words_hash(w))] - 1;
}
