/* extender: what kube-scheduler is told when it asks about a pod (filter, prioritize, preempt).
 *
 * Functions of the snapshot's world, the published places, the request's bytes and what was answered
 * a moment ago; the shell reads the body and sends what stands in `reply`. No opinion, that is all names, is the answer for
 * everything that is unknown or stale: a pod, node or plan that is not in sight never blocks.
 *
 * Every answer keeps to the rules of the wire (kubernetes-contracts 1.3–1.6): names are a subset of
 * those asked about, and what evicting pods cannot cure goes to FailedAndUnresolvableNodes. Reasons
 * are few, short and constant, because the scheduler counts equal ones. */
#ifndef EXTENDER_EXTENDER_H
#define EXTENDER_EXTENDER_H

#include "base/buf.h"
#include "extender/recent.h"
#include "kube/store.h"
#include "planner/places.h"

struct extender_view {
    const struct snapshot *snapshot; /* NULL: no opinion (not leading, not synced) */
    const struct world *world;       /* of the snapshot; NULL: no opinion */
    const struct places *places;     /* may be NULL */
    mono_ms now;
    /* places_held of both, when the caller keeps it from request to request; NULL: made for each. */
    const struct held *held;
};

/* Kept per thread: parser buffers and an arena, emptied by each call. */
struct extender_scratch {
    struct doc_parser *parser;
    struct arena arena;
    struct recent recent;
};

/* How it was answered: the metric's label. */
enum extender_answer {
    EXTENDER_NO_OPINION,
    EXTENDER_PLANNED, /* the planned node alone */
    EXTENDER_ROOM,    /* candidates less those whose room is held or that are about to go */
    EXTENDER_REFUSED, /* no candidate left */
    EXTENDER_ANSWER_COUNT,
};
const char *extender_answer_name(enum extender_answer a); /* "no-opinion", "planned"… */

/* ExtenderArgs → ExtenderFilterResult. False with ERR_INVALID: the body is not one, or carries Nodes
 * instead of NodeNames (nodeCacheCapable must be true). */
bool extender_filter(struct extender_scratch *s, const struct extender_view *v, struct span body,
                     struct buf *reply, enum extender_answer *answer_out, struct err *err);

/* ExtenderArgs → HostPriorityList: 0 to 10, fuller nodes higher, counting what is held there. */
bool extender_prioritize(struct extender_scratch *s, const struct extender_view *v,
                         struct span body, struct buf *reply, enum extender_answer *answer_out,
                         struct err *err);

/* ExtenderPreemptionArgs → ExtenderPreemptionResult: the candidates less nodes about to go and nodes
 * where even without the victims the pod would take room that is held. */
bool extender_preempt(struct extender_scratch *s, const struct extender_view *v, struct span body,
                      struct buf *reply, enum extender_answer *answer_out, struct err *err);

#endif
