/* allowance: how many nodes of each pool may be disrupted now for a reason (spec disruption 5): the one home of that
 * sum, from which every method draws. */
#ifndef PLANNER_DISRUPTION_ALLOWANCE_H
#define PLANNER_DISRUPTION_ALLOWANCE_H

#include "base/arena.h"
#include "kube/disruption_reason.h"
#include "planner/world.h"

struct allowance {      /* of a pool */
    uint32_t nodes;     /* that percentages are of */
    uint32_t going;     /* leaving, rebooting, or had by a command */
    uint32_t unready;   /* of the others */
    /* for one reason */
    uint32_t busy;      /* going or (but for UNHEALTHY) not ready */
    int32_t allowed;    /* by its budgets, before `busy` is taken off */
    int32_t left;       /* never negative */
};

struct allowance_facts { /* of a managed node */
    bool initialized, ready, rebooting;
    bool terminating; /* its instance is */
    bool leaving;
    bool queued;      /* a command has it */
};

/* Counts one node of the pool. */
void allowance_count(struct allowance *x, const struct allowance_facts *f);
/* All are counted: what that comes to for the reason. */
void allowance_close(struct allowance *x, const struct node_pool *pool, enum disruption_reason reason, wall_ms now);

struct allowances { /* by the world's index of pools */
    struct allowance *items;
    uint32_t count;
};

/* `queued` (NULL: none): rows that a command has, which are busy too. */
struct allowances allowances_make(struct arena *a, const struct world *w, enum disruption_reason reason,
                                  const uint64_t *queued, wall_ms now);
/* False: the pool has none left. */
bool allowances_take(struct allowances *x, int32_t pool);

#endif
