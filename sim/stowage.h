/* stowage: one Stowage on the simulated clock: API client, store, world, provider kwok, reconciler,
 * extender, all on the one thread that steps the sim. What `serve` does with threads, tests and
 * `simulate` do with this; the parts are the same.
 *
 * It leads from the first step on. Several may live in one sim, and one may be dropped at any moment
 * (sim_stowage_free) and a new one made: that is a crash and a restart. */
#ifndef SIM_STOWAGE_H
#define SIM_STOWAGE_H

#include "cloud/catalogue.h"
#include "cloud/kwok.h"
#include "kube/store.h"
#include "planner/places.h"
#include "reconciler/reconciler.h"
#include "sim/sim.h"

struct sim_stowage_options { /* copied; zero: the defaults */
    struct reconciler_options reconciler;
    struct world_options world;
    struct catalogue_source *types; /* taken over; NULL: the built-in ones */
    bool (*in_stock)(void *user, struct span type, struct span zone, struct span capacity_type);
    enum kwok_fate (*fate)(void *user, struct span claim);
    void (*decided)(void *user, const struct decision *d);
    void (*measured)(void *user, const struct measure *m);
    void *user;
};

struct sim_stowage;

/* Lives until sim_stowage_free, which comes before sim_free. */
struct sim_stowage *sim_stowage_new(struct sim *s, const struct sim_stowage_options *o);
/* As when the process dies: what was sent and not applied is lost. */
void sim_stowage_free(struct sim_stowage *w);

struct api *sim_stowage_client(struct sim_stowage *w); /* for sim_client_set_faults and the like */
/* What the stand-in scheduler asks: answers from this Stowage's snapshot and places. Not after
 * sim_stowage_free: set another, or none, before. */
struct sim_extender sim_stowage_extender(struct sim_stowage *w);

struct provider *sim_stowage_provider(struct sim_stowage *w); /* kwok's, for kwok_reprice */

/* The newest of each, valid until the next step; NULL before the first. */
const struct snapshot *sim_stowage_snapshot(struct sim_stowage *w);
const struct places *sim_stowage_places(struct sim_stowage *w);

#endif
