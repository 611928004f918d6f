/* quotas: the status of CapacityQuotas, as Cluster Autoscaler's controller keeps it (spec node-groups 6.3): whether one is
 * valid, and what the nodes that it means come to. For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_QUOTAS_H
#define RECONCILER_GROUPS_QUOTAS_H

struct pass;

/* In every pass of the reconciler: whose status is being written is remembered. */
void quotas_look(struct pass *p);
/* With a pass over the groups: statuses that are not as they should be are written. */
void quotas_keep(struct pass *p);

#endif
