/* counted: the metrics of node groups, under Cluster Autoscaler's names (spec node-groups, appendix B). For
 * reconciler/groups only. */
#ifndef RECONCILER_GROUPS_COUNTED_H
#define RECONCILER_GROUPS_COUNTED_H

#include "planner/groups/pass.h"
#include "reconciler/derive.h"

struct pass;
struct reconciler;

void counted_begins(struct pass *p);
void counted_world(struct reconciler *r, enum derive_way how);
/* Gauges, after a pass that took so many seconds (NAN: nobody measured). */
void counted_pass(struct pass *p, const struct group_pass *decided, double seconds);
void counted_error(struct reconciler *r, const char *type); /* spec 1.8: "cloudProviderError"… */
void counted_grew(struct reconciler *r, int32_t nodes);
void counted_failed(struct reconciler *r, const char *reason);
void counted_removed(struct reconciler *r, const char *reason); /* empty, underutilized, unready */

#endif
