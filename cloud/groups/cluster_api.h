/* cluster_api: node groups that are the MachineDeployments, MachineSets and MachinePools of a Cluster API management cluster
 * (spec node-groups 2.6), by the annotations, the scale subresource and the delete-machine annotation that Cluster
 * Autoscaler's provider clusterapi uses. A group is named Kind/namespace/name. */
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
    /* Publishes struct snapshot of the management cluster; NULL: it is the cluster that look sees. */
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

struct group_provider *cluster_api_new(const struct cluster_api_options *options);

#endif
