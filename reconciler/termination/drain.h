/* drain: which pods of a leaving node are to be evicted now, deleted now, or waited for (spec
 * disruption 14.4, 14.5). Pure. */
#ifndef RECONCILER_TERMINATION_DRAIN_H
#define RECONCILER_TERMINATION_DRAIN_H

#include "reconciler/disruption/empty.h"

enum drain_act {
    DRAIN_LEAVE,   /* neither evicted nor waited for */
    DRAIN_WAIT,    /* waited for: its turn has not come, or it is ending */
    DRAIN_BLOCKED, /* waited for: do-not-disrupt */
    DRAIN_EVICT,
    DRAIN_DELETE, /* with `grace` */
    DRAIN_ACT_COUNT,
};

struct drain_pod {
    const struct pod *pod;
    enum drain_act act;
    int64_t grace; /* seconds, of DRAIN_DELETE; at least 1 */
};

struct drain {
    struct drain_pod *pods;  /* in the order given */
    uint32_t count, waiting; /* waiting 0: drained */
};

/* `deadline`: of terminationGracePeriod, 0: none. A tier begins when the one before it is gone from
 * the API: plain pods, DaemonSet pods, critical ones, critical DaemonSet ones; what the deadline
 * makes due is deleted whatever its tier. */
struct drain drain_pick(struct arena *a, const struct pod *const *pods, uint32_t count,
                        wall_ms deadline, wall_ms now);
/* When terminationGracePeriod ends, by the claim's annotation; 0: never. */
wall_ms claim_deadline(const struct node_claim *c);
/* What keeps the pods of this turn from being evicted; EMPTY_YES: nothing does. */
struct empty_answer drain_judge(struct arena *a, const struct drain *d,
                                const struct pod_budgets *budgets, wall_ms now);
/* "2 pods wait to be evicted: PodDisruptionBudget …"; absent: none does. */
struct span drain_sentence(struct arena *a, const struct drain *d, const struct empty_answer *holds);
/* A drain evicts it and waits until it is gone: not one that is done, static, stuck, or tolerates the taint. */
bool drain_awaits(const struct pod *p, wall_ms now);
/* When time alone changes the answer for a pod; 0: never. */
wall_ms drain_due(const struct pod *p, wall_ms deadline, wall_ms now);

#endif
