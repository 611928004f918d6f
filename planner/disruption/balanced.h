/* balanced: whether a consolidation is worth its disruption, in pools whose policy is Balanced (spec disruption 4.5, 8.9):
 * its share of the pool's cost is to be at least half its share of the pool's disruption. */
#ifndef PLANNER_DISRUPTION_BALANCED_H
#define PLANNER_DISRUPTION_BALANCED_H

#include "planner/disruption/methods.h"

struct balance_total { /* of a pool */
    double cost;       /* per hour */
    double disruption; /* what it would cost to disrupt all its nodes */
};

struct balance {
    const struct world *w;
    struct balance_total *pools; /* by the world's index; NULL: none is Balanced */
};

/* `all`: everybody who may be disrupted, in the order of rows; whom a method leaves out counts too. */
struct balance balance_make(struct arena *a, const struct world *w, struct candidates all, bool deletion_cost_ignored);

/* 0: nothing is saved, or there is nothing to measure it by; INFINITY: for nothing. */
double balance_score(double savings, double disruption, struct balance_total total);
/* Every Balanced pool among the candidates has to; one of several pools is measured by its share of what they cost. */
bool balance_approves(const struct balance *b, const struct candidate *c, uint32_t count, double savings);
/* False: not even if it went for nothing. */
bool balance_can_approve(const struct balance *b, const struct candidate *c);

#endif
