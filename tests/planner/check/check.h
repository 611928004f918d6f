/* check: whether a plan obeys the rules, worked out from the objects alone, pod by pod, type by type
 * and offering by offering, with nothing of the planner's. Slow and simple on purpose.
 *
 * It reads the plan as its user does, as text, and says every rule that is broken in one sentence. The
 * rules are Kubernetes' own (the filters of kube-scheduler v1.36) and those of the plan contract: every
 * pod of the pass in the plan once, and without a place only if there is none; what is listed for a claim holds its pods and DaemonSet pods whatever
 * the cloud takes of it; limits, minValues, prices, cost.
 *
 * What the cloud may still choose. A claim may come up as any listed type in any offering that its
 * requirements admit. Selectors, resources, ports and attach limits are held against each of them. So
 * are spreading and pod affinity: the binding of all pods is played through for every combination of
 * values of the keys that matter (up to 64 of them; then for 64 that a fixed sequence draws). For each
 * there must be an interleaving of the claims' and nodes' lists, each kept in its order, in which every
 * pod can be bound at its turn.
 *
 * Known relaxations, where the rules are weaker than a scheduler's day:
 *   - terminating pods are gone for spreading and affinity (they hold their resources): a scheduler
 *     waits for them, and they do go;
 *   - pods that are planned away from leaving nodes are gone there before the first is bound, and their
 *     nodes stand until all are bound: their domains count for spreading;
 *   - DaemonSet pods that are still to come ask for resources and ports; they are nobody's
 *     neighbour in spreading and affinity;
 *   - a `local` or `hostPath` volume that is pinned to a host does not pin its pod, as in Karpenter
 *     v1.15.0: the volume goes with the node;
 *   - who of a split workload's pods goes to spot is the planner's to choose: the sums are checked;
 *   - a taint with an effect that no version of Kubernetes defines keeps nobody off. */
#ifndef TESTS_PLANNER_CHECK_CHECK_H
#define TESTS_PLANNER_CHECK_CHECK_H

#include "../support_cluster.h"

/* How many rules are broken; a line for each goes to `out`. The plan is JSON or YAML; the cluster is
 * the one it was made for. */
uint32_t check_text(const struct cluster *c, struct span plan, struct buf *out);

/* The same of a plan just made, read as `plan -o json` prints it. False: err has the sentences. */
bool check_plan(const struct cluster *c, const struct plan *p, struct err *err);

#endif
