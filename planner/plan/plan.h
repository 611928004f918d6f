/* plan: which pods go where, what to buy for the rest, and why some have no place.
 *
 * plan_solve is pure: equal world, options and `now` give an equal plan, ties by name. Reasons are data: who shows
 * them has them told (explain/tell.h). Everything in
 * a plan lives in its arena or in the world it was made from. */
#ifndef PLANNER_PLAN_PLAN_H
#define PLANNER_PLAN_PLAN_H

#include "planner/trial/options.h"
#include "planner/world.h"

struct guesses;
struct trial;

struct plan_claim {
    struct span name;              /* offline: pool-1…; live the reconciler names claims itself */
    const struct node_pool *pool;
    struct requirements requirements;
    struct sym_pairs labels;       /* sorted by key's text */
    struct plain_labels annotations;
    const struct instance_type *const *types; /* cheapest first, ties by name */
    uint32_t type_count;
    double price;                  /* cheapest launchable offering, and what its pool says that a node costs
                                    * beside (node_pool_cost); NAN: none can be launched */
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

struct plan_detail { /* "pool general", "it asks for …" */
    const struct node_pool *pool; /* or NULL */
    struct span about, text;
};

enum plan_failure { /* what a reason is made of */
    FAILED_PUT_OFF,  /* `why` is of plan_options.put_off */
    FAILED_INVALID,  /* by its class */
    FAILED_NO_POOLS,
    FAILED_ERROR,    /* by its class */
    FAILED_DEVICES,
    FAILED_SEARCH,   /* see `outcome` */
};

struct plan_unschedulable {
    const struct pod *pod;
    enum unschedulable_reason reason;
    enum plan_failure failure;
    enum search_outcome outcome;
    uint32_t class_id;
    struct why why;                /* by plan_tell (explain/tell.h), as are details */
    const struct plan_detail *details; /* the chain: one a pool, then nodes */
    uint32_t detail_count;
    bool wanted;                   /* the pod asks for it: nobody needs to be told */
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
    const uint32_t *rows;          /* by number of a pod that waits in the world: the row of its place, + 1; 0: none, and
                                    * of a virtual one */
    uint32_t row_count;
    /* Who has kept its place by plan_options.seating is not among `nodes`, and is in no log of the trial. */
    uint32_t kept;
    const uint32_t *kept_rows;     /* on which there are such pods */
    uint32_t kept_row_count;
    const struct pod *const *unkept; /* others that waited in the world before, as they were there */
    uint32_t unkept_count;
    double cost_before, cost_after, lower_bound; /* per hour; NAN: not known */
    double node_costs;             /* of cost_after: what pools say that nodes cost beside their price */
    struct guesses *guesses; /* of explanations: explain/meant.c, no_type.c */
    struct no_type *no_types;
    struct trial *trial; /* as the search left it: what explanations ask (explain/answer.h) */
    uint64_t steps;
    bool complete;
    uint32_t most_types;           /* that a claim lists */
    struct span *warnings;
    uint32_t warning_count, warning_capacity;
};

struct plan *plan_solve(const struct world *w, const struct plan_options *o);
void plan_free(struct plan *p);

#endif
