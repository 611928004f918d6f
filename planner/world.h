/* world: the cluster as columns, made for asking "what fits where" a million times.
 *
 * Built by the store's writer from one snapshot's objects and published with it; immutable. Pods of
 * one shape are one class with a count: same requests, constraints and labels that some selector can
 * see. A resource vector is dense: column 0 CPU (millicores), 1 memory, 2 ephemeral storage, 3 pods,
 * then the extended resources met, in the order of their names.
 *
 * Pure: no clock. What depends on time is decided in the search, which gets `now`. */
#ifndef PLANNER_WORLD_H
#define PLANNER_WORLD_H

#include "kube/buffer.h"
#include "kube/instance_type.h"
#include "kube/kind.h"
#include "kube/node.h"
#include "kube/overlay.h"
#include "kube/storage.h"
#include "kube/workload.h"

struct world;
struct default_spread_config;

struct world_options {
    bool reserved_capacity;   /* feature gates that change what the world holds */
    bool node_overlay;
    bool capacity_buffer;
    bool buffer_pods_given;   /* offline: buffers' pods that are in the input stand for all buffers */
    bool ready_when_unstated; /* offline: a pool without a Ready condition is ready; live: it is not,
                                 and Ready must be of the current generation */
    bool all_unbound;         /* plan --all-unbound */
    bool unsplit;             /* as a scheduler sees it: no pod is given a side by its owner's split */
    bool unbound_classes;     /* pods without a node are of a class even when nothing is planned for them: to a pass of
                                 node groups gated ones may ask, and nominated ones stand on their node */
    const struct default_spread_config *default_spread; /* --scheduler-config; NULL: none. Outlives the world */
};

/* Pointers stay valid and unchanged as long as the world lives. Order does not matter: the world
 * sorts what needs an order by name. */
struct world_input {
    struct symtab *syms; /* written to while building, read afterwards */
    const struct world_options *options;
    const struct catalogue *catalogue;
    const struct pod *const *pods;
    const struct node *const *nodes;
    const struct node_claim *const *claims;
    const struct node_pool *const *pools;
    const struct daemon_set *const *daemon_sets;
    const struct disruption_budget *const *budgets; /* PodDisruptionBudgets */
    const struct volume_claim *const *volume_claims;
    const struct volume *const *volumes;
    const struct storage_class *const *storage_classes;
    const struct csi_node *const *csi_nodes;
    const struct ns *const *namespaces;
    const struct service *const *services;
    const struct controller *const *deployments; /* only for buffers */
    const struct capacity_buffer *const *buffers; /* without effect unless options->capacity_buffer */
    const struct pod_template *const *pod_templates;
    const struct node_overlay *const *overlays; /* without effect unless options->node_overlay */
    const struct controller *const *replica_sets, *const *stateful_sets,
        *const *replication_controllers;
    size_t pod_count, node_count, claim_count, pool_count, daemon_set_count, budget_count;
    size_t volume_claim_count, volume_count, storage_class_count, csi_node_count;
    size_t namespace_count, service_count, replica_set_count, stateful_set_count;
    size_t replication_controller_count, overlay_count;
    size_t deployment_count, buffer_count, pod_template_count;
};

/* Sets the list of one kind; false when the world reads none of it. The list is borrowed. */
bool world_input_take(struct world_input *in, enum kind k, const void *const *items, size_t count);

struct world *world_build(const struct world_input *in);
void world_free(struct world *w); /* NULL is fine */

const struct symtab *world_syms(const struct world *w); /* of all that it has of objects */

/* What can be bought, as the provider lists it and NodeOverlays change it. The same one as long as neither does. */
const struct catalogue *world_catalogue(const struct world *w);

/* Whether other objects of the kind, and the same pods, could make another world. */
bool world_reads(const struct world *w, enum kind k);

/* What came and went. What changed went as it was and came as it is: a pod that was bound, say. */
struct world_change {
    const struct pod *const *gone, *const *come; /* what is gone: the very objects that the world was made of */
    const struct node *const *gone_nodes, *const *nodes;
    const struct node_claim *const *gone_claims, *const *claims;
    const struct csi_node *const *gone_csi_nodes, *const *csi_nodes;
    const struct disruption_budget *const *budgets; /* all of them; NULL: the very same */
    size_t gone_count, come_count, gone_node_count, node_count, gone_claim_count, claim_count;
    size_t gone_csi_node_count, csi_node_count, budget_count;
};

