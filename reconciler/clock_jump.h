/* clock_jump: steps of the wall clock, found by comparing it with the monotonic one. Causes: the clock is set by hand, it is
 * corrected after a start without network, or the machine was suspended. Pure; called once a step of the reconciler.
 *
 * Conditions, deadlines and ages are moments of the wall clock. What a step forward makes due at once for many nodes is
 * spread by their pools' budgets; what is under way (launches, drains) keeps the time that it had left. A moment that a
 * step backwards has put into the future counts from when it was. Nothing of it outlives the process: a Stowage that
 * starts after a step takes the clock for right. */
#ifndef RECONCILER_CLOCK_JUMP_H
#define RECONCILER_CLOCK_JUMP_H

#include <stdbool.h>

#include "base/units.h"

/* Smaller corrections are common, and make too little due at once to matter. */
enum { CLOCK_JUMP_MS = MS_MINUTE };

struct clock_jump { /* zero: nothing was seen yet */
    mono_ms mono;   /* of the last look */
    wall_ms wall;   /* 0: there was none */
    wall_ms due_from, due_to; /* moments after due_from, up to due_to, are past because of steps forward */
    wall_ms before;           /* what the clock showed before the last step forward, by `span` */
    span_ms span;
    span_ms ahead; /* moments from before steps backwards are at most this far in the future */
    wall_ms top;   /* `ahead` holds until the clock is past this */
};

/* Returns by how much the wall clock has stepped since the last look, below zero backwards; 0: it has not. */
span_ms clock_jump_look(struct clock_jump *j, mono_ms mono, wall_ms wall);

/* Whether the moment `due` is past only because of a step forward. */
bool clock_jump_made_due(const struct clock_jump *j, wall_ms due);

/* Returns what to add to a moment that was computed from `since` (a time that the clock showed), to make up for steps
 * in between. `wall`: now. */
span_ms clock_jump_shift(const struct clock_jump *j, wall_ms since, wall_ms wall);

/* Returns how long before the last look `since` was, without steps of the clock in between; never below zero. */
span_ms clock_jump_age(const struct clock_jump *j, wall_ms since);

#endif
