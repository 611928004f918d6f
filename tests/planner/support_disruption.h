/* support_disruption: clusters in which something may be disrupted, and what is decided of them, as text. */
#ifndef TESTS_PLANNER_SUPPORT_DISRUPTION_H
#define TESTS_PLANNER_SUPPORT_DISRUPTION_H

#include "planner/disruption/disruption.h"
#include "support_cluster.h"

#define D_NOW "2026-01-01T12:00:00Z"
#define D_TRUE(type_) "{type: " type_ ", status: \"True\", lastTransitionTime: \"2026-01-01T06:00:00Z\"}"
#define D_SINCE(type_, time_) "{type: " type_ ", status: \"True\", lastTransitionTime: \"" time_ "\"}"
/* `spec_` ends in ", " or is empty; `template_` too. */
#define D_POOL(name_, disruption_, spec_, template_)                                               \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name_ "}\n"             \
    "spec: {" spec_ "disruption: {" disruption_ "}, template: {spec: {" template_ "requirements: []}}}\n"
#define D_ANY D_POOL("default", "consolidateAfter: 0s, budgets: [{nodes: \"100%\"}]", "", "")
/* A node of a pool: Ready, initialised, of 4 CPUs. Labels, spec and metadata end in ", " or are empty; conditions begin
 * with one, or are. */
#define D_NODE_OF(name_, pool_, type_, labels_, meta_, claim_meta_, claim_spec_, conditions_, ready_)              \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {" claim_meta_ "name: " name_                      \
    ", creationTimestamp: \"2026-01-01T00:00:00Z\", labels: {" labels_                             \
    "karpenter.sh/nodepool: " pool_ ", node.kubernetes.io/instance-type: " type_ "}}\n"            \
    "spec: {" claim_spec_ "requirements: []}\nstatus: {providerID: \"x://" name_                   \
    "\", capacity: {cpu: 4, memory: 4Gi, pods: 5}, allocatable: {cpu: 4, memory: 4Gi, pods: 5}, "  \
    "conditions: [{type: Initialized, status: \"True\", lastTransitionTime: \"2026-01-01T01:00:00Z\"}" conditions_ \
    "]}\n"                                                                                         \
    "---\napiVersion: v1\nkind: Node\nmetadata: {" meta_ "name: " name_ ", creationTimestamp: \"2026-01-01T00:00:00Z\", "                            \
    "labels: {" labels_                                                                            \
    "karpenter.sh/nodepool: " pool_ ", node.kubernetes.io/instance-type: " type_                   \
    ", karpenter.sh/registered: \"true\", karpenter.sh/initialized: \"true\"}}\n"                  \
    "spec: {providerID: \"x://" name_ "\"}\nstatus: {capacity: {cpu: 4, memory: 4Gi, pods: 5}, "   \
    "allocatable: {cpu: 4, memory: 4Gi, pods: 5}, conditions: [" ready_ "]}\n"
#define D_PLACE "topology.kubernetes.io/zone: test-zone-1, karpenter.sh/capacity-type: spot, kubernetes.io/arch: amd64, "
#define D_READY "{type: Ready, status: \"True\"}"
#define D_NODE(name_, conditions_)                                                                 \
    D_NODE_OF(name_, "default", "default-instance-type", D_PLACE, "", "", "", conditions_, D_READY)
#define D_GRACE(name_, conditions_)                                                                \
    D_NODE_OF(name_, "default", "default-instance-type", D_PLACE, "", "", "terminationGracePeriod: 5m, ", conditions_, D_READY)
#define D_EMPTY ", " D_TRUE("Consolidatable")
#define D_DRIFTED ", " D_TRUE("Drifted")
#define D_POD_OF(name_, node_, cpu_, meta_, spec_, status_)                                              \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {" meta_ "name: " name_ ", namespace: default}\n"     \
    "spec: {" spec_ "nodeName: " node_ ", containers: [{name: c, resources: {requests: {cpu: " cpu_ "}}}]}\n" \
    "status: {phase: Running" status_ "}\n"
#define D_POD(name_, node_, cpu_, meta_) D_POD_OF(name_, node_, cpu_, meta_, "", "")
#define D_OWNER(kind_)                                                                             \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind_ ", name: o, uid: u, controller: true}], "
#define D_KEEP(value_) "annotations: {karpenter.sh/do-not-disrupt: \"" value_ "\"}, "
#define D_BUDGET(name_, ns_, spec_, status_)                                                       \
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " name_ ", namespace: " ns_ "}\n" \
    "spec: {" spec_ ", selector: {matchLabels: {app: x}}}\nstatus: {" status_ "}\n"

struct deciding {
    struct cluster c;
    struct disruption_options o;
    const char *nominated[4], *buffered[4], *queued[4]; /* names of nodes */
    struct disruption *d;
};

/* A cluster of `objects` (NULL: to be added), catalogue C0, at D_NOW. */
void deciding_init(struct deciding *x, const char *objects);
void deciding_release(struct deciding *x);
/* Makes the world and decides. Commands, a line each: "Drift replace n1 -> 2\n", as many replacements as there are. */
struct span deciding_commands(struct deciding *x);
/* Of the last decision: "DisruptionBlocked n1: text\n"; of a pool "pool/a"; then "error: …\n". */
struct span deciding_notes(struct deciding *x);
/* Row of a node in the world, which is there once something was decided. */
uint32_t deciding_row(const struct deciding *x, const char *node);
void deciding_world(struct deciding *x);

#endif
