/* One node (spec disruption 8.5): pools by turns, in each those first that are worth most; the first that can go goes. */
#include "planner/columns.h"
#include "planner/disruption/balanced.h"
#include "planner/disruption/consolidate.h"
#include "planner/disruption/sweep.h"
#include "planner/disruption/turns.h"

/* What upstream's three minutes come to, see multi.c. */
static const uint64_t STEPS = 90000000;

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
    struct consolidation x = consolidate(d, &l->scratch, c, 1, 0);
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
    if (d->o->plan->search != SEARCH_GREEDY)
        return sweep_decide(d, METHOD_SINGLE);
    struct candidates all = candidates_of(d, DISRUPT_GRACEFUL, METHOD_SINGLE);
    struct looking l = {.d = d, .end = d->out->steps + (d->o->single_steps != 0 ? d->o->single_steps : STEPS),
                        .balance = balance_make(&d->out->arena, d->w, all, d->facts.deletion_cost_ignored)};
    struct candidates c = consolidate_whom(d, all, METHOD_SINGLE);
    const struct turn *turns = turns_of(d, c);
    bool found = false;
    uint32_t i = 0;
    if (c.count == 0) {
        d->out->swept = true;
        turns_end(d, turns, 0, 0);
        return true;
    }
    l.allowed = allowances_of(d, METHOD_SINGLE);
    arena_init(&l.scratch, 0);
    for (; i < c.count && !found && !l.stopped && d->out->steps < l.end; i++)
        found = look_at(&l, &c.items[turns[i].at]);
    arena_release(&l.scratch);
    d->out->swept = i == c.count && !l.stopped;
    if (found)
        return true; /* which pools come first next time is as it was */
    d->out->complete = d->out->complete && i == c.count;
    turns_end(d, turns, i, c.count);
    return true;
}
