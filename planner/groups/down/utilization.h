/* utilization: how much of a node its pods ask for, as Cluster Autoscaler counts it (spec node-groups 4.3). */
#ifndef PLANNER_GROUPS_DOWN_UTILIZATION_H
#define PLANNER_GROUPS_DOWN_UTILIZATION_H

#include "kube/node.h"
#include "kube/pod.h"

struct utilization_policy {
    /* Such pods are not counted, and what they ask for is no part of the node either. */
    bool ignore_daemon_sets, ignore_mirror_pods;
    wall_ms now;
};

/* Of a node with GPUs (`gpu`, a resource, is not SYM_NONE) that of its GPUs alone, 0 when none is there yet; else the
 * greater of CPU and memory. False: the node has none of either, and nothing can be said. */
bool utilization_of(const struct utilization_policy *policy, const struct node *n, sym gpu,
                    const struct pod *const *pods, uint32_t pod_count, double *out);

#endif
