/* marks: what the API shows of a node that is to leave before it does: the taint karpenter.sh/disrupted:NoSchedule on its
 * Node, then the condition DisruptionReason on its NodeClaim (spec disruption 9.1). For reconciler/ only. */
#ifndef RECONCILER_DISRUPTION_MARKS_H
#define RECONCILER_DISRUPTION_MARKS_H

#include "reconciler/stages.h"

/* True: the snapshot shows both. Else the next of them is written, when its gate is open. `n` may be NULL. */
bool marks_put(struct pass *p, const struct node_view *n, const struct claim_view *c, struct span reason);
/* Of who is in no command; of one that is being deleted they are termination's. */
void marks_take_back(struct pass *p, const struct node_view *n);
bool marks_shown(const struct claim_view *c); /* its claim has the reason */

#endif
