/* decision: one thing that was decided or seen to happen, and why.
 *
 * The reason is data, decided once: the listener makes of it the log line (`subject` and
 * `sentence`), the Event (`reason` and `note` on `about`), the entry of the page and the text that
 * `explain` gives. */
#ifndef RECONCILER_DECISION_H
#define RECONCILER_DECISION_H

#include "base/units.h"
#include "kube/kind.h"
#include "planner/why.h"

enum decision_kind {
    DECISION_NONE,
    DECISION_PLAN,      /* pods wait, or a pool has not its replicas: what will be done */
    DECISION_BUY,       /* a NodeClaim is created */
    DECISION_HOLD,      /* not bought: a cap, a limit, room that comes in a moment */
    DECISION_PLACE,     /* a pod has a planned node */
    DECISION_NO_PLACE,  /* a pod has none */
    DECISION_LAUNCH,    /* a machine was made, or could not be */
    DECISION_READY,     /* a node is initialised */
    DECISION_BOUND,     /* planned pods have reached their nodes */
    DECISION_KEEP,      /* not removed, though somebody may wonder why */
    DECISION_MOVE,      /* nodes are to leave, others may come in their place; or no more */
    DECISION_REMOVE,    /* a NodeClaim is deleted */
    DECISION_DRAIN,     /* a pod is evicted, or could not be */
    DECISION_GONE,      /* a node has left */
    DECISION_SET_ASIDE, /* an object is not used because it is wrong; and when it is used again */
    DECISION_GUARD,     /* removals or purchases stop or go on */
    DECISION_CLOCK,     /* the wall clock has stepped */
    DECISION_OBSERVE,   /* nothing is written, or acting begins again */
    DECISION_FAIL,      /* a write or a cloud call failed and will be tried again */
    DECISION_COUNT,
};

struct decision_object {
    enum kind kind; /* KIND_NONE: none */
    struct span ns, name, uid;
};

struct decision { /* spans live during the callback */
    enum decision_kind kind;
    char id[16]; /* "d-0001k3f0a2"; the same on everything that one decision leads to */
    wall_ms at;
    const char *subject; /* word of the log line: plan, buy, ready, remove, "set aside"…; NULL: not
                            logged */
    struct span sentence;         /* of the log line; begins with the name, if about a node or its claim; or absent */
    struct span said;             /* without the name that it begins with, for who shows the object beside it */
    struct span side; /* of `about` that it speaks of ("drift"), beside what else is said of that; absent: the whole */
    bool takes_back;              /* what was said of `about` before holds no more */
    bool warning;                 /* a person may want to act */
    struct why put_off;           /* why nothing is planned for a while for the pod of `about`; absent: it is planned */
    struct decision_object about; /* what the Event regards */
    struct span reason;           /* of the Event, CamelCase (spec api 11.2); absent: no Event */
    struct span note;             /* of the Event; absent: the sentence */
    struct span dedupe; /* what else tells two Events of one reason and object apart; or absent */
    double per_hour;              /* what it adds to (or saves of) the price, NAN: does not apply */
};

struct event_note; /* kube/events.h */
/* The Event of it, which lives as long as the decision; false: it has none. */
bool decision_event(const struct decision *d, struct event_note *out);

#endif