/* The world after the change, in the time of the change (and of a copy of the columns that it touches)
 * instead of that of the cluster; or NULL: build it anew. It plans exactly as a world that was built of the
 * same objects. Where Nodes or NodeClaims came or went, or are others in what rows are made of, rows are put in their
 * order anew: the time is that of all rows then, but still not that of all pods.
 *
 * What only a build can take in:
 * - any other kind of object;
 * - a Node or NodeClaim in a topology domain that is new, or the last one in its domain, or the last that counts there
 *   for a spread; one for which a volume is being made; a CSINode with a driver that nobody limited before, or the last
 *   that limits one; any of these while some workload is split between spot and on-demand;
 * - the newest pod of a DaemonSet unless the newest after it asks the same;
 * - pods with volumes that share one with other pods, or lead to objects that no pod has led to; pods of StatefulSets
 *   that are over and being deleted;
 * - a pod of a new shape that states rules about other pods, has volumes, asks for a resource or a node label that
 *   nobody asked for before, or is in a new namespace while there are such rules; the last pod of a shape with rules, or
 *   of one that asks for an extended resource; a pod that asks for a split of spot and on-demand, or is in a namespace
 *   where some do;
 * - default spreads, capacity buffers.
 * And from time to time, when too many new shapes have come.
 *
 * The two worlds share memory: each may be freed first, by any thread. The objects that are gone are needed
 * by the older world alone; of the others, and of what else the first of them was built from, each world
 * needs what it would need if it had been built. */
struct world *world_delta(const struct world *w, const struct world_change *change);
/* Whether there is a change at all that it takes in. */
bool world_has_deltas(const struct world *w);

/* Whether rows of both mean the same nodes: one was made of the other by deltas that made no rows anew. Then they have
 * the same stages, labels, taints and room, and pools, types and texts are the same, too. Both are alive. */
bool world_same_rows(const struct world *a, const struct world *b);
/* Of such: the row is of other objects, or other pods stand there. Some are said to have moved that did not. */
bool world_row_moved(const struct world *before, const struct world *now, uint32_t row);

enum node_stage {
    NODE_UNMANAGED,   /* no NodeClaim */
    NODE_LAUNCHING,   /* a NodeClaim whose Node is not there yet */
    NODE_REGISTERED,  /* Node there, not initialised */
    NODE_INITIALIZED,
};

/* One node, in-flight claims included: a state node of spec provisioning 2.4. Rows are ordered
 * initialised before others, then by name. */
struct world_node {
    struct span name;       /* as plan-contract 2 names it */
    sym name_sym;           /* of the Node; SYM_NONE while it is not there */
    const struct node *node;        /* or NULL */
    const struct node_claim *claim; /* or NULL */
    enum node_stage stage;
    bool leaving;           /* spec plan-contract 1; its capacity is not used */
    bool replaced;          /* it is leaving because others have been bought in its place (kube/replaces.h) */
    /* Or is meant to: its Node is being deleted or carries karpenter.sh/disrupted, or its claim says why it is
     * disrupted. A plan may still count on it, since that can be taken back; nobody new is let onto it. */
    bool going;
    int32_t pool;           /* index of its pool, -1: none */
    double price;           /* of its offering, and what its pool says beside; NAN when unknown */
    const struct pod *const *pods; /* bound and not terminal, DaemonSet pods included; by name */
    const uint32_t *pod_classes;   /* theirs */
    uint32_t pod_count;
};

/* Pods can be bound there: it stands (also without a NodeClaim) and stays. */
static inline bool world_node_usable(const struct world_node *n)
{
    return (n->stage == NODE_UNMANAGED || n->stage == NODE_INITIALIZED) && !n->leaving;
}

uint32_t world_node_count(const struct world *w);
const struct world_node *world_node_at(const struct world *w, uint32_t row);
int32_t world_find_node(const struct world *w, struct span node_name); /* by Node name; -1 */
/* Pods that are not bound, gated or not, whose status names a node. */
const struct pod *const *world_nominated(const struct world *w, uint32_t *count_out);
int32_t world_find_claim(const struct world *w, struct span claim_name);
/* By span_hash of a Node's name. One that is not seen yet is its claim's row where the provider gives both one
 * name: a scheduler may be ahead of us, and the room that the claim's pods have there is theirs at once. */
int32_t world_find_hash(const struct world *w, uint64_t node_name_hash);
const struct pod *const *world_node_pods(const struct world *w, uint32_t row);

/* Classes. -1: the pod's shape is not in this world (it came later). */
int32_t world_class_of(const struct world *w, const struct pod *p);
/* Whether affinity or anti-affinity of some pod, required or preferred, looks at this one. `a` is scratch. */
bool world_is_looked_at(const struct world *w, struct arena *a, const struct pod *p);
/* Whether for a pod of the class one row is as good as the other in the eyes of every pod with a required rule about
 * where pods are: what must be spread, together or apart is so with it on either. */
