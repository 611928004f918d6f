/* sweep: which nodes go in the search `cheapest`, where `greedy` has multi.c and single.c. For this folder only.
 *
 * Of all sets of nodes that may go together the one is looked for that is worth most: what it saves in an hour, less
 * what its evictions cost. First as if budgets had room for all (the target); what they have room for now is then
 * chosen of that, so that pods do not go to nodes that are to go next. */
#ifndef PLANNER_DISRUPTION_SWEEP_H
#define PLANNER_DISRUPTION_SWEEP_H

#include "planner/disruption/consolidate.h"

struct move {
    struct candidate *items;
    uint32_t count; /* 0: there is none */
    double worth;   /* per hour */
    struct consolidation how;
};

struct sweep {
    struct move one, several; /* `several` is worth more than any one */
};

/* Adds the command of MULTI or SINGLE, if there is one. Searched once for both. False: the pass ends. */
bool sweep_decide(struct disrupting *d, enum disruption_method m);

#endif
