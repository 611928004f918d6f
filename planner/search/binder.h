/* binder: pods bound one by one, as kube-scheduler binds them.
 *
 * What a node says to a pod now: the rules that must hold, on the nodes that stand, and nothing of what
 * could be bought. It counts who was bound before, and may take it back. Spreads are measured from the
 * nodes that stand (measure.h).
 *
 * For whoever plays the scheduler, on a world without pools and claims, and whoever wants to know what it sees. Everything
 * lives in the arena. */
#ifndef PLANNER_SEARCH_BINDER_H
#define PLANNER_SEARCH_BINDER_H

#include "planner/world.h"

struct binder;

enum binder_answer {
    BINDER_YES,
    BINDER_LEAVING,
    BINDER_DEVICES, /* it asks for devices, or states more than is planned for: the world knows nothing of it */
    BINDER_MISSING, /* an object that its volumes need is not there: binder_missing says which */
    BINDER_TAINT,
    BINDER_SELECTOR, /* nodeSelector or required node affinity */
    BINDER_VOLUMES,  /* its volumes are elsewhere */
    BINDER_PORTS,
    BINDER_RESOURCES,
    BINDER_SPREAD,
    BINDER_AFFINITY,
    BINDER_ANTI_AFFINITY, /* its own */
    BINDER_KEPT_OFF,      /* by the anti-affinity of pods that are there */
    BINDER_ANSWER_COUNT,
};

struct binder *binder_new(struct arena *a, const struct world *w);

/* The first rule that stops it, in the order above. */
enum binder_answer binder_ask(struct binder *b, int32_t class_id, uint32_t row);
/* Whether a node that gives this answer may give another once others are bound. */
bool binder_may_change(enum binder_answer a);
struct span binder_missing(const struct binder *b, int32_t class_id);

void binder_bind(struct binder *b, int32_t class_id, uint32_t row);
/* Everything bound since the mark is taken back. */
uint32_t binder_mark(const struct binder *b);
void binder_undo(struct binder *b, uint32_t mark);

/* A pod that stands in no class (a DaemonSet's) takes so much of the row, for good. */
void binder_take(struct binder *b, uint32_t row, const amount *requests);
amount binder_left(const struct binder *b, uint32_t row, uint32_t column);

#endif
