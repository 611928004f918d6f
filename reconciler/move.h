/* move: a disruption for somebody who looks: one that is under way, or that is only recommended (docs/disruption.md). */
#ifndef RECONCILER_MOVE_H
#define RECONCILER_MOVE_H

#include "base/span.h"
#include "kube/disruption_reason.h"

enum { MOVES_MOST = 100 }; /* are told of; a page of them is enough */

enum move_state {
    MOVE_RECOMMENDED, /* and not made: stowage.dev/mode */
    MOVE_WAITS,       /* it is judged again once its wait is over */
    MOVE_MARKS,       /* new pods are kept away from who leaves */
    MOVE_READIES,     /* what comes in their place is, or their drain cannot end yet */
    MOVE_REMOVES,
};
struct span move_state_name(enum move_state s); /* "recommended", "waits", "marks", "readies", "removes" */

struct move {
    struct span id; /* of the decision */
    enum move_state state;
    enum disruption_reason reason;
    struct span decision;     /* "delete", "replace" … */
    const struct span *nodes; /* that leave */
    uint32_t node_count;
    uint32_t replacements;
    double savings;           /* per hour; NAN: not known */
    uint32_t evictions;
    struct span text;         /* "remove a -> buy b (drifted): saves …"; of one that was taken over from another leader absent */
};

struct moves { /* in the order in which they were begun, those that are recommended last */
    const struct move *items;
    uint32_t count; /* MOVES_MOST at most */
    uint32_t all;   /* of how many */
};

#endif
