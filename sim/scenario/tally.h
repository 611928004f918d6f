/* tally: what a run comes to: price-hours, nodes, evictions, how long pods waited. It hears of every change in the
 * cluster and adds up between them, so that the sums are exact.
 *
 * A machine is paid for from the moment on at which it was launched (its NodeClaim has a providerID) until its Node
 * is gone, or its NodeClaim when no Node ever came; the price is that of its offering at each moment. A Node
 * without a price (of no offering of the catalogue) is counted and not paid for. Pods of DaemonSets do not wait.
 *
 * Memory: four bytes for each pod that was bound, and what is there at one time. */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "reconciler/measure.h"
#include "sim/cluster_state.h"
#include "sim/scenario/market.h"

enum {
    TALLY_STEPS = 336,   /* of a run's chart: half hours of a week */
    TALLY_REASONS_MAX = 16,
};

struct tally_step { /* averages over it */
    double price, nodes, waiting;
};

struct tally_reason {
    char name[40]; /* "empty", "drifted" */
    uint32_t count;
};

struct totals {
    double price_hours;         /* of all machines */
    double price_first, price_last, price_most; /* an hour */
    double nodes_mean;
    uint32_t nodes_most, nodes_last, nodes_unpriced; /* the last: at most at a time */
    uint32_t bought, failed;    /* machines launched; launches that failed */
    uint32_t evictions;         /* pods that were evicted */
    uint32_t lost;              /* pods whose machine was taken away */
    struct tally_reason moves[TALLY_REASONS_MAX]; /* nodes that Stowage removed of its own will, by reason */
    uint32_t move_kinds, moved;
    uint32_t bound;             /* pods that came without a node and got one */
    uint32_t waiting;           /* and those that have none at the end */
    span_ms wait_p50, wait_p99, wait_most; /* of the bound */
    struct tally_step steps[TALLY_STEPS];
};

struct tally;

/* Begins to hear of the cluster's changes; what is there counts from `now` on. */
struct tally *tally_new(struct sim_cluster *c, const struct market *market, span_ms duration);
void tally_free(struct tally *t); /* NULL is fine; the cluster still lives */

void tally_measured(struct tally *t, const struct measure *m);
void tally_repriced(struct tally *t); /* after the market's prices have changed */
void tally_end(struct tally *t, struct totals *out);

#endif
