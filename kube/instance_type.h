/* instance_type: what can be bought, as providers list it and the planner chooses from it
 * (spec api 7.1, 7.2). Immutable once listed. */
#ifndef KUBE_INSTANCE_TYPE_H
#define KUBE_INSTANCE_TYPE_H

#include "kube/requirement.h"

struct offering {
    struct requirements requirements; /* zone and capacity type at least */
    double price;                     /* per hour */
    bool available;
    int64_t reservation_capacity; /* instances left; of capacity type reserved */
    bool has_capacity_override, has_overhead_override;
    struct resources capacity_override, overhead_override;
};

struct volume_limit { /* of a new node, until its CSINode says otherwise */
    sym driver;
    int64_t count;
};

struct instance_type {
    struct span name;
    sym name_sym;
    struct requirements requirements;
    struct resources capacity;
    struct resources overhead;    /* kubeReserved + systemReserved + evictionThreshold */
    struct resources allocatable; /* capacity - overhead, memory also - hugepages */
    struct offering *offerings;
    uint32_t offering_count;
    struct volume_limit *volume_limits;
    uint32_t volume_limit_count;
    bool price_overlaid, capacity_overlaid; /* by a NodeOverlay, in some offering; in some resource */
    struct spans node_pools; /* pools that are offered this type; none: every pool */
    /* Whoever names this node class would be offered it, too, a pool that is only being written, say; absent: nobody knows. */
    struct span class_group, class_kind;
};

struct catalogue {
    struct span name; /* as sentences have it: "the built-in catalogue", "catalogue types.json" */
    bool partial;     /* nobody has said yet what there is */
    struct spans unlisted; /* pools of a provider that has not, where another one has */
    bool builtin;     /* its types and prices are nobody's */
    struct instance_type *items; /* sorted by name */
    uint32_t count;
    struct syms well_known;      /* Kubernetes', Karpenter's, the provider's and every offering key; sorted */
    const struct span *domains; /* restricted ones: karpenter.sh and the provider's own (api 2.1) */
    uint32_t domain_count;
    struct span reservation_id_label; /* absent: none */
    /* What the provider's nodes cannot have: pods whose volumes need it are left out (provisioning 1.2). */
    struct syms unsupported_drivers, unsupported_topology_keys;
};

/* What can be had for the pool is known; else what is not listed may be there. */
bool catalogue_lists(const struct catalogue *c, struct span pool);

static inline struct label_rules catalogue_rules(const struct catalogue *c)
{
    return (struct label_rules){c->well_known, c->domains, c->domain_count};
}

/* Allocatable of an offering, its overrides applied. */
struct resources offering_allocatable(struct arena *a, const struct instance_type *t,
                                      const struct offering *o, const struct symtab *syms);
bool instance_type_offered(const struct instance_type *t, struct span pool); /* to that pool */
bool offering_launchable(const struct offering *o, const struct symtab *syms); /* api 7.2 */
/* Fills allocatable. */
void instance_type_finish(struct arena *a, struct instance_type *t, const struct symtab *syms);

#endif
