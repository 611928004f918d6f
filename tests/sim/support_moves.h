/* Fleets of which nodes are to leave, and what is seen of them. */
#ifndef TESTS_SUPPORT_MOVES_H
#define TESTS_SUPPORT_MOVES_H

#include "tests/sim/support_loop.h"

/* Of a NodePool: consolidates at once; replaces who drifted, all at a time or one. */
extern const char moves[], all_drift[], drifts[];

void patch_pool(struct sim *s, const char *spec);
void change_template(struct sim *s); /* all its nodes drift */
/* NodePool "general" and Deployment "web". */
struct sim *cluster(const char *disruption, int pods, const char *cpu);
struct sim *apart(const char *disruption, int pods); /* each on a node of its own */
struct sim *apart_in(struct sim *s, const char *disruption, int pods);

size_t count_marked(struct sim *s); /* Nodes with the taint karpenter.sh/disrupted */
json_t *names(struct sim *s);       /* of the NodeClaims, by UID; a new reference */
/* How many of `before` are still there. */
size_t count_kept(struct sim *s, json_t *before);
void expect_calm(struct sim *s, int pods);

/* ---- watched all the time ---- */

struct watch {
    struct sim *sim;
    size_t most_leaving; /* at a time */
    size_t peak, peaks[8], peak_count; /* likewise, between times at which nobody is */
    uint64_t version;
};
void watch(struct watch *w, struct sim *s); /* while the sim runs */

/* A Stowage starts and lets its nodes come; then all of them drift, and are watched from then on. Returned are their names. */
json_t *begin_drift(struct loop *l, struct watch *w, struct sim *s);

#endif
