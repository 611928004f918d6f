/* pod_placement: the fields of a Pod that decide its node, without its containers.
 *
 * A review that changes a Pod's placement reads nothing else: containers, volumes and status are skipped, and requests are not
 * added up. */
#ifndef KUBE_POD_PLACEMENT_H
#define KUBE_POD_PLACEMENT_H

#include "kube/pod.h"

/* Fills meta, node, scheduler, priority, node_selector, tolerations and affinity of a struct pod, as pod_schema does; the rest
 * is zeroed. */
extern const struct schema pod_placement_schema;

#endif
