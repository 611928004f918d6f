/* replicas: keeps the pods of one ReplicaSet, StatefulSet or ReplicationController apart, as kube-scheduler does by
 * default (PodTopologySpread's system defaults, v1.36: kubernetes.io/hostname with maxSkew 3 and
 * topology.kubernetes.io/zone with maxSkew 5, both ScheduleAnyway, for pods without constraints of their own), so that
 * one node may be named to them. They are told by their controller, where kube-scheduler uses its selector. */
#ifndef EXTENDER_REPLICAS_H
#define EXTENDER_REPLICAS_H

#include "extender/subject.h"

/* Tells one such controller from another; 0: the pod has none, or constraints of its own. */
uint64_t replicas_controller(const struct pod *p);

/* Whether we know what default spreading has to say of the pod: nothing, or what follows from its controller. Else
 * kube-scheduler has to choose: controllers that we do not know may have a Service, by which it spreads too; and whose
 * volumes bind him to zones has no fellows of his shape, by which they are found. */
bool replicas_can_tell(const struct pod *p);

/* Adds to the scores of rows (NAN: to none) how far they are from the pod's fellows, those who were let there a moment
 * ago included: in proportion to the other scores as kube-scheduler has it, 2 to its 1 for packing and our 2. */
void replicas_part(struct arena *a, const struct extender_view *v, const struct subject *s, const int32_t *rows,
                   uint32_t count, double *scores);

#endif
