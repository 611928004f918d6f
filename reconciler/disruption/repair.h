/* repair: nodes that are not well, in the live loop (spec disruption 16). Which of them and how, the planner says
 * (planner/disruption/repair.c), by the provider's policies; a command of the queue sees to it. Here: whether there is
 * anything to ask, and what a repair does beyond other commands. */
#ifndef RECONCILER_DISRUPTION_REPAIR_H
#define RECONCILER_DISRUPTION_REPAIR_H

#include "kube/repair.h"
#include "reconciler/measure.h"

struct pass;
struct provider;
struct reconciler;
struct command;
struct claim_view;

/* NULL: gate NodeRepair is off, or the option for the legacy way is on. */
const struct repair_policies *repair_policies_of(const struct reconciler *r, struct provider *provider);
/* Some node has been unwell for longer than a policy tolerates; else there will be a pass when one has. */
bool repair_is_due(struct pass *p);
/* The claim says by when its drain ends, from now on at most so long; else it is written, when that may be. */
bool repair_bound_kept(struct pass *p, const struct claim_view *claim, span_ms bound);
/* What a repair's end of a claim counts beside nodeclaims_disrupted_total; `bound`: of its drain, by the policy, or NULL. */
struct measure repair_measure(struct pass *p, struct span condition, const struct claim_view *claim, const span_ms *bound);
/* Of a command that was taken over: what its node says now. */
void repair_adopt(struct pass *p, struct command *c);

#endif
