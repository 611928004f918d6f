/* recommend: what would be done with nodes of pools that only want to be told (stowage.dev/mode: recommend). Asked of the
 * planner when it has nothing else to do and the world has changed, at most once a minute and for a twentieth of the time;
 * never where no pool says so. What is recommended is told once, for as long as it is about the same nodes: a line of the log,
 * and an Event on each Node and NodeClaim. A leader that takes over tells it once more. For this folder only. */
#ifndef RECONCILER_DISRUPTION_RECOMMEND_H
#define RECONCILER_DISRUPTION_RECOMMEND_H

#include "planner/disruption/disruption.h"

struct pass;
struct recommending;
struct snapshot;

/* It is time to ask. Where nobody wants to know any more, what was recommended is withdrawn. */
bool recommend_is_due(struct pass *p);
void recommend_begun(struct pass *p);
/* The answer, on the world of this snapshot. */
void recommend_take(struct pass *p, const struct snapshot *s, const struct disruption *d);
void recommend_forget(struct recommending *r); /* without a word */

#endif
