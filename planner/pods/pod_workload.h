/* pod_workload: whose a pod is, as the person who wrote it calls it: of a ReplicaSet's the Deployment. */
#ifndef PLANNER_PODS_POD_WORKLOAD_H
#define PLANNER_PODS_POD_WORKLOAD_H

#include "kube/pod.h"

struct pod_workload {
    struct span kind, ns, name; /* the pod's own while nobody controls it; they live with it */
};

/* `set` is the metadata of the pod's ReplicaSet. NULL: it has none, or it is not in sight; then its Deployment goes by
 * the ReplicaSet's name, which is the Deployment's and the hash of the template. */
struct pod_workload pod_workload(const struct pod *p, const struct meta *set, const struct symtab *syms);

#endif
