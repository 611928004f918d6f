/* One node (spec disruption 8.5): pools by turns, in each those first that are worth most; the first that can go goes. */
#include <stdlib.h>

#include "planner/columns.h"
#include "planner/disruption/balanced.h"
#include "planner/disruption/consolidate.h"

/* What upstream's three minutes come to, see multi.c. */
static const uint64_t STEPS = 90000000;

struct turn {
    struct span pool;
    bool is_late;  /* its pool was reached the last time */
    uint32_t rank; /* of the candidate in its pool */
    uint32_t at;
};

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

/* Pools that the last search did not reach come first in every round. */
static struct turn *turns_of(struct disrupting *d, struct candidates c)
{
    struct turn *turns = ARENA_ARRAY(&d->out->arena, struct turn, c.count);
    uint32_t *ranks = ARENA_ARRAY(&d->out->arena, uint32_t, d->w->pool_count);
    for (uint32_t i = 0; i < c.count; i++) {
        struct span pool = c.items[i].pool->meta.name;
        turns[i] = (struct turn){pool, !has_name(d->o->unreached, d->o->unreached_count, pool),
                                 ranks[candidate_pool(d, &c.items[i])]++, i};
    }
    if (c.count != 0)
        qsort(turns, c.count, sizeof(*turns), turn_order);
    return turns;
}

/* Every pool has its first turn before any has its second: those from `next` on are of pools that had none. */
static void keep_unreached(struct disrupting *d, const struct turn *turns, uint32_t next, uint32_t count)
{
    struct span *names = ARENA_ARRAY(&d->out->arena, struct span, count - next);
    uint32_t n = 0;
    for (uint32_t i = next; i < count && turns[i].rank == 0; i++)
        names[n++] = turns[i].pool;
    d->out->unreached = names;
    d->out->unreached_count = n;
}

struct looking {
    struct disrupting *d;
    struct allowances allowed;
    struct balance balance;
    struct arena scratch;
    uint64_t end; /* of steps */
    bool stopped;
};

/* Whether it goes. */
static bool look_at(struct looking *l, const struct candidate *c)
{
    struct disrupting *d = l->d;
    if (l->allowed.items[candidate_pool(d, c)].left == 0) {
        constrained_add(d, METHOD_SINGLE);
        return false;
    }
    if (!balance_can_approve(&l->balance, c))
        return false;
    struct consolidation x = consolidate(d, &l->scratch, c, 1);
    if (x.simulated.outcome == SIMULATED_NO_POOLS) /* upstream logs it, once for each */
        return false;
    l->stopped = !simulated_whole(d, &x.simulated);
    if (x.why.len != 0)
        note_candidate(d, METHOD_SINGLE, NOTE_UNCONSOLIDATABLE, c, arena_dup(&d->out->arena, x.why));
    if (x.outcome == CONSOLIDATE_NOT || !balance_approves(&l->balance, c, 1, x.savings))
        return false;
    consolidate_take(d, METHOD_SINGLE, c, 1, &x);
    return true;
}

bool single_decide(struct disrupting *d)
{
    struct candidates all = candidates_of(d, DISRUPT_GRACEFUL, METHOD_SINGLE);
    struct looking l = {.d = d, .end = d->out->steps + (d->o->single_steps != 0 ? d->o->single_steps : STEPS),
                        .balance = balance_make(&d->out->arena, d->w, all, d->facts.deletion_cost_ignored)};
    struct candidates c = consolidate_whom(d, all, METHOD_SINGLE);
    const struct turn *turns = turns_of(d, c);
    bool found = false;
    uint32_t i = 0;
    if (c.count == 0) {
        keep_unreached(d, turns, 0, 0);
        return true;
    }
    l.allowed = allowances_of(d, METHOD_SINGLE);
    arena_init(&l.scratch, 0);
    for (; i < c.count && !found && !l.stopped && d->out->steps < l.end; i++)
        found = look_at(&l, &c.items[turns[i].at]);
    arena_release(&l.scratch);
    if (found)
        return true; /* which pools come first next time is as it was */
    d->out->complete = d->out->complete && i == c.count;
    keep_unreached(d, turns, i, c.count);
    return true;
}
