/* capacity_quota: a CapacityQuota (autoscaling.x-k8s.io/v1beta1), how much nodes that its selector means may come to in all
 * (spec node-groups 6.3). Its status, which Cluster Autoscaler writes, is not read. */
#ifndef KUBE_CAPACITY_QUOTA_H
#define KUBE_CAPACITY_QUOTA_H

#include "kube/meta.h"
#include "kube/resources.h"

struct capacity_quota {
    struct meta meta;
    struct label_selector selector; /* absent or empty: of all nodes */
    struct resources limits;        /* limits.resources: of capacity, by name; "nodes" is how many there are */
};

extern const struct schema capacity_quota_schema;

/* What its selector says can be asked of a node's labels, which the definition does not check; else it limits nothing. */
bool capacity_quota_valid(const struct capacity_quota *q);

#endif
