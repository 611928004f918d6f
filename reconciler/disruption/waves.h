/* waves: how many nodes of a NodePool may go for having drifted before it is known that what comes in their place is fit
 * (docs/disruption.md): 1, then 2, 4 and so on. For this folder only.
 *
 * Between two waves there is a gate. It opens when
 *   - nobody of the pool is on the way out for having drifted any more,
 *   - every NodeClaim that has come in the place of others since the wave began has been initialised, and its Node is Ready,
 *   - of the pods that have come to these since, no more are not ready than were not before.
 * All of that is read from the API. A leader that takes over in the middle does not know when the wave began nor how large
 * it was, and so asks that of all that have come in the place of others, and begins again with 1; and so does who has had
 * one taken back. With --search greedy there are no waves. Memory: some numbers a pool. */
#ifndef RECONCILER_DISRUPTION_WAVES_H
#define RECONCILER_DISRUPTION_WAVES_H

#include "planner/disruption/disruption.h"

struct pass;
struct command;

/* Of each pool in which somebody has drifted; opens gates, and tells of those that stay shut. */
uint32_t waves_left(struct pass *p, struct arena *a, const struct wave_left **out);
/* Nobody has drifted: whoever does next begins with a wave of 1. */
void waves_rest(struct pass *p);
/* A command (those of a drift count) begins, or is taken back. */
void waves_take(struct pass *p, const struct command *c);
void waves_fail(struct pass *p, const struct command *c);

#endif
