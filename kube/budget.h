/* budget: how many nodes of a NodePool may be disrupted at once (spec api 4.4). */
#ifndef KUBE_BUDGET_H
#define KUBE_BUDGET_H

#include "kube/node.h"

enum { BUDGET_UNLIMITED = INT32_MAX };

/* The least of all budgets that restrict `reason` ("Empty", "Drifted", "Underutilized",
 * "Unhealthy") and are active at `now`, for a pool of n nodes; 0 when any budget is broken,
 * whatever its reasons. A list of reasons that is there and empty restricts every reason, as an
 * absent one does. */
int32_t budgets_allowed(const struct node_pool *p, int32_t n, struct span reason, wall_ms now);

/* Why a budget is broken. */
bool budget_valid(const struct budget *b, struct err *err);

#endif
