/* sim: a whole cluster on a clock of the caller's: the in-memory API server and stand-ins for the
 * programs that a cluster has beside it: scheduler, controllers, kubelet.
 *
 * Two ways of use. On a virtual clock (tests, simulate), sim_run_until jumps from one event to the
 * next; actors (a reconciler, a store that publishes) are run in between. Live (serve --embedded),
 * the API thread calls sim_step with the wall clock and sleeps until the time it returns, or until
 * the cluster's wake callback. All of it runs on the one thread that calls step. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/buf.h"
#include "sim/cluster.h"

/* How the stand-in scheduler calls an extender: with the bytes that kube-scheduler would send
 * (ExtenderArgs, node names only), for the bytes it would be answered. False is a call that failed:
 * the extender is ignorable, so scheduling goes on without it. */
struct sim_extender {
    void *user;
    bool (*filter)(void *user, struct span args, struct buf *reply);     /* NULL: not asked */
    bool (*prioritize)(void *user, struct span args, struct buf *reply); /* NULL: not asked */
    int64_t weight; /* 0: 2, as in manifests/scheduler-configuration.yaml */
};

/* Delays of the stand-ins; a field left 0 takes the default, SIM_AT_ONCE means none. */
enum { SIM_AT_ONCE = -1 };
struct sim_delays {
    span_ms controllers; /* a change → pods created or deleted, budgets counted (100 ms) */
    span_ms schedule;    /* a change → pods bound or marked unschedulable (100 ms) */
    span_ms node_ready;  /* Node created → Ready (1 s) */
    span_ms pod_start;   /* bound → Running and ready (1 s) */
    span_ms pod_stop;    /* deleted → gone; never longer than the pod's grace (1 s) */
    span_ms pod_gc;      /* Node gone → its pods are removed (20 s) */
};

struct sim_options {
    struct sim_cluster_options cluster;
    struct sim_delays delays;
    bool no_scheduler, no_controllers, no_kubelet; /* leave one out */
};

struct sim;

struct sim *sim_new(const struct sim_options *o);
void sim_free(struct sim *s);

struct sim_cluster *sim_cluster(struct sim *s);
wall_ms sim_now(const struct sim *s);
/* Asked for every pod from the next scheduling on; NULL: none. Copied. */
void sim_set_extender(struct sim *s, const struct sim_extender *e);

/* One round at `now`: cluster, then stand-ins, then actors. Returns when to call again at the latest:
 * `now` when there is more to do at once, INT64_MAX when only a new request can change anything. */
wall_ms sim_step(struct sim *s, wall_ms now);

/* Something else that lives on this clock and thread. `step` is called once a round and returns when
 * it next wants to be called, `now` or earlier for at once, INT64_MAX for "after something happens". */
struct sim_actor {
    void *user;
    wall_ms (*step)(void *user, wall_ms now);
    void (*free)(void *user); /* called by sim_free and sim_remove_actor; may be NULL */
};

void sim_add_actor(struct sim *s, struct sim_actor actor);
void sim_remove_actor(struct sim *s, void *user);

/* Runs on the virtual clock until it shows `when`, all that is due then included. ERR_INTERNAL when
 * one moment does not come to rest. */
bool sim_run_until(struct sim *s, wall_ms when, struct err *err);
/* The same, until `done` says so (asked after each round; then true) or `limit` is reached
 * (ERR_RETRY). */
bool sim_run_while(struct sim *s, bool (*done)(void *user), void *user, wall_ms limit,
                   struct err *err);

#endif
