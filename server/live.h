/* live: a running Stowage without its listeners: the API thread, which owns store, Lease, Events and
 * all requests, the deriver's thread, which makes worlds of snapshots, and the reconciler's thread. Behind it stands a real cluster or, with --embedded, one
 * in memory; nothing else differs. */
#ifndef SERVER_LIVE_H
#define SERVER_LIVE_H

#include "base/log.h"
#include "cloud/provider.h"
#include "extender/view.h"
#include "kube/client_io.h"
#include "kube/events.h"
#include "reconciler/derive.h"
#include "reconciler/reconciler.h"
#include "server/group_options.h"
#include "server/options.h"
#include "server/pulse.h"

struct live_config { /* all of it outlives the live */
    const struct options *options;
    struct group_options_given *groups; /* which node groups are kept; NULL: none. Filled in by live_new */
    const struct log *log;
    void *user;
    void (*measured)(void *user, const struct measure *m); /* reconciler's thread */
    void (*decided)(void *user, const struct decision *d); /* reconciler's thread; logged already */
    void (*moved)(void *user, const struct moves *m);      /* reconciler's thread; as reconciler_listener.moved */
    /* As group_settings.answered; may be NULL. */
    void (*grouped)(void *user, const struct groups_told *told);
    /* Whether we lead, and why nothing is written although we do (absent: it is). API thread. */
    void (*standing)(void *user, bool leading, struct span observing);
    /* Called once a round of the API thread, for what else lives there (certificates); returns when
     * to be called next. */
    mono_ms (*round)(void *user, mono_ms now, wall_ms wall);
    /* What came of a snapshot, and how long that took; may be NULL. Deriver's thread. */
    void (*derived)(void *user, enum derive_way way, double seconds);
};

enum live_thread { LIVE_API, LIVE_DERIVER, LIVE_RECONCILER, LIVE_THREAD_COUNT };

struct live;

/* Connects nothing yet: ERR_INVALID for what is wrong in options or files. */
bool live_new(const struct live_config *config, struct live **out, struct err *err);
void live_start(struct live *l);
/* Stops deciding, hands the Lease back, ends all threads; waits two seconds at most. */
void live_stop(struct live *l);
void live_free(struct live *l); /* after live_stop; no reader of snapshots or places is left */

/* Whether a server with these options lists and watches a kind: some decision needs it. */
bool live_watches(const struct options *o, enum kind k);
/* The same of one that keeps node groups, with the provider in these settings; without one no kind. */
bool live_watches_for_groups(const struct options *o, const struct group_settings *groups, enum kind k);

/* How the reconciler plans, and whoever explains what it did. */
struct plan_options live_plan_options(const struct options *o);
/* What the flags mean for an engine; `spread` outlives the worlds. */
struct reconciler_options live_reconciler_options(const struct options *o);
struct world_options live_world_options(const struct options *o, const struct default_spread_config *spread);

const struct extender_sources *live_sources(const struct live *l); /* of all that is answered */
struct events *live_events(struct live *l);
void live_astray(struct live *l); /* the ledger has something for the planner; any thread */
const struct pulse *live_pulse(const struct live *l, enum live_thread t);
struct api *live_api(struct live *l);
struct provider *live_provider(struct live *l);
struct client *live_client(struct live *l); /* NULL when embedded */
struct span live_namespace(const struct live *l);

#endif
