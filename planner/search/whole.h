/* whole: pods that must be on one node, seated together.
 *
 * Pods with required affinity to one another over kubernetes.io/hostname go where the first of them went.
 * First fit, and Karpenter v1.15.0 with it, puts that one where it alone fits; once it is bound there the
 * others wait for ever. Here all of such a group get a node that takes all, or none of them does. */
#ifndef PLANNER_SEARCH_WHOLE_H
#define PLANNER_SEARCH_WHOLE_H

#include "planner/trial/trial.h"

struct whole {
    uint32_t group;       /* of the topology */
    const uint32_t *pods; /* the trial's numbers, in the order in which they came */
    uint32_t count;
};

struct whole_question {
    const uint32_t *pods; /* who is to be placed, all of them */
    uint32_t count;
    const uint8_t *outcome; /* see greedy_run */
};

/* Groups of which some have a place and some have none, in the order of those who have none; no more
 * than `most`. */
uint32_t whole_torn(const struct trial *t, struct arena *a, const struct whole_question *q,
                    struct whole *out, uint32_t most);

struct whole_rules {
    bool ignore_preferences;
    const uint64_t *closed; /* see greedy_run */
};

/* Seats all of the group: on a row, a new claim, or one that is there (which they may make dearer than two
 * would be), in this order. When no such place takes all, or some pod counts for the group already, the
 * trial is as it was, and false returned. */
bool whole_seat(struct trial *t, const struct whole *x, const struct whole_rules *rules);

#endif
