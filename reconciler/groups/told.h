/* told: what people get to know of node groups: Events under Cluster Autoscaler's reasons and in its words (spec
 * node-groups 1.11), and lines of the log. For reconciler/groups only. */
#ifndef RECONCILER_GROUPS_TOLD_H
#define RECONCILER_GROUPS_TOLD_H

#include "planner/groups/pass.h"
#include "reconciler/call.h"
#include "reconciler/decision.h"

struct pass;
struct node_view;

struct group_growth_told { /* of an order */
    struct span group;
    int32_t from, to, max;
};

/* Whom an Event about the pod is on: of one that stands for room its CapacityBuffer or ProvisioningRequest. Borrows from the pod. */
struct decision_object told_pod(const struct pod *p);

void told_grows(struct reconciler *r, const struct group_growth_told *g); /* is about to */
void told_grew(struct reconciler *r, const struct group_growth_told *g);
void told_not_grown(struct reconciler *r, const struct group_growth_told *g, const struct err *err);
/* Pods for whom groups grew: "pod triggered scale-up: [{a 1->2 (max: 5)}]". */
void told_triggered(struct reconciler *r, const struct decision_object *pods, uint32_t count, struct span groups);
/* Pods that no group takes, and why. */
void told_left(struct pass *p, const struct group_pass *decided);
void told_consuming(struct pass *p, const struct group_pass *decided); /* pods that wait for a ProvisioningRequest */
/* The status of a ProvisioningRequest could not be written. The topic: its namespace and name. */
void told_request_unwritten(struct reconciler *r, const struct call *c);
void told_failures(struct pass *p, const struct group_pass *decided); /* machines that could not be made, requests that ran out */
/* Too many nodes are not ready, or none is and that has to be waited for (gates G3, G1). */
void told_unhealthy(struct pass *p, struct span why);
void told_limit(struct pass *p); /* --max-nodes-total is reached */

/* Machines were ended, or could not be: those that never registered have an Event, those that could not be made had theirs. */
void told_repaired(struct reconciler *r, struct span group, enum group_gate why, struct span ids, const struct err *err);
void told_withdrawn(struct reconciler *r, struct span group, int32_t by, const struct err *err); /* requests that are no machines */
void told_priorities_unread(struct reconciler *r, const struct err *err); /* the ConfigMap; once */
void told_templates_unread(struct reconciler *r, const struct err *err); /* another one; the same */
void told_pass_failed(struct pass *p, struct span why); /* the pass ended early with it */
void told_aside(struct pass *p, struct span sentence);  /* of a group that is not used */

void told_removal_begins(struct pass *p, const struct node_view *n, struct span group, bool drains);
void told_removal_failed(struct pass *p, const struct node_view *n, struct span group, struct span why);
void told_evicted(struct reconciler *r, const struct call *c);
/* Of the provider's answer; the topic: name and uid of the Node, text: the group. */
void told_removed(struct reconciler *r, const struct call *c, bool drains);
void told_not_removed(struct reconciler *r, const struct call *c);

#endif
