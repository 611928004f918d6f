/* pod_check: what no API server admits in a Pod's spec, for the `check` of its schemas. Only what decides about room is
 * looked at. Private to kube/. */
#ifndef KUBE_POD_CHECK_H
#define KUBE_POD_CHECK_H

#include "base/decode.h"

typedef void pod_check(struct decode *d, struct doc_value v, const void *object);

pod_check pod_check_container_resource; /* struct resource, of its requests or limits */
pod_check pod_check_port, pod_check_container_resources, pod_check_pod_resources, pod_check_node_terms,
    pod_check_term, pod_check_spread, pod_check_spec;

#endif
