/* plan: which pods go where, what to buy for the rest, and why some have no place.
 *
 * plan_solve is pure: equal world, options and `now` give an equal plan, ties by name. Everything in
 * a plan lives in its arena or in the world it was made from. */
#ifndef PLANNER_PLAN_PLAN_H
#define PLANNER_PLAN_PLAN_H

#include "planner/world.h"

/* GREEDY has Karpenter's order and outcome; CHEAPEST starts from its plan (cheapest.h) and is never worse. */
enum search_kind { SEARCH_CHEAPEST, SEARCH_GREEDY };

/* What becomes of a pod that could use a reserved offering while all of them are taken: it waits, or
 * it takes another offering. */
enum reserved_mode { RESERVED_STRICT, RESERVED_FALLBACK };

struct reservation_credit { /* so many more instances are left of it than the catalogue says */
    struct span id;
    int64_t count;
};

/* Why the removed nodes would go. CONSOLIDATION: their pods do not go to nodes that are still within
 * their pool's consolidateAfter; pending pods and those of deleting nodes do. REPAIR: their pods are
 * planned also where do-not-disrupt or a PodDisruptionBudget blocks the eviction. */
enum removal { REMOVAL_CONSOLIDATION, REMOVAL_DRIFT, REMOVAL_REPAIR };

struct arrival;
struct places;
struct trial;

/* A class is not tried on a row: the scheduler has turned it down there. */
struct barred {
    uint32_t class_id, row;
};

struct plan_options {
    enum search_kind search;
    uint64_t effort;               /* steps of CHEAPEST beyond GREEDY, see cheapest.h; 0: the default */
    bool ignore_preferences;       /* --preference-policy Ignore */
    bool best_effort_min_values;   /* --min-values-policy BestEffort */
    enum reserved_mode reserved_mode; /* --reserved-offering-mode */
    const struct reservation_credit *credits; /* --credit-reservation; one an id */
    uint32_t credit_count;
    const uint32_t *removed;       /* rows of the world: what if these nodes were gone */
    uint32_t removed_count;
    enum removal removed_for;
    uint32_t max_instance_types;   /* 0: 600 */
    bool no_bound;                 /* leave lower_bound out: it can take longer than a search */
    wall_ms now;
    /* Where pods are meant to go already. Who still fits there keeps the place, before anybody else is
     * looked at: a plan that is under way is not thrown over. NULL: nobody has one. */
    const struct places *places;
    /* Pods that the scheduler is binding, whose room is nobody else's, and which are in no plan. Of one that may
     * come to several nodes room is kept on all, as long as that costs nothing, else on the likeliest. */
    const struct arrival *arrivals;
    uint32_t arrival_count;
    const struct barred *barred;
    uint32_t barred_count;
    /* Whether a pod's status.nominatedNodeName is of our own making, and so no reason to leave it to the
     * scheduler. Asked where the world has nominated_wait; NULL: none is. */
    bool (*own_nomination)(void *user, const struct pod *p);
    /* Why nothing is planned for a pod that is not bound, as the message of an unschedulable one and as long
     * as the plan lives; absent: it is planned. NULL: all are. */
    struct span (*put_off)(void *user, const struct pod *p);
    /* asked every few hundred steps; true stops the search with what it has. NULL: never */
    bool (*stop)(void *user);
    void *user;
};

struct plan_claim {
    struct span name;              /* offline: pool-1…; live the reconciler names claims itself */
    const struct node_pool *pool;
    struct requirements requirements;
    struct sym_pairs labels;       /* sorted by key's text */
    struct plain_labels annotations;
    const struct instance_type *const *types; /* cheapest first, ties by name */
    uint32_t type_count;
    double price;                  /* cheapest launchable offering; NAN: none can be launched */
    struct resources requests;     /* pods' plus the least DaemonSet overhead */
    const struct pod *const *pods; /* in an order in which the scheduler can bind them */
    uint32_t pod_count;
};

struct plan_node {
    uint32_t row;                  /* of the world */
    const struct pod *const *pods;
    uint32_t pod_count;
};

enum unschedulable_reason { /* spec plan-contract 4, a closed set */
    UNSCHEDULABLE,
    UNSCHEDULABLE_RESERVED,      /* ReservedOfferingUnavailable */
    UNSCHEDULABLE_DRA,           /* DynamicResourcesNotSupported */
    UNSCHEDULABLE_NO_POOLS,      /* NoNodePools */
    UNSCHEDULABLE_IGNORED,       /* Ignored */
    UNSCHEDULABLE_NOT_REACHED,   /* NotReached */
    UNSCHEDULABLE_COUNT,
};
const char *unschedulable_name(enum unschedulable_reason r);

struct plan_unschedulable {
    const struct pod *pod;
    enum unschedulable_reason reason;
    struct span message;           /* one sentence with the fix, no name of the pod in it */
    const struct span *details;    /* the chain: one line a pool, then nodes */
    uint32_t detail_count;
    bool wanted;                   /* the pod asks for it: nobody needs to be told */
    bool put_off;                  /* `message` is of plan_options.put_off */
};

struct plan_closed { /* a pool that is asked, and can buy nothing */
    const struct node_pool *pool;
    bool min_values; /* types are left, but too few different ones for its minValues */
};

struct plan {
    struct arena arena;
    struct arena *trial_arena; /* what the search made apart; or NULL */
    const struct world *world;
    struct symtab *syms; /* the world's, and what the plan had to name itself: read symbols with it */
    const struct plan_claim *claims;
    uint32_t claim_count;
    const struct plan_node *nodes;
    uint32_t node_count;
    const struct plan_unschedulable *unschedulable; /* by namespace and name */
    uint32_t unschedulable_count;
    const struct plan_closed *closed;
    uint32_t closed_count;
    uint32_t waiting;              /* pods of the pass */
    double cost_before, cost_after, lower_bound; /* per hour; NAN: not known */
    struct trial *trial; /* as the search left it: what explanations ask (explain/answer.h) */
    uint64_t steps;
    bool complete;
    const struct span *warnings;
    uint32_t warning_count;
};

struct plan *plan_solve(const struct world *w, const struct plan_options *o);
void plan_free(struct plan *p);

#endif
