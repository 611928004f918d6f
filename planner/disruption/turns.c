#include "planner/disruption/turns.h"

#include <stdlib.h>

#include "planner/bits.h"
#include "planner/columns.h"

static int turn_order(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->is_late != y->is_late)
        return x->is_late ? 1 : -1;
    return span_cmp(x->pool, y->pool);
}

static bool has_name(const struct span *names, uint32_t count, struct span name)
{
    for (uint32_t i = 0; i < count; i++)
        if (span_eq(names[i], name))
            return true;
    return false;
}

static bool is_done(const struct disrupting *d, const struct candidate *c)
{
    return d->o->looked != NULL && bits_has(d->o->looked, c->row);
}

struct turn *turns_of(struct disrupting *d, struct candidates c)
{
    struct turn *turns = ARENA_ARRAY(&d->out->arena, struct turn, c.count);
    uint32_t *ranks = ARENA_ARRAY(&d->out->arena, uint32_t, d->w->pool_count);
    for (uint32_t i = 0; i < c.count; i++) /* a pool's next turn comes after those that it had */
        ranks[candidate_pool(d, &c.items[i])] += is_done(d, &c.items[i]);
    for (uint32_t i = 0; i < c.count; i++) {
        struct span pool = c.items[i].pool->meta.name;
        turns[i] = (struct turn){pool, !has_name(d->o->unreached, d->o->unreached_count, pool),
                                 is_done(d, &c.items[i]) ? TURN_DONE : ranks[candidate_pool(d, &c.items[i])]++, i};
    }
    if (c.count != 0)
        qsort(turns, c.count, sizeof(*turns), turn_order);
    return turns;
}

/* Every pool has its first turn before any has its second: those from `next` on are of pools that had none. */
void turns_end(struct disrupting *d, const struct turn *turns, uint32_t next, uint32_t count)
{
    struct span *names = ARENA_ARRAY(&d->out->arena, struct span, count - next);
    uint32_t n = 0;
    for (uint32_t i = next; i < count && turns[i].rank == 0; i++)
        names[n++] = turns[i].pool;
    d->out->unreached = names;
    d->out->unreached_count = n;
}
