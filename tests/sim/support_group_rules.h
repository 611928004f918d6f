/* What holds at any time in a cluster of which Stowage keeps the node groups (label pool), whatever happens to it and to its
 * leaders. It hears each change as it is made; what is broken first is kept, in words.
 *
 *   size      no group has more nodes than it may have; none is marked to go that its minimum needs
 *   held      none is marked that says scale-down-disabled, or on which somebody stands whom nobody may move
 *   many      no more are marked at once, and of these with pods, than the flags allow
 *   eviction  nobody is evicted but from a marked node, and nobody whom nobody may move; nobody is deleted
 *   node      no Node goes from under a pod that runs
 *   room      nobody is bound to a Node that is not there or has no room for him
 *   wait      nobody waits longer than a limit while all is to be had
 *   end       who is marked goes, or is let go, within a limit
 *   again     nothing is bought beyond the minimum while nothing happens to what runs there */
#ifndef TESTS_SUPPORT_GROUP_RULES_H
#define TESTS_SUPPORT_GROUP_RULES_H

#include "tests/sim/support_loop.h"

struct group_bounds {
    const char *name;
    int min, max;
};

struct group_rules_config {
    struct sim *sim;
    const struct group_bounds *groups; /* ends with one without a name */
    const char *const *held;           /* apps whose pods nobody may move; ends with NULL */
    int marked, drained;               /* at once */
    span_ms wait, end, rest;           /* limits; rest: after that much time without anything happening the cluster is at rest */
};

struct group_rules_seen { /* of what was looked at, so that a test can tell that there was something */
    uint32_t marked, with_pods, evictions, gone, bought, let_go;
};

struct group_rules;

struct group_rules *group_rules_watch(const struct group_rules_config *config); /* copied, what it points to is not */
void group_rules_free(struct group_rules *r); /* before the sim */

void group_rules_happens(struct group_rules *r); /* somebody else than Stowage changes something now */
void group_rules_lost(struct group_rules *r, const char *node); /* its machine goes, from under whoever runs there */
void group_rules_blind(struct group_rules *r, wall_ms until); /* Stowage does not see what changes from now until then */
void group_rules_sold_out(struct group_rules *r, bool is);

/* "size: …" of what was broken first, "" as long as all was kept. Looks at what is late, too. */
const char *group_rules_broken(struct group_rules *r);
/* What of a cluster is not at rest, "" when all is: nobody is marked or waits. */
const char *group_rules_restless(struct group_rules *r);
const struct group_rules_seen *group_rules_seen(const struct group_rules *r);

#endif
