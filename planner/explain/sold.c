#include "planner/explain/sold.h"

uint64_t *sold_types(struct plan *p, const struct requirements *asked)
{
    const struct types *t = &p->world->types;
    uint64_t *set = ARENA_ARRAY(&p->arena, uint64_t, t->words);
    uint64_t *kinds = ARENA_ARRAY(&p->arena, uint64_t, t->kind_words);
    for (uint32_t i = 0; i < t->count; i++)
        bits_add(set, i);
    for (uint32_t i = 0; i < asked->count; i++)
        types_cut(t, set, &asked->items[i], p->world->syms);
    types_kinds(t, kinds, asked, p->world->syms);
    types_cut_kinds(t, set, kinds);
    return set;
}

bool sold_any(struct plan *p, const struct requirements *asked)
{
    return bits_count(sold_types(p, asked), p->world->types.words) != 0;
}

bool sold_large(struct plan *p, const struct requirements *asked, const amount *requests)
{
    const struct world *w = p->world;
    const uint64_t *set = sold_types(p, asked);
    for (BITS_EACH(type, set, w->types.words))
        for (uint32_t g = w->types.first_group[type]; g < w->types.first_group[type + 1]; g++)
            if (vector_fits(w, requests, world_vector(w, w->types.allocatable, g)))
                return true;
    return false;
}
