/* pod_budgets: which PodDisruptionBudgets select a pod, without asking each of them.
 *
 * A budget stands under its namespace and one label that its selector cannot do without; one whose selector
 * names none stands under the namespace alone. A pod is compared with those under its own labels: a cluster has
 * a budget a workload, and a pod one or two.
 *
 * Borrows the budgets; everything else is of the arena. Symbols are those of one table. */
#ifndef KUBE_POD_BUDGETS_H
#define KUBE_POD_BUDGETS_H

#include "kube/workload.h"

struct pod_budgets {
    const struct disruption_budget *const *items; /* in the order given */
    uint32_t count;
    struct pod_budget_entry *entries; /* a budget has one a value that its label may have */
    uint32_t entry_count, entry_capacity;
    uint32_t *slots; /* by hash: the first entry, + 1; 0: none */
    uint32_t mask;
};

struct pod_budgets pod_budgets_make(struct arena *a, const struct disruption_budget *const *items,
                                    uint32_t count);
/* Positions of the first two that select the pod, and how many of these there are: two are as many as count, since
 * the eviction API refuses a pod that more than one selects. NULL: there are no budgets. */
uint32_t pod_budgets_of(const struct pod_budgets *b, const struct pod *p, uint32_t out[2]);
/* Positions of all that select the pod, in no order; `out` has room for b->count. Returns how many. */
uint32_t pod_budgets_all(const struct pod_budgets *b, const struct pod *p, uint32_t *out);

#endif
