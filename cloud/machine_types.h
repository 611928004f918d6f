/* machine_types: the MachineDeployments of Cluster API as instance types, for NodePools of node class ClusterAPINodeClass
 * (karpenter.cluster.x-k8s.io; as karpenter-provider-cluster-api v0.2.0 has it). Pure.
 *
 * A pool is offered the MachineDeployments that its class's selector matches and that carry the label
 * node.cluster.x-k8s.io/karpenter-member, unless they are paused, are being deleted, or put a taint on their nodes that the
 * pool does not state. A MachineDeployment is one offering, on demand unless its labels say otherwise, in the zone that they
 * say; it is there while it has fewer machines than its maximum size (no annotation: no limit). Several that differ in
 * nothing but zone, capacity type, price and size, are one type, named by the label node.kubernetes.io/instance-type; where
 * that is missing, or another of that name is unlike, the type has the MachineDeployment's name.
 *
 * The price is that of annotation stowage.dev/price, dollars an hour; else that of the listed type of this name in this
 * zone and capacity type, or in any zone; else as the built-in catalogue reckons CPUs and memory. A new node has all of
 * the capacity that the annotations say, and every label of the MachineDeployment: one that some MachineDeployment has and
 * this one has not, its nodes do not have.
 *
 * What is wrong with one MachineDeployment leaves that one out, and is told once. */
#ifndef CLOUD_MACHINE_TYPES_H
#define CLOUD_MACHINE_TYPES_H

#include "kube/instance_type.h"
#include "kube/machines.h"
#include "kube/node.h"
#include "kube/node_groups.h"

#define MACHINE_CLASS_GROUP "karpenter.cluster.x-k8s.io"
#define MACHINE_CLASS_KIND "ClusterAPINodeClass"
#define MACHINE_MEMBER_LABEL "node.cluster.x-k8s.io/karpenter-member"
#define MACHINE_PRICE_KEY GROUP_PRICE_KEY

struct machine_supply { /* objects of one table of symbols */
    const struct symtab *syms;
    const struct cluster_api_node_class *const *classes;
    size_t class_count;
    const struct machine_group *const *deployments; /* by namespace and name */
    size_t deployment_count;
    const struct node_pool *const *pools;
    size_t pool_count;
    const struct catalogue *prices; /* of table `price_syms`; NULL: none are listed */
    const struct symtab *price_syms;
    struct span default_arch; /* of who says none; absent: amd64 */
    /* Has it a machine that nobody has? Then it is to be had at its maximum size, too. NULL: nobody knows. */
    bool (*spare)(void *user, const struct machine_group *group);
    void *spare_user;
};

struct machine_offer { /* a MachineDeployment as an offering */
    const struct machine_group *group;
    const struct node *node; /* a new one: labels, taints, capacity */
    sym name, zone, capacity_type; /* name: of its label, or its own; zone: SYM_EMPTY where none is said */
    double price;
    bool available;
};

/* "MachineDeployment apps/md: annotation …: what is wrong; what to write". The text lives in the arena. */
typedef void machine_aside(void *user, struct span text);

bool machine_class_serves(const struct node_class_ref *ref);
/* Sorted by name, each type for one pool (node_pools); of a pool whose class is not there nothing is listed. In `a`, interned
 * into `syms`. offers_out (may be NULL): of each type its offerings, in their order. */
void machine_types(struct arena *a, const struct machine_supply *from, struct symtab *syms, machine_aside *aside, void *user,
                   struct catalogue *out, const struct machine_offer *const *const **offers_out);

#endif
