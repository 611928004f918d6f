/* budgets: how many nodes of each pool may begin to leave now, by what a pass sees and what our own commands and deletes
 * have begun; whatever begins to leave in a pass draws from it. The sum is the planner's (planner/disruption/allowance.h);
 * here it is fed by views, which a quiet cluster of thousands of nodes has at hand. For reconciler/ only.
 *
 * Who leaves without asking (expired, garbage, one too many for a pool with replicas, deleted by hand) uses it up, too. */
#ifndef RECONCILER_DISRUPTION_BUDGETS_H
#define RECONCILER_DISRUPTION_BUDGETS_H

#include "reconciler/stages.h"

/* Once a pass, before anything is drawn by a command. */
void budgets_count(struct pass *p);
/* The same for a stage before that, and nothing is shown: what it draws and begins is counted anew. */
void budgets_count_early(struct pass *p);
int32_t budgets_left(struct pass *p, const struct node_pool *pool, enum disruption_reason reason);
/* False: the pool lets none go now. */
bool budgets_take(struct pass *p, const struct node_pool *pool, enum disruption_reason reason);
/* That a pool's budgets let nothing go for the reason, or do again: told each time that it begins to be so. */
void budgets_tell(struct pass *p, const struct pool_view *v, enum disruption_reason reason, bool blocked);

#endif