bool world_is_alike(const struct world *w, int32_t class_id, uint32_t row, uint32_t other);
/* Whether it matters to a pod with a required rule about where pods are in which zone, rack or the like one of the class is:
 * others must be spread over them, together with it there or apart from it. */
bool world_is_minded(const struct world *w, int32_t class_id);
/* Whether a node that refuses pods of the class may take them once others are bound: they must be spread, or together. */
bool world_wavers(const struct world *w, int32_t class_id);
int32_t world_waiting_class(const struct world *w, struct span uid); /* -1: it does not wait */
int32_t world_unplanned_class(const struct world *w, struct span uid); /* of unbound_classes; -1: it is none of those */
const struct pod *world_waiting_pod(const struct world *w, struct span uid); /* NULL: as before */

/* The split of a workload's pods between spot and on-demand (pods/split.h): the side that a pod which has
 * no node yet is to go to; of a pod that came later, the one of which its workload wants the next. Who was sent
 * somewhere meanwhile counts there. NONE: either. `a` is scratch. */
enum split_side { SPLIT_NONE, SPLIT_ON_DEMAND, SPLIT_SPOT };
struct split_sent { /* a pod that was let onto one side, and is not seen there yet */
    uint64_t id; /* span_hash of its uid */
    uint64_t workload;
    enum split_side side;
    const struct pod *pod; /* of the world; NULL: it is not in it */
};
enum split_side world_split_side(const struct world *w, const struct pod *p, struct arena *a,
                                 const struct split_sent *sent, uint32_t sent_count);
/* The same of a pod that is being created, and has neither uid nor, it may be, a name: its own annotations hold. */
struct split_newcomer {
    const struct pod *pod;
    const struct meta *set;    /* the ReplicaSet that makes it; NULL: not in sight, or it is of another kind */
    const struct symtab *syms; /* continues the world's */
};
struct split_wish { /* of a newcomer */
    uint32_t base, percent;
    uint64_t workload; /* 0: it has no controller, and counts alone */
    int32_t owner;     /* -1: the world knows none of its workload */
    uint32_t pods;     /* of the workload, that the world shows */
};
/* False: it asks for no split, or says itself where it goes. `fault_out`: an annotation that cannot be read; absent: none. */
bool world_split_wish(const struct world *w, const struct split_newcomer *n, struct arena *a, struct split_wish *out,
                      struct span *fault_out);
/* `sent` are of its workload; id: span_hash of the review that decided (kube/shaped_by.h). Those that the world has by now
 * get their pod. Time: pods of the workload and `sent_count`. */
enum split_side world_split_newcomer(const struct world *w, const struct split_wish *wish, struct split_sent *sent,
                                     uint32_t sent_count);
/* The side of one of `ahead` (not 0) pods that may be created at once, independent of the sides of the others: drawn by the hash of its
 * review, which the API server chooses at random, with the chance that the formula gives spot among so many. Uses only the world. */
enum split_side world_split_draw(const struct world *w, const struct split_wish *wish, uint64_t review, uint32_t ahead);
/* Tells one workload that splits from another; 0: the pod is of none. */
uint64_t world_split_workload(const struct world *w, const struct pod *p);
/* Whether the row is on the other side. A node that does not say what it is counts as on-demand. */
bool world_split_refuses(const struct world *w, enum split_side side, uint32_t row);
/* Annotations that cannot be read: sentences with their fix, sorted. Returns how many. */
uint32_t world_split_warnings(const struct world *w, const struct span **out);

/* Room. Vectors have world_resource_count entries. */
uint32_t world_resource_count(const struct world *w);
sym world_resource_name(const struct world *w, uint32_t column);
const amount *world_allocatable(const struct world *w, uint32_t row);
const amount *world_requested(const struct world *w, uint32_t row); /* by bound pods */
const amount *world_class_requests(const struct world *w, int32_t class_id);
/* What a pod that stands in no class asks for too; volumes are counted only for those that do. The
 * vector is the world's own, or in `a`. */
const amount *world_pod_requests(const struct world *w, struct arena *a, const struct pod *p);
/* Requests of DaemonSet pods that will come to the node and are not there yet. */
const amount *world_daemons_expected(const struct world *w, uint32_t row);
bool world_daemons_come(const struct world *w, uint32_t row); /* there are such */
/* Those of at least the priority, which is that of the DaemonSet's newest pod, or else what its template says as a
 * number. In `a`. */
const amount *world_daemons_from(const struct world *w, struct arena *a, uint32_t row, int32_t priority);

/* Whether what is bound to the row and `held`, a vector of room that others own (NULL: none), leaves enough. Room for
 * DaemonSet pods that are still to come is theirs alone (`daemon`). */
bool world_has_room(const struct world *w, const amount *requests, bool daemon, uint32_t row,
                    const amount *held);

#endif
