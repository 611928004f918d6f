/* emptiness: who is to leave because nothing runs there (spec disruption 8.1), and why others stay. Each Node is judged
 * when something that its verdict was made of has changed (reconciler/disruption/kept_verdict.h); who has been empty for the whole
 * wait (8.8), the dearest first, gets a command of its own as far as budgets go: so that one which cannot be marked holds
 * nobody else up. For this folder only. */
#ifndef RECONCILER_DISRUPTION_EMPTINESS_H
#define RECONCILER_DISRUPTION_EMPTINESS_H

#include "reconciler/disruption/empty.h"
#include "reconciler/stages.h"

/* Judges, and hands commands to the queue. */
void emptiness_run(struct pass *p);
/* Instead of it, while the view is partial: no time that passes then counts as time in which a node was empty. */
void emptiness_hold(struct pass *p);
/* Whether the node of such a command still is to go. Else it is counted and told why it stays, if that is no answer by
 * itself. */
bool emptiness_stands(struct pass *p, struct node_view *n);
/* "empty for 3m, saves $0.100/h" */
struct span emptiness_sentence(struct pass *p, const struct node_claim *c, double saves);

/* stays.c: how it is said that a node stays. `news`: the answer is not that of the last pass. */
void stays_tell(struct pass *p, struct node_view *n, const struct empty_answer *x, bool news);
/* As the node of a command that is no more. */
void stays_tell_again(struct pass *p, struct node_view *n, const struct empty_answer *x);
/* Claims that have no Node cannot be disrupted: likewise. */
void stays_tell_without_node(struct pass *p);

#endif
