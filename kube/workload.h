/* workload: the kinds that say something about pods: DaemonSets and PodDisruptionBudgets. */
#ifndef KUBE_WORKLOAD_H
#define KUBE_WORKLOAD_H

#include "kube/pod.h"

struct daemon_set {
    struct meta meta;
    struct pod template; /* spec.template: metadata, spec */
};

struct disruption_budget { /* policy/v1 PodDisruptionBudget */
    struct meta meta;
    bool has_selector;
    struct label_selector selector;
    struct span max_unavailable, min_available; /* IntOrString as text; absent: not set */
    bool evict_unhealthy;                       /* unhealthyPodEvictionPolicy AlwaysAllow */
    int32_t disruptions_allowed;
};

struct ns { /* Namespace */
    struct meta meta;
};

extern const struct schema daemon_set_schema, disruption_budget_schema, namespace_schema;

#endif
