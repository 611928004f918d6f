/* support_random: small clusters with everything in them that the planner has a rule for, drawn from a
 * seed or from bytes: equal draws give an equal cluster. */
#ifndef TESTS_PLANNER_SUPPORT_RANDOM_H
#define TESTS_PLANNER_SUPPORT_RANDOM_H

#include "support_cluster.h"

struct draws {
    const uint8_t *bytes; /* one a draw, then zeros; NULL: the generator of `state` goes on for ever */
    size_t left;
    uint64_t state;
};

unsigned draw(struct draws *d, unsigned below); /* 0 to below - 1 */

struct random_cluster {
    struct arena arena;
    struct span *docs; /* YAML documents; the first is the instance types */
    uint32_t count, capacity;
    struct world_options options;
    struct plan_options plan_options;
    unsigned features; /* which of them the cluster has at all */
};

void random_cluster_make(struct random_cluster *r, struct draws *d);
/* So many nodes more, and what stands on them, as the others are; named node FROM and on: FROM is more than any has. */
void random_cluster_grow(struct random_cluster *r, struct draws *d, unsigned from, unsigned count);
void random_cluster_release(struct random_cluster *r);
/* The same cluster anew. With a seed that is not 0 its objects come in another order. */
void random_cluster_load(const struct random_cluster *r, uint64_t order, struct cluster *out);

struct random_tally { /* pods, added up */
    uint32_t on_claims, on_nodes, without[UNSCHEDULABLE_COUNT];
};

/* Plans it in two orders. False and what is wrong: a rule broken, or the plans differ. */
bool random_cluster_holds(const struct random_cluster *r, struct random_tally *tally,
                          struct buf *wrong);

#endif
