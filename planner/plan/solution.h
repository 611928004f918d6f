/* solution: the parts of a plan that are worked out from a finished trial. */
#ifndef PLANNER_PLAN_SOLUTION_H
#define PLANNER_PLAN_SOLUTION_H

#include "planner/plan/plan.h"
#include "planner/search/listing.h"

/* Everything of a claim but its name and pods. False: its list of types is cut so short that minValues
 * do not hold, which is not to be made. */
bool solution_claim(struct plan *p, struct trial *t, struct listings *lists, uint32_t claim,
                    struct plan_claim *out);
/* cost_before, cost_after, lower_bound, and warnings about nodes without a price. */
void solution_cost(struct plan *p, struct trial *t, bool no_bound);
/* Hourly price below which no fleet can hold what the plan's does: all pods on priced managed nodes and
 * all that the plan places. Nodes that are not managed or have no price are kept, with their free room
 * and the price that cost_after has for them. */
double solution_bound(struct trial *t);
/* closed and closed_count. */
void solution_closed(struct plan *p, struct trial *t);

#endif
