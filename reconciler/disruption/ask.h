/* ask: what the planner is asked about disruption, and when (spec disruption 1, 6). For this folder only.
 *
 * Who drifted is asked for every ten seconds while somebody has; a consolidation when the world has changed since the
 * last one was asked for in vain, or five minutes later. Never while something is on its way whose shape nobody knows, or
 * a consolidation waits to be judged again; and so seldom that consolidations take a twentieth of the time. One question at a time,
 * answered by the worker (reconciler_worker) while passes go on; with what is only recommended (recommend.h) it goes by turns. */
#ifndef RECONCILER_DISRUPTION_ASK_H
#define RECONCILER_DISRUPTION_ASK_H

#include "planner/disruption/validate.h"

struct pass;
struct command;

/* Whether a consolidation that has waited still stands. */
enum disruption_validity ask_validity(struct pass *p, const struct command *c);
/* One did not. */
void ask_rejected(struct pass *p, enum disruption_method m);
/* Rows that a command has, or that we have asked to leave. */
const uint64_t *ask_queued(struct arena *a, const struct pass *p);
/* Rows that pods are about to come to, or that no command is to have for a while. */
const uint64_t *ask_nominated(struct arena *a, struct pass *p);
struct asking;
/* But for a question that is being answered. */
void ask_forget(struct asking *a);
/* Drops the question that is being answered; false: the worker has not let go of it yet. */
bool ask_is_idle(struct asking *a);

#endif
