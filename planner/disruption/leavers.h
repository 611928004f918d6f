/* leavers: who would have to go elsewhere if a node were gone, worked out once a row and in the order of the queue. */
#ifndef PLANNER_DISRUPTION_LEAVERS_H
#define PLANNER_DISRUPTION_LEAVERS_H

#include "planner/trial/trial.h"

struct row_leavers {
    const struct waiting_pod *pods; /* as trial_remove_known has them */
    const uint32_t *order;          /* of those, the ones that a plan takes, in greedy's order */
    const bool *forced;             /* as `order`: only for repair */
    uint32_t count, order_count;
    bool known;
};

struct leavers {
    struct arena *arena;
    const struct trial *trial;
    const struct plan_options *options;
    struct row_leavers *rows;
};

struct leavers leavers_init(struct arena *a, const struct trial *t, const struct plan_options *o);
const struct row_leavers *leavers_of(struct leavers *l, uint32_t row);

#endif
