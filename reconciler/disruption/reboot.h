/* reboot: a machine that is started anew in its place, as a repair asked for (spec disruption 16.4). Where it is, the
 * NodeClaim says: condition Rebooting (RebootRequested, then RebootIssued), the annotations for the drain's bound and the
 * boot before. So a leader that takes over goes on; only how long the provider has failed it counts anew.
 *
 *   requested  the Node is fenced by a taint and drained, as long as the bound says; then the provider is asked, again
 *              with the same id until it takes it, for five minutes
 *   issued     until the Node says another boot and is ready, for twenty minutes
 *
 * Who does not come back is deleted. Goes on whatever the gates say. */
#ifndef RECONCILER_DISRUPTION_REBOOT_H
#define RECONCILER_DISRUPTION_REBOOT_H

#include "planner/disruption/disruption.h"

struct pass;
struct command;

/* Writes the decision into the claim. False: the command is done. */
bool reboot_commit(struct pass *p, const struct command *c);
/* By row, how often a reboot was committed to within a day; as long as this process remembers. */
struct reboot_count *reboot_counts(struct arena *a, struct pass *p, uint32_t *count_out);

#endif
