/* reconciler: observe → decide → apply, for the leader's one background thread.
 *
 * A step machine: reconciler_step reads the newest snapshot, decides, and sends writes to the API
 * and calls to the provider; it never waits. What they come back with arrives in an inbox, from
 * whatever thread, and counts from the next step on. No thread, clock or I/O of its own: the server
 * gives it a thread and the time, tests a virtual clock.
 *
 * Every decision is a function of the snapshot, a little memory and the time. All that must not be
 * lost is in the API before the act: a reconciler that is dropped at any moment and made anew goes
 * on where the old one was.
 *
 * Threads: one thread calls everything but reconciler_lead and reconciler_observe, which any may.
 * It is the only writer of `places`. */
#ifndef RECONCILER_RECONCILER_H
#define RECONCILER_RECONCILER_H

#include "base/share.h"
#include "cloud/providers.h"
#include "kube/api.h"
#include "planner/plan/plan.h"
#include "reconciler/decision.h"
#include "reconciler/groups/settings.h"
#include "reconciler/measure.h"

struct reconciler_options {        /* zero: the default in brackets */
    span_ms batch_idle;            /* --batch-idle-duration [1 s] */
    span_ms batch_max;             /* --batch-max-duration [10 s] */
    uint32_t max_nodes_per_minute; /* --max-nodes-per-minute [no cap] */
    double max_hourly_price;       /* --max-hourly-price, of all priced nodes [no cap] */
    struct plan_options plan; /* search, effort, policies; `now` and `stop` are the reconciler's */
    bool nominate; /* --placement=nominate: pods are nominated for their places, and nobody asks */
    uint32_t nominate_from; /* --nominate-from: they are, too, though the scheduler asks, in clusters of so many Nodes; 0: in
                               none */
    bool static_capacity; /* feature gate: pools with replicas have so many nodes, else no new ones */
    span_ms idle;             /* a step at least this often, and a look at everything [10 s]; garbage is never looked
                                 for more often. Longer where hours go by in no time */
    span_ms validation;       /* wait before a removal is decided anew [15 s] */
    /* --consolidation-cool-down [5 min]: so long a node that a consolidation has moved pods to is in no other; below
     * zero: not at all, as with --search=greedy. A pod that was moved has lost its caches and connections; it is not to
     * lose them again for what a better plan could have saved at once. As long as Karpenter takes to look again. */
    span_ms cool_down;
    /* --empty-return [none]: within so long what was needed twice is awaited again, so that an empty node like it stays
     * (reconciler/disruption/returns.h); 0: none does, as with --search=greedy. An hour is that of circles of moves. */
    span_ms empty_return;
    uint64_t look_steps; /* for which a search looks at single nodes [5,000,000]; tests make them few */
    bool terminate_first_drift, terminate_first_repair, spot_to_spot, pod_deletion_cost; /* feature gates */
    bool legacy_node_repair; /* the option, and gate NodeRepair */
    bool node_repair; /* gate NodeRepair, and not --legacy-node-repair; the provider's policies are right */
};

struct sent_pod;

struct moves; /* reconciler/move.h */

struct reconciler_listener { /* any but wake may be NULL. Called on the reconciler's thread, except
                                wake */
    void *user;
    void (*wake)(void *user); /* a step has something to do; from any thread */
    void (*decided)(void *user, const struct decision *d);
    void (*measured)(void *user, const struct measure *m);
    /* Disruptions under way and recommended, when they are others than were told last. None are once we do not lead any more,
     * and nobody says so. */
    void (*moved)(void *user, const struct moves *m);
    /* Until when we lead, by the clock of `mono` (kube/lease.h lease_leads_until); NULL: as long as
     * reconciler_lead says. Asked before each pass. */
    mono_ms (*leads_until)(void *user);
    /* A clock for the durations of metrics, decisions never see it; NULL: they are not measured. */
    uint64_t (*now_ns)(void *user);
    /* Asked some thousand times a second during a solve, which may take seconds: we are alive; false: we
     * are to end or do not lead any more, and the plan is of no use. NULL: go on. */
    bool (*goes_on)(void *user);
};

struct reconciler_scheduler { /* what the extender knows of it; any may be NULL: nobody knows. On the reconciler's thread */
    void *user;
    /* Whom it has let where and no snapshot shows yet, and who was refused where he was planned (planner/places.h);
     * in `a`. */
    uint32_t (*sent)(void *user, mono_ms now, struct arena *a, const struct sent_pod **out);
    mono_ms (*asked)(void *user); /* when it was last asked; 0: never */
};

/* Computes beside the reconciler's thread: `run` has job(arg) called once, from whatever thread, and does not wait for
 * it; at most one is asked for at a time. `join` returns when none runs. NULL: they run at once, before it goes on. */
struct reconciler_worker {
    void *user;
    void (*run)(void *user, void (*job)(void *arg), void *arg);
    void (*join)(void *user);
};

struct reconciler_config {
    struct api *api;
    struct providers providers;
    struct share
        *snapshots; /* of struct snapshot, `derived` being a struct world (reconciler/derive.h) */
    struct share *places; /* share_init(s, places_destroy); of struct places */
    struct reconciler_options options;
    struct reconciler_listener listener;
    struct reconciler_scheduler scheduler;
    struct reconciler_worker worker;
    struct group_settings groups; /* zero: there are none */
};

struct reconciler;

struct reconciler *
reconciler_new(const struct reconciler_config *config); /* copied; does not lead yet */
/* Nothing may be under way any more: the API client is gone. The providers stay the caller's, and are
 * freed after the reconciler. */
void reconciler_free(struct reconciler *r);

/* One step. Returns when to call again at the latest; `wake` may ask for it sooner, and so does
 * whoever publishes a snapshot, though not at once (reconciler/provision/pace.h). `mono` never goes back. */
mono_ms reconciler_step(struct reconciler *r, mono_ms mono, wall_ms wall);

/* The next step looks at everything anew, as the first one did, and not only at what changed or is due: it decides the
 * same. On the thread of reconciler_step. */
void reconciler_look_anew(struct reconciler *r);

/* The process is about to end, by its own will: what only a Stowage that runs should leave behind goes, if it led and wrote
 * it; nothing is waited for. On the thread of reconciler_step, after the last. */
void reconciler_leave(struct reconciler *r);

/* From now on (or no more) we lead. Losing it drops plan and memory and cancels what the provider
 * has not begun; writes not yet sent are cancelled by the Lease's owner (api_ops.cancel_acts). */
void reconciler_lead(struct reconciler *r, bool leading);
/* A reason (a sentence, copied): nothing is written until it is taken back with an absent span. */
void reconciler_observe(struct reconciler *r, struct span reason);

#endif
