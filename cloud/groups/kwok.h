/* kwok: node groups whose machines are Node objects, kept alive by the kwok controller; configured as Cluster
 * Autoscaler's provider of that name is (spec node-groups 2.8): a configuration of apiVersion v1alpha1, from ConfigMap
 * kwok-provider-config, key "config", or a file, and template Nodes, from the ConfigMap that it names, key "templates", or a
 * file; or the cluster's own Nodes are the templates (readNodesFrom: cluster).
 *
 * A group is the templates of one value of the label or annotation that the configuration names; the first is its shape
 * and has its bounds in annotations cluster-autoscaler.kwok.nodegroup/min-count and max-count (absent: 0 and 200). A Node
 * is a machine of the group when it says so (annotation …/name, else the label), is fake (kwok.x-k8s.io/node) and has
 * providerID "kwok:" and its name: a NodeClaim's has "kwok://" and is never one. desired-count is only checked: Cluster
 * Autoscaler forgets it before it is ever asked.
 *
 * Where it differs from Cluster Autoscaler's:
 * - A Node is named after its group and the least free ordinal, not at random: a name that is taken by one of the group's
 *   own means that an earlier call was not seen yet, and counts as made. The name is in lower case, "_" is "-".
 * - Each Node has its own kubernetes.io/hostname, and neither the addresses, conditions, podCIDR, owners nor finalizers of
 *   its template; nor has it taints that a Node gets and loses again.
 * - A template that is wrong sets its group aside and is told; Cluster Autoscaler ends, or says nothing.
 * - All Nodes of a removal are looked at before any is deleted.
 * - Grouping by kubernetes.io/hostname is refused: each Node would be a group. Of the cluster's Nodes as templates only
 *   labels group: other programs' annotations are not kept of each Node.
 * - Groups of the cluster's Nodes are found as long as the process lives, not as it starts; a group once found stays.
 * - Nodes stay when the process ends.
 * - The ConfigMaps are in the namespace of Cluster Autoscaler's others, not in that of the Pod. One that is missing or wrong
 *   is waited for, where Cluster Autoscaler ends. What has been read holds until the process ends, as there.
 * On a template 100m of CPU are not free, for a kube-proxy, as there.
 *
 * Memory: a template for each group, some bytes for each machine that was asked for and is not seen in a snapshot yet.
 * Any thread may call the operations; look and asides belong to one. */
#ifndef CLOUD_GROUPS_KWOK_H
#define CLOUD_GROUPS_KWOK_H

#include "cloud/group_provider.h"
#include "kube/api.h"

#define GROUP_KWOK_CONFIG_MAP "kwok-provider-config" /* unless environment KWOK_PROVIDER_CONFIGMAP names another */
#define GROUP_KWOK_TEMPLATES_MAP "kwok-provider-templates" /* as its examples name it; the configuration says */
#define GROUP_KWOK_CONFIG_KEY "config"
#define GROUP_KWOK_TEMPLATES_KEY "templates" /* whatever configmap.key says, which Cluster Autoscaler does not read */

enum { GROUP_KWOK_MAX = 200 }; /* maximum size of a group that does not say */

struct group_kwok_text {
    struct span text; /* YAML or JSON */
    struct span from; /* for messages: "ConfigMap kube-system/kwok-provider-config, key config", "templates.yaml" */
};

struct group_kwok_config {
    bool from_cluster;        /* readNodesFrom: cluster */
    bool by_annotation;       /* nodegroups.fromNodeAnnotationKey, not fromNodeLabelKey */
    struct span key;          /* which of them */
    bool skip_taint;          /* nodes.skipTaint: no kwok-provider=true:NoSchedule */
    struct span gpu_label;    /* nodes.gpuConfig.gpuLabelKey; absent: none */
    struct span templates_map; /* configmap.name, in the namespace of the configuration's own; absent with from_cluster */
};

/* In `a`. ERR_INVALID names text, line, field, and what to write. */
bool group_kwok_read(struct arena *a, const struct group_kwok_text *text, struct group_kwok_config *out, struct err *err);

/* What becomes of one more machine. */
enum group_kwok_fate {
    GROUP_KWOK_COMES,
    GROUP_KWOK_FAILS,           /* the call fails (ERR_RETRY): no machine, nothing asked for */
    GROUP_KWOK_NEVER_MADE,      /* asked for, and no machine comes of it: to be withdrawn */
    GROUP_KWOK_NEVER_REGISTERS, /* a machine that is paid for, of which no Node ever comes */
    GROUP_KWOK_BREAKS,          /* a machine that could not be made: INSTANCE_CREATING with an error */
};

struct group_kwok_options {
    struct api *api;
    /* Absent: the two that follow say it all. Else the ConfigMaps are read, this one and that of templates beside it, from
     * group_kwok_new on and by each look until they could be; a look fails until then (ERR_RETRY: they are being read). Both
     * outlive the provider. */
    struct span config_map, maps_ns;
    struct group_kwok_config config; /* copied */
    struct group_kwok_text templates; /* copied; not looked at with from_cluster */
    /* For tests and simulations; NULL: always, and all come. Called within resize, under a lock: they call nothing of the
     * provider's. */
    bool (*in_stock)(void *user, struct span group, int32_t more);
    /* Of the machine that will be this Node; *error_out (of GROUP_KWOK_BREAKS; zero before) has spans that outlive the provider. */
    enum group_kwok_fate (*fate)(void *user, struct span group, struct span node, struct group_error_info *error_out);
    void *user;
};

/* NULL: the templates as a whole cannot be read; err names text and line. */
struct group_provider *group_kwok_new(const struct group_kwok_options *options, struct err *err);

#endif
