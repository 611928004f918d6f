/* price: what a consolidation costs once, beside what it saves in an hour. Pure arithmetic; each figure's reason is here
 * and in docs/disruption.md. Not for --search greedy, to which savings are all. */
#ifndef PLANNER_DISRUPTION_PRICE_H
#define PLANNER_DISRUPTION_PRICE_H

#include "planner/disruption/disruption.h"

struct candidate;

/* What an eviction of cost 1 (candidate.h) is reckoned at, in dollars, to be earned back within the hour by the node that it
 * is for: what a pod of an eighth of a CPU costs in ten minutes, about as long as it takes to be warm again. */
#define EVICTION_COST 0.001
/* And that its image has to be pulled, to a node that is new and has none: two minutes of it. On nodes that stand it is
 * taken to be there, as it mostly is where others of the workload run; Nodes name at most fifty images, so that one that
 * is not named may be there. */
#define IMAGE_PULL_COST 0.0002

/* What both nodes cost while one comes up is money, not somebody's trouble: it is earned back while the savings last, which
 * is as long as the load stays as it is. Half of a working day. */
#define WARM_UP_HOURS 4

/* The claim comes in place of others: adds what it costs until it takes pods, and that it might not come. */
void move_price_add(struct move_price *p, const struct disruption_options *o, const struct plan_claim *claim);
double move_price_evictions(const struct candidate *c, uint32_t count);
/* In dollars, all together. */
double move_price_once(const struct move_price *p);
/* What is to be saved in an hour so that each part is earned back in its time. */
double move_price_hourly(const struct move_price *p);
/* Of what is saved in an hour so much is to be hoped for. */
double move_price_hope(const struct move_price *p, double savings);

#endif
