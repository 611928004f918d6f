/* storage: the kinds that say where a pod's volumes are and how many a node can attach. Only what
 * decides about nodes is read; of their metadata identity, version and deletion. */
#ifndef KUBE_STORAGE_H
#define KUBE_STORAGE_H

#include "kube/pod.h"

/* v1 PersistentVolumeClaim. */
struct volume_claim {
    struct meta meta;        /* annotations: pv.kubernetes.io/bind-completed, volume.kubernetes.io/selected-node */
    struct span volume;      /* spec.volumeName; empty: unbound */
    sym storage_class;       /* spec.storageClassName; SYM_NONE or SYM_EMPTY: none */
    bool lost;               /* status.phase is Lost */
};

/* v1 PersistentVolume. */
struct volume {
    struct meta meta;
    sym driver;              /* spec.csi.driver; SYM_NONE: not a CSI volume */
    bool is_ebs;             /* spec.awsElasticBlockStore: in-tree, attached by CSI since 1.23 */
    bool is_local;           /* spec.local or spec.hostPath: its hostname is that of a node to be replaced */
    bool has_affinity;       /* spec.nodeAffinity.required */
    struct node_terms affinity;
};

struct topology_term { /* of allowedTopologies: key In values, ANDed */
    struct expressions expressions;
};

struct topology_terms { /* ORed */
    struct topology_term *items;
    uint32_t count;
};

/* storage.k8s.io/v1 StorageClass. */
struct storage_class {
    struct meta meta; /* annotation: storageclass.kubernetes.io/is-default-class */
    sym provisioner;
    bool waits; /* volumeBindingMode WaitForFirstConsumer; absent is Immediate, as the API server fills in */
    struct topology_terms topologies;
};

struct csi_driver {
    sym name;
    bool has_limit; /* allocatable.count is there; else the driver is published and unlimited */
    int32_t limit;
};

struct csi_drivers {
    struct csi_driver *items;
    uint32_t count;
};

/* storage.k8s.io/v1 CSINode, named like its Node. */
struct csi_node {
    struct meta meta;
    struct csi_drivers drivers;
};

/* storage.k8s.io/v1 VolumeAttachment. */
struct volume_attachment {
    struct meta meta;
    sym node;           /* spec.nodeName */
    struct span volume; /* spec.source.persistentVolumeName; empty: an inline volume */
};

bool volume_claim_is_bound(const struct volume_claim *c); /* the binding is complete, not just begun */
/* The Node for which the scheduler has the volume made; absent: it has chosen none yet. */
struct span volume_claim_selected_node(const struct volume_claim *c);
bool storage_class_is_default(const struct storage_class *c); /* that of claims which name none */

extern const struct schema volume_claim_schema, volume_schema, storage_class_schema,
    csi_node_schema, volume_attachment_schema;

#endif
