/* kind: every kind that Stowage reads or writes, in one table: where it lives, how it decodes. */
#ifndef KUBE_KIND_H
#define KUBE_KIND_H

#include "base/decode.h"
#include "kube/meta.h"

enum kind {
    KIND_POD,
    KIND_NODE,
    KIND_NODE_CLAIM,
    KIND_NODE_POOL,
    KIND_KWOK_NODE_CLASS,
    KIND_DAEMON_SET,
    KIND_DISRUPTION_BUDGET,
    KIND_NAMESPACE,
    KIND_VOLUME_CLAIM,
    KIND_VOLUME,
    KIND_STORAGE_CLASS,
    KIND_CSI_NODE,
    KIND_SERVICE,
    KIND_REPLICA_SET,
    KIND_STATEFUL_SET,
    KIND_REPLICATION_CONTROLLER,
    KIND_NODE_OVERLAY, /* with the gate NodeOverlay only */
    KIND_CAPACITY_BUFFER, /* this and the next two with the gate CapacityBuffer only; */
    KIND_POD_TEMPLATE,    /* templates for ProvisioningRequests, too */
    KIND_DEPLOYMENT,
    KIND_VOLUME_ATTACHMENT,
    KIND_JOB, /* with node groups only: whether there is one; in files all of it */
    KIND_PROVISIONING_REQUEST, /* with node groups and --enable-provisioning-requests only */
    KIND_CAPACITY_QUOTA, /* with node groups and --capacity-quotas-enabled only */
    KIND_MACHINE_DEPLOYMENT, /* Cluster API's, with node groups of that provider only */
    KIND_MACHINE_SET,
    KIND_MACHINE_POOL,
    KIND_MACHINE,
    KIND_CLUSTER_API_NODE_CLASS, /* of NodePools whose machines are those of MachineDeployments */
    KIND_STORED_COUNT, /* the kinds above are watched and stored */
    /* written or asked for by name only */
    KIND_EVENT = KIND_STORED_COUNT,
    KIND_LEASE,
    KIND_SECRET,
    KIND_VALIDATING_WEBHOOK,
    KIND_MUTATING_WEBHOOK,
    KIND_OWN_ACCESS,     /* may we? created, never stored */
    KIND_ACCOUNT_ACCESS, /* may another? */
    KIND_CRON_JOB,
    KIND_CONFIG_MAP, /* of node groups: the priority expander's, and the status */
    KIND_DEFINITION, /* a CustomResourceDefinition */
    KIND_SERVICE_ACCOUNT,
    KIND_NETWORK_POLICY,
    KIND_VERSION, /* of the API server: no object, but what GET answers at /version */
    KIND_COUNT,
    KIND_NONE = KIND_COUNT,
};

struct kind_info {
    const char *api_version; /* "v1", "karpenter.sh/v1" */
    const char *name;        /* "Pod" */
    const char *plural;      /* "pods" */
    bool namespaced;
    const struct schema *schema; /* NULL: not decoded into a struct */
};

const struct kind_info *kind_info(enum kind k);
/* Its definition comes with a feature gate, with Cluster API or with its pools: a cluster may lack it, and then has no such objects. */
bool kind_is_optional(enum kind k);
/* One of NodePools and their machines: a cluster with node groups alone lacks the definitions of all of these. */
bool kind_is_of_pools(enum kind k);
bool kind_is_machines(enum kind k); /* of Cluster API */
/* The version that older clusters have of it instead, and that decodes alike; NULL: none. */
const char *kind_older(enum kind k);
enum kind kind_find(struct span api_version, struct span name); /* KIND_NONE when unknown */
/* The same in another version of the group: that of a NodePool of karpenter.sh/v1beta1. */
enum kind kind_find_group(struct span api_version, struct span name);
/* For kubectl-like texts: "Pod web/api-0", "NodePool general". */
struct span kind_object_name(struct arena *a, enum kind k, const struct meta *m);

#endif
