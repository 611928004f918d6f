/* budget: how many nodes of a NodePool may be disrupted at once: by its budgets (spec api 4.4), and by its annotation
 * stowage.dev/allow-windows (allow_windows.h). */
#ifndef KUBE_BUDGET_H
#define KUBE_BUDGET_H

#include "kube/node.h"

enum { BUDGET_UNLIMITED = INT32_MAX };

enum budget_by {
    BUDGET_BY_NONE,    /* nothing limits it */
    BUDGET_BY_BUDGET,
    BUDGET_BY_BROKEN,  /* a budget that cannot be read may be meant for now: nothing is allowed */
    BUDGET_BY_WINDOWS, /* no allow-window is open, or one cannot be read */
};
struct budget_answer {
    int32_t allowed;
    enum budget_by by;
    uint32_t index; /* of the budget, the first of the least */
};

/* The least of all budgets that restrict `reason` ("Empty", "Drifted", "Underutilized",
 * "Unhealthy") and are active at `now`, for a pool of n nodes; 0 when any budget is broken,
 * whatever its reasons. A list of reasons that is there and empty restricts every reason, as an
 * absent one does. */
struct budget_answer budgets_judge(const struct node_pool *p, int32_t n, struct span reason, wall_ms now);
static inline int32_t budgets_allowed(const struct node_pool *p, int32_t n, struct span reason, wall_ms now)
{
    return budgets_judge(p, n, reason, now).allowed;
}
/* The first time after `now` at which as many are not allowed any more, or more are. False: none is near (window.h). */
bool budgets_turn(const struct node_pool *p, int32_t n, struct span reason, wall_ms now, wall_ms *out);

/* When a budget holds: for one that is not broken. What only a longer look would tell is AT_TIMES: it is for warnings. */
enum budget_times { BUDGET_AT_TIMES, BUDGET_ALWAYS, BUDGET_NEVER };
enum budget_times budget_times_of(const struct budget *b);
/* Why a budget is broken. */
bool budget_valid(const struct budget *b, struct err *err);

#endif
