/* clock_jump: steps of the wall clock, found by comparing it with the monotonic one: somebody sets the clock, it is
 * corrected after a start without network, or the machine was suspended. Pure; one look a step of the reconciler.
 *
 * Conditions, deadlines and ages are moments of the wall clock. What a step forward makes due at once for many nodes is
 * spread by their pools' budgets; what is under way (launches, drains) keeps the time that it had left. A moment that a
 * step backwards has put into the future counts from when it was. Nothing of it outlives the process: a Stowage that
 * starts after a step takes the clock for right. */
#ifndef RECONCILER_CLOCK_JUMP_H
#define RECONCILER_CLOCK_JUMP_H

#include <stdbool.h>

#include "base/units.h"

/* Corrections by less are daily business, and what they make due is too little to matter. */
enum { CLOCK_JUMP_MS = MS_MINUTE };

struct clock_jump { /* zero: nothing was seen yet */
    mono_ms mono;   /* of the last look */
    wall_ms wall;   /* 0: there was none */
    wall_ms due_from, due_to; /* what fell due after the one and until the other did by steps forward */
    wall_ms before;           /* what the clock showed before the last step forward, by `span` */
    span_ms span;
    span_ms ahead; /* moments from before steps backwards may be so much in the future */
    wall_ms top;   /* until the clock shows this again */
};

/* Returns by how much the wall clock has stepped since the last look, below zero backwards; 0: it has not. */
span_ms clock_jump_look(struct clock_jump *j, mono_ms mono, wall_ms wall);

/* Whether `due`, which is over, is so by a step forward. */
bool clock_jump_made_due(const struct clock_jump *j, wall_ms due);

/* What to add to a moment that was reckoned from `since`, a moment that the clock showed, since it has stepped in
 * between. `wall`: now. */
span_ms clock_jump_shift(const struct clock_jump *j, wall_ms since, wall_ms wall);

/* How long ago it was at the last look, steps of the clock in between left out; never below zero. */
span_ms clock_jump_age(const struct clock_jump *j, wall_ms since);

#endif
