/* candidate: who may be disrupted at all, and what that would cost and save (spec disruption 3, 4). The one home of
 * these rules: the planner asks about rows of a world, others about objects. */
#ifndef PLANNER_DISRUPTION_CANDIDATE_H
#define PLANNER_DISRUPTION_CANDIDATE_H

#include "kube/pod_budgets.h"
#include "planner/world.h"

/* Which of the checks a method waives (0.3). EVENTUAL: pods that may not be evicted, where the claim has a
 * terminationGracePeriod. REPAIR: these always (has_pod_blockers remembers it), the node's do-not-disrupt, and that a
 * registered node is not initialised. */
enum disruption_class { DISRUPT_GRACEFUL, DISRUPT_EVENTUAL, DISRUPT_REPAIR, DISRUPT_COUNT };

enum blocked { /* in the order of the checks; the first that fails is told */
    BLOCKED_NOT,
    BLOCKED_QUEUED,    /* a command has it */
    BLOCKED_POOLLESS,  /* repair: no pool to construct and budget a replacement */
    BLOCKED_UNMANAGED, /* no NodeClaim */
    BLOCKED_NO_NODE,   /* its claim has no Node */
    BLOCKED_REBOOTING,
    BLOCKED_LEAVING,
    BLOCKED_NOT_REGISTERED,
    BLOCKED_NOT_INITIALIZED,
    BLOCKED_NOMINATED,
    BLOCKED_DO_NOT_DISRUPT, /* the node's annotation */
    BLOCKED_NO_LABEL,       /* that names its pool */
    BLOCKED_NO_POOL,        /* of that name; or nothing is known of what it can buy */
    BLOCKED_POD_DO_NOT_DISRUPT,
    BLOCKED_POD_BUDGET,  /* a PodDisruptionBudget holds a pod */
    BLOCKED_POD_BUDGETS, /* more than one select it: the eviction API refuses that */
    BLOCKED_COUNT,
};

struct blocked_answer {
    enum blocked what;
    const struct pod *pod;                          /* the one in the way, or NULL */
    const struct disruption_budget *budget, *other; /* that hold it, or NULL */
    struct span pool_name;
};

struct blocked_looks { /* what an answer about pods hangs on beside them */
    struct arena *arena;
    uint32_t *budgets; /* positions of those that select a pod that was looked at; some twice */
    uint32_t count, capacity;
    wall_ms until;     /* by then time alone may change it; 0: never */
};

struct blocked_facts { /* of a node, or a claim alone */
    const struct node *node;        /* or NULL */
    const struct node_claim *claim; /* or NULL */
    enum disruption_class class;
    bool queued, leaving, nominated;
    bool has_pool; /* there is one of that name, and it has something to buy */
    struct span pool_name; /* by the label, which may be absent */
    const struct pod *const *pods; /* bound, not terminal */
    uint32_t pod_count;
    const struct pod_budgets *budgets; /* all of the cluster; NULL: none */
    wall_ms now;
    struct blocked_looks *looks; /* is added to; NULL: nobody asks */
};
/* The first check that fails. Of the pods alone only `pods`, `budgets`, `now` and `looks` are read. */
struct blocked_answer blocked_judge(const struct blocked_facts *f);
struct blocked_answer blocked_judge_node(const struct blocked_facts *f);
struct blocked_answer blocked_judge_pods(const struct blocked_facts *f);
/* What Karpenter v1.15.0 says of it in an Event DisruptionBlocked on Node and NodeClaim (3), and the pod that a budget
 * holds, with its controller; absent: nothing. */
struct span blocked_event(struct arena *a, const struct blocked_answer *x);
/* And in an Event Unconsolidatable, of a pool whose consolidateAfter is Never. */
struct span pool_disabled_event(struct arena *a, struct span pool);

struct candidate {
    uint32_t row;
    const struct node_pool *pool;     /* NULL: there is none of that name */
    const struct instance_type *type; /* NULL: none of the catalogue that its pool is offered */
    sym zone, capacity_type;          /* SYM_NONE: its labels do not say */
    bool has_pod_blockers;            /* waived, see disruption_class */
    uint32_t reschedulable;           /* pods that would have to go elsewhere */
    double price;                     /* 0: not known (4.2). Availability is no matter; what the pool says a node costs beside
                                       * is not in it */
    double reschedule_cost;           /* 1 + what its reschedulable pods cost, each at least 0 */
    double disruption_cost;           /* of all pods × what is left of its life */
    double ratio;                     /* price / reschedule_cost */
};
/* Nothing on it costs anything to move (4.2). */
static inline bool candidate_is_empty(const struct candidate *c)
{
    return c->reschedule_cost <= 1.0;
}
/* By ratio, the highest first, ties by name; for qsort over candidates of one world (`w` through qsort_r). */
int candidate_order(const void *a, const void *b, void *w);

struct candidate_facts { /* that no object holds, and what is worked out once for all */
    const struct pod_budgets *budgets; /* PodDisruptionBudgets of the world */
    const uint64_t *queued;            /* rows that a command has; NULL: none */
    const uint64_t *nominated;         /* rows to which a recent pass sent pods; NULL: none */
    bool deletion_cost_ignored;        /* gate PodDeletionCostManagement is on: ranks are ours (4.1) */
    wall_ms now;
};

/* What is asked about a row of the world. */
struct blocked_facts candidate_judged_by(const struct world *w, uint32_t row, enum disruption_class k,
                                         const struct candidate_facts *f);
/* A row of a claim, whether it may be disrupted or not: what that would cost and save. */
struct candidate candidate_of(const struct world *w, uint32_t row, const struct candidate_facts *f);
/* The provider says what the pool can buy. */
bool pool_has_types(const struct world *w, const struct node_pool *p);

/* Whether the row may be disrupted by a method of the class, and as whom; *out is set when BLOCKED_NOT. */
struct blocked_answer candidate_make(const struct world *w, uint32_t row, enum disruption_class k,
                                     const struct candidate_facts *f, struct candidate *out);

/* What moving one pod costs: 1 + annotation / 2^27 + priority / 2^25, within [-10, 10] (4.1). */
double pod_eviction_cost(const struct pod *p, bool deletion_cost_ignored);
/* From 1 to 0, as its expireAfter passes; 1 of one that never expires (4.2). */
double claim_life_left(const struct node_claim *c, wall_ms now);

#endif
