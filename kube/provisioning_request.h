/* provisioning_request: a ProvisioningRequest (autoscaling.x-k8s.io/v1), room that somebody asks for before the pods exist
 * that will use it (spec node-groups 6.1). It points at PodTemplates of its namespace (kube/buffer.h). */
#ifndef KUBE_PROVISIONING_REQUEST_H
#define KUBE_PROVISIONING_REQUEST_H

#include "kube/meta.h"

struct request_pods { /* podSets[] */
    struct span template; /* podTemplateRef.name */
    int32_t count;
};

struct request_parameter {
    struct span key, value;
};

struct provisioning_request {
    struct meta meta;
    struct span class_name; /* provisioningClassName */
    struct {
        struct request_pods *items;
        uint32_t count;
    } pods;
    struct {
        struct request_parameter *items;
        uint32_t count;
    } parameters;
    struct conditions conditions;
};

extern const struct schema provisioning_request_schema;

struct span provisioning_request_parameter(const struct provisioning_request *r, struct span key); /* absent: it has none */

#endif
