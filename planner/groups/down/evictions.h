/* evictions: how many more pods each PodDisruptionBudget lets go in this pass (spec node-groups 4.4).
 *
 * What is taken stays taken: of two nodes that both need the last eviction of a budget only the first can go. May fall
 * below 0, for pods that go whatever their budgets say. Borrows the budgets; all else is the arena's. */
#ifndef PLANNER_GROUPS_DOWN_EVICTIONS_H
#define PLANNER_GROUPS_DOWN_EVICTIONS_H

#include "kube/pod_budgets.h"

struct evictions {
    struct pod_budgets budgets;
    bool lets_unhealthy_go; /* pods that are not ready go whatever a budget with unhealthyPodEvictionPolicy AlwaysAllow has left */
    int64_t *left;    /* by position of the budget */
    uint32_t *found;  /* scratch: of one pod */
    uint32_t *wanted; /* scratch: by position, 0 between calls */
};

void evictions_init(struct evictions *e, struct arena *a, const struct disruption_budget *const *items, uint32_t count);
bool evictions_covers(const struct evictions *e, const struct pod *p); /* some budget selects it */
bool evictions_allow(const struct evictions *e, const struct pod *p);  /* no budget that does is used up */
/* All of them, at the same moment. */
bool evictions_allow_all(const struct evictions *e, const struct pod *const *pods, uint32_t count);
void evictions_take(struct evictions *e, const struct pod *const *pods, uint32_t count);

#endif
