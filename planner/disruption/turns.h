/* turns: in which order nodes are looked at one by one (spec disruption 8.5): by pools in turn, in each those first that are
 * worth most. For this folder only. */
#ifndef PLANNER_DISRUPTION_TURNS_H
#define PLANNER_DISRUPTION_TURNS_H

#include "planner/disruption/methods.h"

struct turn {
    struct span pool;
    bool is_late;  /* its pool was reached the last time */
    uint32_t rank; /* of the candidate in its pool, those counted that had their turn; or TURN_DONE */
    uint32_t at;   /* in the list that was given */
};

#define TURN_DONE UINT32_MAX /* rank of who was looked at before (disruption_options.looked): none of these has a turn */

/* Of each pool in the list's order. Pools that the last search did not reach come first in every round. */
struct turn *turns_of(struct disrupting *d, struct candidates c);
/* The search ends before `next`: pools that had no turn are to come first in the next one. */
void turns_end(struct disrupting *d, const struct turn *turns, uint32_t next, uint32_t count);

#endif
