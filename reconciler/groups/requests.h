/* requests: what a pass over the groups made of ProvisioningRequests (planner/groups/requests.h) is written into their
 * status, and what groups did for them remembered until it stands there. For reconciler/groups only.
 *
 * All that matters outlives a leader: a new one reads the status, and where groups have grown and nothing says so yet, it
 * finds the pods' room on machines on their way. Back-off begins anew with it. */
#ifndef RECONCILER_GROUPS_REQUESTS_H
#define RECONCILER_GROUPS_REQUESTS_H

#include "planner/groups/pass.h"

struct pass;
struct reconciler;

/* In every pass of the reconciler: what is new of them brings on a pass over the groups. */
void requests_look(struct pass *p);
/* Those of the snapshot, for a world that is made in `a`; NULL: they are not asked for. */
struct capacity_requests *requests_resolve(struct pass *p, struct symtab *syms, struct arena *a);
/* What is remembered of each, before a pass; NULL is fine. */
void requests_recall(struct pass *p, struct capacity_requests *all);
/* Behind orders_take: statuses, deletions, Events. */
void requests_follow(struct pass *p, const struct group_pass *decided);
/* The growth of the pass is through, or was refused. */
void requests_grown(struct reconciler *r, bool well);

#endif
