#include "planner/packing/suits.h"

#include <stdlib.h>

uint32_t suits_way_count(enum suits_ways ways, const struct pod_class *k)
{
    return (ways != SUITS_STRICT ? k->attempt_count : 0) + (ways != SUITS_AS_ASKED ? k->strict_count : 0);
}

struct attempt suits_way(enum suits_ways ways, const struct world *w, const struct pod_class *k, uint32_t i)
{
    uint32_t asked = ways != SUITS_STRICT ? k->attempt_count : 0;
    struct attempt try = w->classes.attempts[i < asked ? k->first_attempt + i : k->first_strict + i - asked];
    try.soft |= ways == SUITS_ANY_WAY;
    return try;
}

/* --- numbers --- */

struct suit_size {
    uint64_t pods, key;
    uint32_t suit; /* in the order of the list */
};

static int suit_order(const void *x, const void *y)
{
    const struct suit_size *a = x, *b = y;
    if (a->pods != b->pods)
        return a->pods > b->pods ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? 1 : -1;
    return (a->suit > b->suit) - (a->suit < b->suit);
}

static uint32_t put(const struct suits *s, struct intern *known, const struct suited *x)
{
    const struct world *w = s->trial->world;
    const struct pod_class *k = &w->classes.items[x->class_id];
    struct words words;
    words_init(&words, s->arena);
    for (uint32_t i = 0; i < suits_way_count(s->ways, k); i++)
        words_put(&words, suits_way(s->ways, w, k, i).signature);
    for (uint32_t key = 1; x->cell != NULL && key < w->topology.key_count; key++)
        words_put(&words, (uint32_t)(x->cell[key] + 1));
    return intern_put(known, &words, NULL);
}

void suits_number(struct suits *s, struct suited *list, uint32_t count)
{
    struct intern known;
    intern_init(&known, s->arena);
    struct suit_size *sizes = ARENA_ARRAY(s->arena, struct suit_size, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t suit = list[i].suit = put(s, &known, &list[i]);
        sizes[suit].suit = suit;
        sizes[suit].key = list[i].key;
        sizes[suit].pods += list[i].pods;
    }
    if (known.count != 0)
        qsort(sizes, known.count, sizeof(*sizes), suit_order);
    uint32_t *rank = ARENA_ARRAY(s->arena, uint32_t, known.count);
    for (uint32_t i = 0; i < known.count; i++)
        rank[sizes[i].suit] = i < SUIT_REST ? i : SUIT_REST;
    s->count = known.count < SUIT_REST ? known.count : SUIT_REST;
    for (uint32_t i = 0; i < count; i++) {
        list[i].suit = rank[list[i].suit];
        s->example[list[i].suit] = &list[i];
    }
}

/* --- what is for sale --- */

static void offer(const struct suits *s, uint32_t option, uint32_t suit, struct suits_offered *out)
{
    const struct world *w = s->trial->world;
    struct specs *specs = &s->trial->specs;
    const struct suited *x = s->example[suit];
    const struct pod_class *k = &w->classes.items[x->class_id];
    for (uint32_t i = 0; i < suits_way_count(s->ways, k); i++) {
        struct attempt try = suits_way(s->ways, w, k, i);
        if (try.soft && !w->soft_taints && s->ways != SUITS_ANY_WAY)
            continue;
        int32_t to = specs_settle_in(specs, specs_narrow(specs, option, &try), x->cell);
        if (to < 0)
            continue;
        for (BITS_EACH(type, specs->items[to].types, w->types.words))
            out->types[type] |= UINT64_C(1) << suit;
        for (BITS_EACH(kind, specs->items[to].kinds, w->types.kind_words))
            out->kinds[kind] |= UINT64_C(1) << suit;
    }
}

struct suits_offered suits_offer(const struct suits *s, uint32_t option)
{
    const struct types *t = &s->trial->world->types;
    struct suits_offered out = {ARENA_ARRAY(s->arena, uint64_t, t->count),
                                ARENA_ARRAY(s->arena, uint64_t, t->kind_count)};
    for (uint32_t suit = 0; suit < s->count; suit++)
        offer(s, option, suit, &out);
    return out;
}
