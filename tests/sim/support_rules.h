/* What holds at any time in a cluster of which Stowage keeps the nodes, whatever happens to it and to its leaders. It hears
 * each change as it is made, so that nothing passes between two looks; what is broken first is kept, in words.
 *
 *   budget    who is marked to leave (condition DisruptionReason) is no more than the pool's budgets allow with all who leave
 *   reason    an initialised NodeClaim that is deleted was marked, or has expired, or was said to go (rules_excuse)
 *   eviction  nobody is evicted but for a node that leaves, and nobody whom do-not-disrupt holds; nobody is deleted before
 *             the end of the drain (annotation termination-timestamp) less his own grace
 *   protected nobody of the apps that the test names goes in any other way
 *   node      no Node goes from under a pod that runs
 *   room      nobody is bound to a Node that is not there or has no room for him
 *   price     what is bought for what a consolidation removes costs less than that
 *   wait      nobody waits longer than a limit while all is to be had
 *   end       each disruption ends within its limit: its nodes leave, or somebody is told why they do not
 *
 * Budgets are whole numbers or shares, with or without reasons, without schedules. Memory: some hundred bytes an object. */
#ifndef TESTS_SUPPORT_RULES_H
#define TESTS_SUPPORT_RULES_H

#include "reconciler/move.h"
#include "tests/sim/support_loop.h"

struct rules_config {
    struct sim *sim;
    /* Of a machine; labels of its NodeClaim. NULL: prices are not looked at. */
    double (*price)(const char *type, const char *capacity_type);
    const char *const *protected; /* values of label app; ends with NULL */
    span_ms wait, end; /* the limits; 0: none */
};

struct rules;

struct rules_seen { /* of what was looked at, so that a test can tell that there was something */
    uint32_t marked[REASON_COUNT]; /* NodeClaims */
    uint32_t expired, trades, evictions, forced, ended, taken_back;
};

struct rules *rules_watch(const struct rules_config *config); /* from now on; copied */
void rules_free(struct rules *r); /* before the sim */

/* The claim goes now for no reason of Stowage's; or its machine does, from under whoever runs there. */
void rules_excuse(struct rules *r, const char *claim);
void rules_lost(struct rules *r, const char *node);
/* Stowage does not see what changes from now until then. */
void rules_blind(struct rules *r, wall_ms until);
/* Nobody need find room while this is so. */
void rules_sold_out(struct rules *r, bool is);
/* What a loop's listener hears; a new leader knows of no earlier one's commands. */
void rules_hear_moves(struct rules *r, const struct moves *m);
void rules_hear_decision(struct rules *r, const struct decision *d);
void rules_new_leader(struct rules *r);

/* "budget: …" of what was broken first, "" as long as all was kept. Looks at what is late, too. */
const char *rules_broken(struct rules *r);
/* What of a cluster is not at rest, "" when all is: nobody leaves, is marked or waits, and each claim has its Node. */
const char *rules_restless(struct rules *r);
const struct rules_seen *rules_seen(const struct rules *r);

#endif
