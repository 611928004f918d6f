/* shape: what is changed in a Pod while it is being created, because the Pod or its namespace asks for it.
 *
 * - `stowage.dev/nodepool: NAME`, an annotation of the Pod, else a label of its namespace: the node selector
 *   karpenter.sh/nodepool=NAME, and a toleration of each taint of that NodePool which the Pod does not tolerate. A Pod
 *   that speaks of karpenter.sh/nodepool itself, in its node selector or required node affinity, keeps to that.
 * - `stowage.dev/scheduler: NAME`, an annotation of the Pod: its schedulerName, unless it names another than the default.
 * - `stowage.dev/on-demand-base`, `stowage.dev/spot-percent`, annotations of the Pod: one side of its workload's split
 *   (planner/pods/split.h), as a requirement in each of its required node affinity's terms, unless it says itself where it
 *   goes. Which one, what the snapshot shows and what was given to Pods that it does not show yet (sides.h) decide.
 *
 * What was done stands in the annotation `stowage.dev/shaped-by` (kube/shaped_by.h). Nothing is taken out or overwritten but
 * the default scheduler's name, and a Pod that has been shaped is left as it is. What cannot be
 * done is told in a warning, and the Pod is admitted without it: refusing Pods is nothing that a NodePool's name is worth.
 *
 * Never touched: Pods of DaemonSets and of kubelets, which have their node; Pods that a node cannot live without, or the
 * cluster (priority of system-cluster-critical and above), and Pods in their host's network, as network and storage agents
 * are. manifests/shaping/webhooks.yaml does not send them here in the first place.
 *
 * The answer depends on the review, the snapshot and, of a split, the sides that are remembered. A dry run changes nothing, and gets
 * the answer that a real one would. */
#ifndef WEBHOOK_SHAPE_H
#define WEBHOOK_SHAPE_H

#include "kube/store.h"
#include "webhook/envelope.h"
#include "webhook/sides.h"

struct shape_sources {
    const struct snapshot *snapshot; /* NULL before all was listed: no namespace and no NodePool is known */
    const struct symtab *syms;       /* made by kube_symtab_new, for that case */
    struct sides *sides;             /* of this replica */
    mono_ms now;
    bool by_namespace;               /* it is asked for the sake of the namespace's label, which has to be there */
};

/* False with ERR_INVALID: the bytes are no review (HTTP 400). */
bool webhook_shape(struct webhook_scratch *s, const struct shape_sources *sources, struct span body, struct buf *reply,
                   enum webhook_answer *answer_out, struct err *err);

#endif
