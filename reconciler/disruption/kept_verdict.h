/* kept_verdict: whether a node may be removed because it is empty (empty.h), from pass to pass. It is judged again
 * when one of the objects that the verdict was made of is another one, when a budget that selects a pod there has
 * changed, or when its time is over; else what was said holds.
 *
 * Objects never change, so that the same memory says the same, as long as whoever asks holds the snapshot of the
 * last time (reconciler.previous). */
#ifndef RECONCILER_DISRUPTION_KEPT_VERDICT_H
#define RECONCILER_DISRUPTION_KEPT_VERDICT_H

#include "reconciler/disruption/empty.h"

struct kept_verdict { /* zero: nothing was judged */
    struct empty_answer answer;
    bool judged, nominated;
    const struct node *node;
    const struct node_claim *claim;
    const struct node_pool *pool;
    uint64_t pods;     /* a sum of them */
    wall_ms until;     /* as of struct blocked_looks */
    uint32_t *budgets; /* malloc'ed: so many as select a pod of the node, or twice that */
    uint32_t budget_count, budget_room;
};

struct kept_since { /* the last time */
    bool anew; /* what was kept then means nothing now */
    const uint64_t *changed; /* budgets, by position; NULL: none */
    struct arena *scratch;
};

void kept_verdict_release(struct kept_verdict *k);
/* A budget that has changed selects a pod that was looked at. */
bool kept_verdict_hangs_on(const struct kept_verdict *k, const struct kept_since *since);
/* As empty_judge; `looks` of the facts is taken. True: it was judged, false: it holds. */
bool kept_verdict_judge(struct kept_verdict *k, const struct kept_since *since, struct empty_facts *f);

#endif
