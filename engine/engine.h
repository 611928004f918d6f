/* engine: one Stowage below its clock, threads and listeners. What the API's watches say feeds a store, its snapshots
 * get worlds, the reconciler decides over these, and the scheduler is answered from both and from the ledger. Wired
 * here once: the server gives it threads and the time, sim steps it on a virtual clock, and it cannot tell.
 *
 * Threads, which may be one: FEED owns the store (whatever calls the watches' sink, and engine_publish), DERIVE makes
 * worlds, DECIDE steps the reconciler. engine_view and engine_lead may be called by any. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "extender/view.h"
#include "reconciler/derive.h"
#include "reconciler/reconciler.h"

struct engine_config {
    struct api *api;           /* its client's; see engine_free */
    struct providers providers; /* the caller's */
    struct listings_worker lister; /* has the providers asked what they list; none: FEED asks them */
    struct world_options world;
    struct reconciler_options reconciler;
    struct group_settings groups; /* zero: there are none */
    struct reconciler_listener listener; /* `wake`: engine_decide has something to do */
    struct reconciler_worker worker;
    mono_ms (*now)(void *user); /* of the listener's user: the clock of the steps below */
    bool all_kinds;             /* watches also those of which no decision needs any */
};

struct engine;

struct engine *engine_new(const struct engine_config *config); /* copied */
/* Nothing may be under way any more (the API client is gone), and no reader of snapshots or places is left. The
 * providers are freed after it. The lister has nothing to do any more. */
void engine_free(struct engine *e); /* NULL is fine */

/* Whether an engine with these options, providers (NULL: whichever there are) and groups lists and watches a kind: some decision
 * needs it. */
bool engine_watches(const struct world_options *o, const struct providers *providers, const struct group_settings *groups,
                    enum kind k);
void engine_watch(struct engine *e); /* begins to */

/* DECIDE's thread, after the last decision: as reconciler_leave. */
void engine_leave(struct engine *e);
/* From now on (or no more) we lead: the reconciler acts, and the scheduler gets answers. */
void engine_lead(struct engine *e, bool leading);
/* See reconciler_observe. */
void engine_observe(struct engine *e, struct span reason);

/* --- FEED --- */

/* When engine_publish is to be called; INT64_MAX: nothing changed, or first lists of types are waited for. */
mono_ms engine_due(const struct engine *e);
/* Shows the snapshot whose world is made, and begins another one when it is due. True: engine_derive has something to
 * do. `*shown_out` (NULL: nobody asks): there is a new one. */
bool engine_publish(struct engine *e, mono_ms now, bool *shown_out);

/* --- DERIVE --- */

/* Makes the world of what was begun, and says how; *done_out false: nothing was. Then engine_publish has it to show. */
enum derive_way engine_derive(struct engine *e, bool *done_out);

/* --- DECIDE --- */

mono_ms engine_decide(struct engine *e, mono_ms mono, wall_ms wall); /* reconciler_step */

/* --- any thread --- */

/* What the scheduler may be answered from; its `leads` is engine_lead's and the listener's leads_until. */
const struct extender_sources *engine_sources(const struct engine *e);
struct ledger *engine_ledger(struct engine *e);

#endif
