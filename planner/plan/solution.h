/* solution: the parts of a plan that are worked out from a finished trial. */
#ifndef PLANNER_PLAN_SOLUTION_H
#define PLANNER_PLAN_SOLUTION_H

#include "planner/search/greedy.h"

/* What claims have in common: prices by spec, and lists of types. */
struct solution_lists {
    struct price_list **prices; /* by spec; NULL: not asked for yet */
    uint32_t *by_sym;           /* types in the order of their names' symbols */
    struct intern known;
    struct listing *items;
    uint32_t count, capacity;
};
void solution_lists_init(struct solution_lists *l, struct plan *p, const struct trial *t);

/* How many types a claim lists at most. */
uint32_t solution_most_types(const struct plan_options *o);
/* Everything of a claim but its name and pods. False: its list of types is cut so short that minValues
 * do not hold, which is not to be made. */
bool solution_claim(struct plan *p, struct trial *t, struct solution_lists *lists,
                    const struct plan_options *o, uint32_t claim, struct plan_claim *out);
/* Its price alone, NAN when nothing can be launched; false likewise. */
bool solution_price(struct plan *p, struct trial *t, struct solution_lists *lists,
                    const struct plan_options *o, uint32_t claim, double *price_out);
/* cost_before, cost_after, lower_bound, and warnings about nodes without a price. */
void solution_cost(struct plan *p, struct trial *t, bool no_bound);
/* Hourly price below which no fleet can hold what the plan's does: all pods on priced managed nodes and
 * all that the plan places. Nodes that are not managed or have no price are kept, with their free room
 * and the price that cost_after has for them. */
double solution_bound(struct trial *t);
/* Why a class of pods, `pods` of which wait, has no place: message and details of *out. */
void solution_explain(struct plan *p, struct trial *t, uint32_t class_id, uint32_t pods,
                      enum outcome outcome, struct plan_unschedulable *out);

/* closed and closed_count. */
void solution_closed(struct plan *p, struct trial *t);

/* "split: it is to be on spot; its Deployment web wants …" Absent: its side is free. */
struct span solution_split(struct plan *p, uint32_t class_id);
/* What keeps the class out of one option: a sentence about the pod without its name; absent: nothing. */
struct span solution_refusal(struct plan *p, struct trial *t, uint32_t class_id, uint32_t option);

#endif
