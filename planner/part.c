#include "planner/part.h"

#include <stdlib.h>

struct part *part_new(size_t first_chunk, struct part *under)
{
    struct part *p = mem_new(sizeof(*p));
    atomic_init(&p->users, 1);
    arena_init(&p->arena, first_chunk);
    p->under = part_join(under);
    return p;
}

struct part *part_join(struct part *p)
{
    if (p != NULL)
        atomic_fetch_add_explicit(&p->users, 1, memory_order_relaxed);
    return p;
}

void part_leave(struct part *p)
{
    while (p != NULL && atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) == 1) {
        struct part *under = p->under;
        for (uint32_t i = 0; i < p->held_count; i++)
            part_leave(p->held[i]); /* those hold nothing: one call deep */
        arena_release(&p->arena);
        free(p);
        p = under;
    }
}

size_t part_bytes(const struct part *p)
{
    size_t sum = 0;
    for (; p != NULL; p = p->under) {
        sum += p->arena.total;
        for (uint32_t i = 0; i < p->held_count; i++)
            sum += part_bytes(p->held[i]);
    }
    return sum;
}
