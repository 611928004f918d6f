/* pace: how long the reconciler rests after a step before anything from outside may wake it again. What comes
 * meanwhile, snapshots and answers to our own writes, is one pass afterwards; what a pass itself asks to be called
 * for (reconciler_step's answer) is not put off. Pure. */
#ifndef RECONCILER_PROVISION_PACE_H
#define RECONCILER_PROVISION_PACE_H

#include "base/units.h"

enum {
    PACE_SHARE = 25,   /* rests as many times as long as it worked: passes take at most 4 % of a core */
    PACE_MAX_MS = 50,  /* as snapshots are published: news is in a plan within 100 ms, whatever passes cost */
};

/* `took_ns`: CPU time of the step. Rounded down: what takes nothing rests not at all. */
span_ms pace_rest(uint64_t took_ns);

#endif
