/* solution: the parts of a plan that are worked out from a finished trial. */
#ifndef PLANNER_PLAN_SOLUTION_H
#define PLANNER_PLAN_SOLUTION_H

#include "planner/plan/plan.h"
#include "planner/search/listing.h"

/* claims and claim_count, but for their pods, whose room is there. A claim whose list of types, cut to what may be
 * listed, breaks minValues is not made (5.1). By claim of the trial: its place in the plan, + 1; 0: not made. */
uint32_t *solution_claims(struct plan *p, struct trial *t, const struct plan_options *o);
/* cost_before, cost_after, lower_bound, and warnings about nodes without a price. */
void solution_cost(struct plan *p, struct trial *t, bool no_bound);
/* Hourly price below which no fleet can hold what the plan's does: all pods on priced managed nodes and
 * all that the plan places. Nodes that are not managed or have no price are kept, with their free room
 * and the price that cost_after has for them. */
double solution_bound(struct trial *t);
/* closed and closed_count. */
void solution_closed(struct plan *p, struct trial *t);

#endif
