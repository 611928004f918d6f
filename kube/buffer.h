/* buffer: a CapacityBuffer (autoscaling.x-k8s.io/v1beta1), room that is kept free for pods to come, and
 * the PodTemplate that it may point at (spec api 1.9). */
#ifndef KUBE_BUFFER_H
#define KUBE_BUFFER_H

#include "kube/pod.h"

struct capacity_buffer {
    struct meta meta;
    struct span pod_template; /* podTemplateRef.name, of the same namespace; absent: none */
    bool has_scalable;        /* scalableRef */
    struct span scalable_group, scalable_kind, scalable_name;
    bool has_replicas, has_percentage;
    int32_t replicas, percentage;
    struct resources limits; /* none: no limit */
    struct span strategy;    /* provisioningStrategy, never interpreted */
    /* status */
    struct conditions conditions;
    bool has_status_replicas, has_template_generation;
    int32_t status_replicas;
    int64_t template_generation;
    struct span status_template, status_strategy;
};

struct pod_template {
    struct meta meta;
    struct pod template;
};

extern const struct schema capacity_buffer_schema, pod_template_object_schema;

#endif
