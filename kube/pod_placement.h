/* pod_placement: what a Pod says of where it goes, without what it runs.
 *
 * A review that changes where a Pod goes reads nothing else: containers, volumes and status are skipped, and requests are not
 * added up. */
#ifndef KUBE_POD_PLACEMENT_H
#define KUBE_POD_PLACEMENT_H

#include "kube/pod.h"

/* Fills meta, node, scheduler, priority, node_selector, tolerations and affinity of a struct pod, as pod_schema does; the rest
 * is zeroed. */
extern const struct schema pod_placement_schema;

#endif
