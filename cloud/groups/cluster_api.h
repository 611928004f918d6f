/* cluster_api: node groups that are the MachineDeployments, MachineSets and MachinePools of a Cluster API management cluster,
 * by what Cluster Autoscaler's provider clusterapi goes by (spec node-groups 2.6): the annotations for bounds, capacity,
 * labels, taints and options, the scale subresource, and the annotation delete-machine. A group is named
 * Kind/namespace/name. One that a person paused, or whose maximum is 0, is none; nor is a MachineSet of a MachineDeployment.
 *
 * A machine is known by the providerID of its Node where it has one, else by its own, else as pending-machine-NS_NAME or
 * failed-machine-NS_NAME. It is being made until it has a nodeRef, could not be made when its phase is Failed by then, and
 * ends when it is deleted or chosen to be.
 *
 * Where it differs from Cluster Autoscaler's:
 * - A size is written with the version of the scale that it was decided by: what somebody else wrote meanwhile is not lost,
 *   and a call whose answer was lost and that comes again changes nothing.
 * - Machines of one removal are all marked before the size is lowered once. A mark that an earlier process left is taken back
 *   before, so that it does not choose.
 * - What is wrong with one group sets that one aside, and is told; there no group is seen then.
 * - Labels that reach Nodes are read where Cluster API has them, in spec.template.metadata.
 * - Nothing is read of infrastructure templates (status.capacity), nor of resource claims and CSI drivers: without the
 *   annotations for CPU and memory a group has no template until it has a node.
 * - The API group is cluster.x-k8s.io (no CAPI_GROUP).
 *
 * Memory: some bytes for each group, each machine of the last look, and each machine that was removed and is still there.
 * Any thread may call the operations; look and asides belong to one. */
#ifndef CLOUD_GROUPS_CLUSTER_API_H
#define CLOUD_GROUPS_CLUSTER_API_H

#include "base/share.h"
#include "cloud/group_provider.h"
#include "kube/api.h"
#include "kube/node.h"

struct cluster_api_selector { /* --node-group-auto-discovery=clusterapi:namespace=…,clusterName=…,label=value */
    struct span ns, cluster;  /* absent: any */
    struct plain_labels labels;
};

struct cluster_api_bounds { /* --nodes=min:max:Kind/namespace/name */
    int32_t min, max;
    struct span group;
};

struct cluster_api_options {
    struct api *api; /* the management cluster's */
    /* Publishes struct snapshot of the management cluster, with cluster_api_kinds in it; NULL: it is the cluster that look
     * sees. While one of them is not listed yet, or its watch is broken, look fails with ERR_RETRY: of machines as they
     * were nothing is decided. */
    struct share *management;
    const struct cluster_api_selector *selectors; /* a group has to suit one of them; none: all do. Copied, */
    uint32_t selector_count;
    const struct cluster_api_bounds *bounds; /* and so are these: none but these groups, and these bounds; none: annotations say */
    uint32_t bounds_count;
    struct span default_arch; /* CAPI_SCALE_ZERO_DEFAULT_ARCH; absent: amd64 */
};

/* ERR_INVALID names the part that is wrong and what to write. In `a`. */
bool cluster_api_selector_parse(struct arena *a, struct span text, struct cluster_api_selector *out, struct err *err);
bool cluster_api_bounds_parse(struct arena *a, struct span text, struct cluster_api_bounds *out, struct err *err);

extern const enum kind cluster_api_kinds[]; /* ends with KIND_NONE */

struct group_provider *cluster_api_new(const struct cluster_api_options *options);

#endif
