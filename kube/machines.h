/* machines: what is read of Cluster API's objects (cluster.x-k8s.io, v1beta1 and v1beta2, whose differences do not show in
 * it), and the node class of NodePools on it. Annotations are those of Cluster API, of Cluster Autoscaler's capacity and our
 * own alone. */
#ifndef KUBE_MACHINES_H
#define KUBE_MACHINES_H

#include "kube/meta.h"

struct machine_group { /* MachineDeployment, MachineSet, MachinePool */
    struct meta meta;
    struct span cluster; /* spec.clusterName */
    bool has_replicas;
    int32_t replicas, status_replicas;
    struct label_selector selector;  /* of its Machines; not of a MachinePool */
    struct sym_pairs machine_labels; /* spec.template.metadata.labels */
    struct taints taints;            /* spec.template.spec.taints */
    struct spans ids;                /* spec.providerIDList */
};

struct cluster_machine { /* Machine */
    struct meta meta;
    struct span cluster, provider_id; /* spec */
    struct span node;                 /* status.nodeRef.name; absent: none yet */
    struct span phase, failure;       /* status.phase, failureMessage (of v1beta2: below deprecated) */
};

/* ClusterAPINodeClass (karpenter.cluster.x-k8s.io/v1alpha1), as karpenter-provider-cluster-api v0.2.0 has it. */
struct cluster_api_node_class {
    struct meta meta; /* begins as struct node_class does */
    struct conditions conditions;
    struct label_selector selector; /* spec.scalableResourceSelector, of MachineDeployments; absent: any */
};

extern const struct schema machine_group_schema, cluster_machine_schema, cluster_api_node_class_schema;

#endif
