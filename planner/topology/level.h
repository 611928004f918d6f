/* level: the domains that one spread leaves open, kept as pods come and go.
 *
 * Numbers move by one domain at a time, and seldom move the least: so a move costs a look at its domain, and
 * only one that moves the least a look at all. A domain is never measured by itself, its pods count for both
 * or for neither: hence two least numbers. */
#ifndef PLANNER_TOPOLOGY_LEVEL_H
#define PLANNER_TOPOLOGY_LEVEL_H

#include "base/arena.h"
#include "planner/bits.h"

struct level_rule {
    const uint64_t *among; /* domains whose numbers are compared */
    const uint64_t *may;   /* those where the pod can be */
    uint32_t words;
    int32_t max_skew, min_domains;
    bool self; /* the pod counts */
};

struct level_numbers { /* by domain, as they are now */
    const uint32_t *counts;
    const uint32_t *unsure; /* of those, pods that others cannot rely on; NULL: none */
};

struct level {
    struct level_rule rule;
    uint32_t *sure; /* by domain, as it was when last looked at */
    uint64_t *open;
    uint32_t found;               /* domains that are compared */
    uint32_t least, least_count;  /* the least number, and of how many */
    uint32_t second, second_count; /* the next one that occurs; UINT32_MAX, 0: none */
    uint32_t alone;               /* whose the least is when it is of one */
    uint32_t seen;                /* moves that were taken in; the owner's */
};

void level_init(struct level *l, struct arena *a, const struct level_rule *rule);
/* All domains are looked at. */
void level_anew(struct level *l, const struct level_numbers *n);
/* The domain's number may have changed since; no other's has. */
void level_move(struct level *l, const struct level_numbers *n, uint32_t domain);

#endif
