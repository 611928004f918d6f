/* play: one run of a scenario: a cluster in memory, a Stowage that acts in it, the script, and the tally. */
#ifndef SIM_PLAY_H
#define SIM_PLAY_H

#include "sim/scenario/scenario.h"
#include "sim/scenario/tally.h"
#include "sim/stowage.h"

struct play_options {
    const struct scenario *scenario;
    const struct sim_cluster *objects;    /* those that are there in the beginning; its time is play_start's */
    struct catalogue_source *types;       /* taken over */
    struct reconciler_options reconciler;
    struct world_options world;
    bool no_extender; /* the scheduler asks nobody (placement by nomination) */
    void *user;
    /* One line of the log; NULL: nobody reads it. The same scenario, seed and options give the same lines. `id` is
     * a decision's, absent for what the script did. */
    void (*told)(void *user, wall_ms when, const char *subject, struct span sentence, struct span id);
};

wall_ms play_start(const struct scenario *s);
/* ERR_INVALID: the scenario speaks of what is not there; ERR_INTERNAL: a moment did not come to rest. */
bool play(const struct play_options *o, struct totals *out, struct err *err);

#endif
