/* empty: may this node be removed because nothing runs on it (spec disruption 8.1)? Whether it may be disrupted at all,
 * and what Karpenter says of that, is the planner's to know (planner/disruption/candidate.h). Pure. */
#ifndef RECONCILER_DISRUPTION_EMPTY_H
#define RECONCILER_DISRUPTION_EMPTY_H

#include "kube/node.h"
#include "planner/disruption/candidate.h"

enum empty_verdict { /* in the order of the checks; the first that fails is told */
                     EMPTY_YES,
                     EMPTY_UNMANAGED, /* no NodeClaim of ours */
                     EMPTY_REBOOTING,
                     EMPTY_LEAVING, /* deleted already */
                     EMPTY_NOT_REGISTERED,
                     EMPTY_NOT_INITIALIZED,
                     EMPTY_NOMINATED,      /* pods are planned for it */
                     EMPTY_DO_NOT_DISRUPT, /* annotation of the node */
                     EMPTY_NO_LABEL,       /* that names its pool */
                     EMPTY_NO_POOL,        /* of the label's name */
                     EMPTY_POD_DO_NOT_DISRUPT,
                     EMPTY_POD_BUDGET,  /* a PodDisruptionBudget holds a pod */
                     EMPTY_POD_BUDGETS, /* two select a pod, so that it cannot be evicted */
                     EMPTY_STATIC, /* its pool has replicas */
                     EMPTY_HAS_PODS,
                     EMPTY_BUFFERED,           /* a CapacityBuffer's virtual pods are planned for it */
                     EMPTY_NEVER,              /* the pool's consolidateAfter is Never */
                     EMPTY_NOT_CONSOLIDATABLE, /* not long enough */
                     EMPTY_RECOMMENDED, /* its pool says what would be done, and does not do it */
                     EMPTY_OBSERVED,    /* its pool is only looked at */
                     EMPTY_AWAITED, /* what its like was needed for may come again (disruption/returns.h) */
                     EMPTY_UNSEEN,             /* by the planner's world, yet */
                     EMPTY_VERDICT_COUNT,
};

struct empty_facts {
    const struct node *node;
    const struct node_claim *claim;
    const struct node_pool *pool; /* NULL: none */
    struct span pool_name;        /* by the claim's label, which may be absent */
    bool nominated;
    const struct pod *const *pods; /* bound, not terminal */
    uint32_t pod_count;
    const struct pod_budgets *budgets; /* all of the cluster; NULL: none */
    wall_ms now;
    struct blocked_looks *looks; /* is added to; NULL: nobody asks */
};

struct empty_answer {
    enum empty_verdict verdict;
    const struct pod *pod;                          /* the one in the way, or NULL */
    const struct disruption_budget *budget, *other; /* that hold it, or NULL */
    struct span pool_name;
};

struct empty_answer empty_judge(const struct empty_facts *f);
/* Of the pods alone: only `pods`, `budgets` and `now` are read. */
struct empty_answer empty_judge_pods(const struct empty_facts *f);
/* Completes "stays: …": on the page, in the log and in the answer of explain. Of `a`, or static. */
struct span empty_sentence(struct arena *a, const struct empty_answer *x);
/* What Karpenter v1.15.0 says of it in an Event (Unconsolidatable for EMPTY_NEVER, else DisruptionBlocked) on
 * Node and NodeClaim; absent: nothing. */
struct span empty_event(struct arena *a, const struct empty_answer *x);

#endif
