/* validate: whether a consolidation that was decided before still stands (spec disruption 8.8). Asked of the world as it
 * is once the command has waited, so by names: rows are others by then. Pure. */
#ifndef PLANNER_DISRUPTION_VALIDATE_H
#define PLANNER_DISRUPTION_VALIDATE_H

#include "planner/disruption/disruption.h"

enum disruption_validity { /* as Events and metrics class them */
    VALIDITY_UNKNOWN,      /* stopped by plan_options, or no pool is ready */
    VALIDITY_STANDS,
    VALIDITY_CHURN,        /* one of its nodes is gone, or may not be disrupted any more */
    VALIDITY_BUDGET,       /* one is waited for by a pending pod, or its pool's budget has no room for it */
    VALIDITY_SCHEDULING,   /* their pods need another answer than the command's */
};
const char *disruption_validity_name(enum disruption_validity v); /* "churn" */

struct pledged_claim { /* types that it may be; what can be launched is to have all of them */
    const struct span *types;
    uint32_t type_count;
};

struct disruption_pledge { /* of MultiNode or SingleNode */
    const struct span *nodes; /* as world_node.name has them */
    uint32_t count;
    bool replaces;            /* false: they are deleted */
    const struct span *types; /* of the replacement, as of a pledged_claim */
    uint32_t type_count;
    const struct pledged_claim *others; /* replacements beside it, which only the search `cheapest` makes */
    uint32_t other_count;
};

/* All or nothing. Prices are not compared again, nor is it asked again whether a Balanced pool approves. */
enum disruption_validity disruption_validate(const struct world *w, const struct disruption_options *o,
                                             const struct disruption_pledge *p);

#endif
