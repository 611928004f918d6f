/* options: what a plan is asked for, and what becomes of a pod that is planned. */
#ifndef PLANNER_TRIAL_OPTIONS_H
#define PLANNER_TRIAL_OPTIONS_H

#include "kube/pod.h"
#include "planner/why.h"

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
struct seating;

/* A class is not tried on a row: the scheduler has turned it down there. */
struct barred {
    uint32_t class_id, row;
};

/* A pod that will stand on no row of the world: on a machine of a node group that is on its way. It counts there for whoever
 * must be spread, together or apart. That nothing is planned for it `put_off` has to say. */
struct guest {
    const struct pod *pod;   /* waits in the world */
    const struct node *node; /* what the machine will be; its symbols are the world's */
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
    bool no_bound;                 /* leave lower_bound out: it can take longer than a search, and looks at what NodePools may
                                    * buy alone: beside node groups a fleet of both may be cheaper */
    wall_ms now;
    /* Where pods are meant to go already. Who still fits there keeps the place, before anybody else is
     * looked at: a plan that is under way is not thrown over. NULL: nobody has one. */
    const struct places *places;
    const struct seating *seating; /* of `places`, by the plan before (plan/seating.h); NULL: each is looked up */
    /* Pods that the scheduler is binding, whose room is nobody else's, and which are in no plan. Of one that may
     * come to several nodes room is kept on all, as long as that costs nothing, else on the likeliest. */
    const struct arrival *arrivals;
    uint32_t arrival_count;
    const struct barred *barred;
    uint32_t barred_count;
    const struct guest *guests;
    uint32_t guest_count;
    /* Why nothing is planned for a pod that is not bound, as of an unschedulable one and as long as the plan
     * lives; absent: it is planned. NULL: all are. */
    struct why (*put_off)(void *user, const struct pod *p);
    /* Asked at least every millisecond; true stops the search with what it has. NULL: never */
    bool (*stop)(void *user);
    void *user;
};

enum search_outcome {
    OUTCOME_NOT_REACHED,
    OUTCOME_PLACED,
    OUTCOME_NO_PLACE,
    OUTCOME_MIN_VALUES, /* its claim was dropped: the list of types, cut short, has too few values */
    OUTCOME_RESERVED,   /* waits for reserved capacity */
    OUTCOME_LONG,       /* its share of steps was over before all was tried */
};

#endif
