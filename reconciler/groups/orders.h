/* orders: what a pass wants of the groups' provider, carried out one after the other as upstream does it (spec node-groups
 * 1.5, 3.11): repairs first, then growth, which ends with the first group that cannot. For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_ORDERS_H
#define RECONCILER_GROUPS_ORDERS_H

#include "planner/groups/pass.h"

struct keeper;
struct pass;

/* There are none under way (orders_are_done). */
void orders_take(struct pass *p, const struct group_pass *decided);
/* Sends the next. In every pass of the reconciler. */
void orders_run(struct pass *p);
bool orders_are_done(const struct keeper *k);
void orders_forget(struct keeper *k);

#endif
