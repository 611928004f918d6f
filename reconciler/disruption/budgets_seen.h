/* budgets_seen: the PodDisruptionBudgets of the snapshot that a pass is over, by what they select, and which of
 * them say something else than in the last pass. Most changes are of their status alone, and touch the nodes
 * whose pods they select; once another pod may be selected nobody knows whom it touches. */
#ifndef RECONCILER_DISRUPTION_BUDGETS_SEEN_H
#define RECONCILER_DISRUPTION_BUDGETS_SEEN_H

#include "base/arena.h"
#include "kube/pod_budgets.h"
#include "kube/store.h"

struct budgets_seen {
    struct pod_budgets index;
    const uint64_t *changed; /* by position; NULL: none has */
    bool anew;               /* positions, or what they select, are not those of the last pass */
    struct arena arenas[2];  /* of the index, and of the one before */
    uint32_t used;
};

void budgets_seen_init(struct budgets_seen *b);
void budgets_seen_release(struct budgets_seen *b);
/* `previous`: of the last call, and alive still; NULL: there was none, or it is gone. */
void budgets_seen_look(struct budgets_seen *b, const struct snapshot *s, const struct snapshot *previous);

#endif
