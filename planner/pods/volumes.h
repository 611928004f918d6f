/* volumes: what a pod's volumes ask of a node, and what a node can attach.
 *
 * Three questions, answered from PersistentVolumeClaims, PersistentVolumes, StorageClasses and CSINodes
 * as Karpenter v1.15.0 answers them: is the pod fit to be planned at all; where may its node be; how many
 * volumes does it attach, driver by driver.
 *
 * - Where: a list of alternatives, each a set of requirements on the node (never on the pod: spread counts
 *   the pod's own constraints only). One of them must hold. A volume allows one alternative for each term
 *   of its PersistentVolume's node affinity, or of its StorageClass's allowedTopologies while it is
 *   unbound; one that is being made for a Node (volume.kubernetes.io/selected-node, which kube-scheduler
 *   refuses to pass over) allows that one alone, as long as it is there, whose end its provisioner sees, too.
 *   The volumes of a pod are combined, each with each, what cannot be true at once left out. If
 *   nothing can, all combinations stay: no node will ever suit, and the refusal says why.
 * - How many: distinct claims. A claim that several pods use counts once a node, so it has a number of its
 *   own; all others are just counted. Drivers that nobody limits are left out.
 *
 * Built and asked while the world is built, by one thread; answers live in the arena and do not change. Worlds that
 * are made from it by delta recall what was worked out then.
 * A pod without claims costs one comparison. Only a pod that is to be placed needs volumes_of; of those
 * that stand somewhere only what they have attached counts (volumes_in_use), and without a limited driver
 * not even that. */
#ifndef PLANNER_PODS_VOLUMES_H
#define PLANNER_PODS_VOLUMES_H

#include "kube/requirement.h"
#include "planner/intern.h"
#include "planner/pods/object_index.h"
#include "planner/world.h"

/* A pod with more keeps the first ones: each is one more try at every node. */
enum { VOLUMES_ALTERNATIVES_MAX = 256 };

struct volume_use { /* of one CSI driver */
    sym driver;
    uint32_t own;           /* distinct claims that no other pod uses */
    const uint32_t *shared; /* numbers of claims that several pods use: 0 to shared_count - 1 of struct
                               volumes; sorted, unique */
    uint32_t shared_count;
};

struct volume_uses { /* by the driver's name */
    const struct volume_use *items;
    uint32_t count;
};

struct volume_need {
    /* Why a pending pod is left out of the pass (reason Ignored): a sentence with its fix. Pods of leaving
     * nodes are not validated. Absent: valid. */
    struct span invalid;
    struct span error; /* why every attempt fails: an object that is not there. Absent: none */
    const struct requirements *alternatives; /* in the order of trying */
    uint32_t alternative_count;              /* 0: anywhere */
    const struct volume_use *uses;           /* as struct volume_uses */
    uint32_t use_count;
    /* Numbers of shared claims that are still unbound. All pods with the same number must land in one
     * zone: the volume is made where the first of them goes. Sorted, unique. */
    const uint32_t *unbound;
    uint32_t unbound_count;
};

struct volume_facts;

struct volumes {
    struct arena *arena;
    struct symtab *syms;
    struct object_index claims, volumes, classes, csi_nodes, nodes;
    struct syms unsupported_drivers, unsupported_topology_keys;
    struct volume_facts *facts; /* by claim */
    uint32_t *users;            /* by claim: pods that are not terminal, of claims where sharing matters */
    struct intern stated;       /* terms of volumes and classes, as alternatives */
    struct volume_alternatives {
        const struct requirements *items;
        uint32_t count;
    } * alternatives; /* by their number in `stated` */
    uint32_t alternatives_capacity;
    struct intern counted; /* what is attached together */
    struct volume_uses *uses; /* by its number in `counted` */
    uint32_t uses_capacity;
    struct volume_used { /* room for the claims of one question: the driver's place, the number */
        uint32_t rank, shared;
    } * used;
    uint32_t used_count, used_capacity;
    uint32_t serial;            /* of the question being answered */
    uint32_t shared_count;      /* claims that several pods use, where that makes a difference */
    sym *drivers;               /* those that some CSINode or instance type limits, by name */
    uint32_t driver_count;
};

/* Pods that are not terminal count as users of their claims. Writes to the symbol table. */
void volumes_init(struct volumes *v, struct arena *a, const struct world_input *in);

struct volume_need volumes_look_up(struct volumes *v, const struct pod *p);
static inline struct volume_need volumes_of(struct volumes *v, const struct pod *p)
{
    if (p->volumes.count == 0)
        return (struct volume_need){0};
    return volumes_look_up(v, p);
}

/* What the pods of one node have attached together. A driver's count is own + shared_count. Claims that
 * cannot be looked up count nothing. */
struct volume_uses volumes_in_use(struct volumes *v, const struct pod *const *pods, size_t count);

/* The same of what was worked out before, without a word written but in `a`; false when something was not. */
bool volumes_recall(const struct volumes *v, struct arena *a, const struct pod *p, struct volume_need *out);
struct volume_uses volumes_recall_in_use(const struct volumes *v, struct arena *a, const struct pod *const *pods,
                                         size_t count);
/* The pod comes (by 1) or goes (by -1), in `users`, which is the caller's own. False when some claim is another pod's
 * too, before or after: who shares what has numbers, which only a build gives. */
bool volumes_move_user(const struct volumes *v, const struct pod *p, int by);

/* A volume is being made for the Node: pods with its claim know that Node's hostname. */
bool volumes_made_for(const struct volumes *v, struct span node_name);
/* Every driver that the CSINode limits is limited already; and every one that was is still, by some CSINode or type. */
bool volumes_knows_drivers(const struct volumes *v, const struct csi_node *n);
bool volumes_drivers_stay(const struct volumes *v, const struct catalogue *c);

/* What the node publishes; NULL: nothing yet, or it has no name yet. */
const struct csi_node *volumes_csi_node(struct volumes *v, struct span node_name);

/* How many volumes of the driver a node can attach; INT64_MAX: unlimited. What its CSINode publishes wins,
 * also when that is no limit; the type (NULL: unknown) speaks for drivers not published, so for a node that
 * is new or still to be bought (csi_node NULL) it is the type alone. */
int64_t volumes_node_limit(sym driver, const struct csi_node *csi_node,
                           const struct instance_type *type);

#endif
