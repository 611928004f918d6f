#include "kube/kind.h"

#include "kube/buffer.h"
#include "kube/capacity_quota.h"
#include "kube/machines.h"
#include "kube/node.h"
#include "kube/overlay.h"
#include "kube/pod.h"
#include "kube/provisioning_request.h"
#include "kube/storage.h"
#include "kube/workload.h"

static const struct kind_info infos[KIND_COUNT] = {
    [KIND_POD] = {"v1", "Pod", "pods", true, &pod_schema},
    [KIND_NODE] = {"v1", "Node", "nodes", false, &node_schema},
    [KIND_NODE_CLAIM] = {"karpenter.sh/v1", "NodeClaim", "nodeclaims", false, &node_claim_schema},
    [KIND_NODE_POOL] = {"karpenter.sh/v1", "NodePool", "nodepools", false, &node_pool_schema},
    [KIND_KWOK_NODE_CLASS] = {"karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "kwoknodeclasses",
                              false, &kwok_node_class_schema},
    [KIND_DAEMON_SET] = {"apps/v1", "DaemonSet", "daemonsets", true, &daemon_set_schema},
    [KIND_DISRUPTION_BUDGET] = {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true,
                                &disruption_budget_schema},
    [KIND_NAMESPACE] = {"v1", "Namespace", "namespaces", false, &namespace_schema},
    [KIND_VOLUME_CLAIM] = {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", true,
                           &volume_claim_schema},
    [KIND_VOLUME] = {"v1", "PersistentVolume", "persistentvolumes", false, &volume_schema},
    [KIND_STORAGE_CLASS] = {"storage.k8s.io/v1", "StorageClass", "storageclasses", false,
                            &storage_class_schema},
    [KIND_CSI_NODE] = {"storage.k8s.io/v1", "CSINode", "csinodes", false, &csi_node_schema},
    [KIND_SERVICE] = {"v1", "Service", "services", true, &service_schema},
    [KIND_REPLICA_SET] = {"apps/v1", "ReplicaSet", "replicasets", true, &controller_schema},
    [KIND_STATEFUL_SET] = {"apps/v1", "StatefulSet", "statefulsets", true, &controller_schema},
    [KIND_REPLICATION_CONTROLLER] = {"v1", "ReplicationController", "replicationcontrollers", true,
                                     &replication_controller_schema},
    [KIND_NODE_OVERLAY] = {"karpenter.sh/v1alpha1", "NodeOverlay", "nodeoverlays", false,
                           &node_overlay_schema},
    [KIND_CAPACITY_BUFFER] = {"autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "capacitybuffers",
                              true, &capacity_buffer_schema},
    [KIND_POD_TEMPLATE] = {"v1", "PodTemplate", "podtemplates", true, &pod_template_object_schema},
    [KIND_DEPLOYMENT] = {"apps/v1", "Deployment", "deployments", true, &controller_schema},
    [KIND_VOLUME_ATTACHMENT] = {"storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", false,
                                &volume_attachment_schema},
    [KIND_PROVISIONING_REQUEST] = {"autoscaling.x-k8s.io/v1", "ProvisioningRequest", "provisioningrequests", true,
                                   &provisioning_request_schema},
    [KIND_CAPACITY_QUOTA] = {"autoscaling.x-k8s.io/v1beta1", "CapacityQuota", "capacityquotas", false, &capacity_quota_schema},
    [KIND_MACHINE_DEPLOYMENT] = {"cluster.x-k8s.io/v1beta2", "MachineDeployment", "machinedeployments", true,
                                 &machine_group_schema},
    [KIND_MACHINE_SET] = {"cluster.x-k8s.io/v1beta2", "MachineSet", "machinesets", true, &machine_group_schema},
    [KIND_MACHINE_POOL] = {"cluster.x-k8s.io/v1beta2", "MachinePool", "machinepools", true, &machine_group_schema},
    [KIND_MACHINE] = {"cluster.x-k8s.io/v1beta2", "Machine", "machines", true, &cluster_machine_schema},
    [KIND_CLUSTER_API_NODE_CLASS] = {"karpenter.cluster.x-k8s.io/v1alpha1", "ClusterAPINodeClass", "clusterapinodeclasses",
                                     false, &cluster_api_node_class_schema},
    [KIND_EVENT] = {"events.k8s.io/v1", "Event", "events", true, NULL},
    [KIND_LEASE] = {"coordination.k8s.io/v1", "Lease", "leases", true, NULL},
    [KIND_SECRET] = {"v1", "Secret", "secrets", true, NULL},
    [KIND_VALIDATING_WEBHOOK] = {"admissionregistration.k8s.io/v1",
                                 "ValidatingWebhookConfiguration",
                                 "validatingwebhookconfigurations", false, NULL},
    [KIND_MUTATING_WEBHOOK] = {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
                               "mutatingwebhookconfigurations", false, NULL},
    [KIND_OWN_ACCESS] = {"authorization.k8s.io/v1", "SelfSubjectAccessReview",
                         "selfsubjectaccessreviews", false, NULL},
    [KIND_ACCOUNT_ACCESS] = {"authorization.k8s.io/v1", "SubjectAccessReview",
                             "subjectaccessreviews", false, NULL},
    [KIND_CRON_JOB] = {"batch/v1", "CronJob", "cronjobs", true, NULL},
    [KIND_JOB] = {"batch/v1", "Job", "jobs", true, &job_name_schema},
    [KIND_CONFIG_MAP] = {"v1", "ConfigMap", "configmaps", true, NULL},
    [KIND_DEFINITION] = {"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false, NULL},
    [KIND_SERVICE_ACCOUNT] = {"v1", "ServiceAccount", "serviceaccounts", true, NULL},
    [KIND_NETWORK_POLICY] = {"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", true, NULL},
    [KIND_VERSION] = {"", "Version", "version", false, NULL},
};

const struct kind_info *kind_info(enum kind k)
{
    return &infos[k];
}

bool kind_is_optional(enum kind k)
{
    return k == KIND_NODE_OVERLAY || k == KIND_CAPACITY_BUFFER || k == KIND_CLUSTER_API_NODE_CLASS ||
           k == KIND_PROVISIONING_REQUEST || k == KIND_CAPACITY_QUOTA || kind_is_machines(k);
}

bool kind_is_machines(enum kind k)
{
    return k >= KIND_MACHINE_DEPLOYMENT && k <= KIND_MACHINE;
}

bool kind_is_of_pools(enum kind k)
{
    return k == KIND_NODE_POOL || k == KIND_NODE_CLAIM || k == KIND_KWOK_NODE_CLASS ||
           k == KIND_CLUSTER_API_NODE_CLASS;
}

const char *kind_older(enum kind k)
{
    return kind_is_machines(k) ? "cluster.x-k8s.io/v1beta1" : NULL;
}

static bool has_version(enum kind k, struct span api_version)
{
    return span_eq(api_version, span_of(infos[k].api_version)) ||
           (kind_older(k) != NULL && span_eq(api_version, span_of(kind_older(k))));
}

enum kind kind_find(struct span api_version, struct span name)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (span_eq(name, span_of(infos[k].name)) && has_version((enum kind)k, api_version))
            return (enum kind)k;
    return KIND_NONE;
}

static struct span group_of(struct span api_version)
{
    struct span version;
    struct span group = span_cut(api_version, '/', &version);
    return version.ptr != NULL ? group : (struct span){"", 0};
}

enum kind kind_find_group(struct span api_version, struct span name)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (span_eq(name, span_of(infos[k].name)) &&
            span_eq(group_of(api_version), group_of(span_of(infos[k].api_version))))
            return (enum kind)k;
    return KIND_NONE;
}

struct span kind_object_name(struct arena *a, enum kind k, const struct meta *m)
{
    if (m->ns.len == 0)
        return arena_printf(a, "%s %.*s", infos[k].name, SPAN_ARG(m->name));
    return arena_printf(a, "%s %.*s/%.*s", infos[k].name, SPAN_ARG(m->ns), SPAN_ARG(m->name));
}
