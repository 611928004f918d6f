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
#include <stdint.h>

#include "base/units.h"

enum {
    /* Smaller corrections are common, and make too little due at once to matter. */
    CLOCK_JUMP_MS = MS_MINUTE,
    /* A clock that steps more often in the life of a claim is broken; the oldest steps are forgotten. */
    CLOCK_STEPS_MAX = 16,
};

struct clock_step {
    wall_ms before, after; /* what the clock would have shown, and what it showed */
    wall_ms due_to;        /* deadlines after `before`, up to this one, are past because of the step */
};

struct clock_jump { /* zero: no look yet */
    mono_ms mono; /* of the last look */
    wall_ms wall; /* of the last look; 0: there was none */
    struct clock_step steps[CLOCK_STEPS_MAX]; /* oldest first */
    uint32_t count;
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
