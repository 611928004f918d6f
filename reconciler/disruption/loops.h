/* loops: consolidations that undo one another. For this folder only.
 *
 * Of each node that a consolidation removed it is remembered for an hour what it was, and in whose place it had come: that
 * of one that a consolidation replaced by it, or of one that was consolidated before it was bought and would have done in
 * its stead. Whoever is to go, came in such a place, of one that had come in the place of another of his own kind, all
 * within the hour, goes in a circle: prices come and go, or somebody makes anew what a consolidation has put together.
 * His NodePool's nodes are in no consolidation for an hour (they would go in his stead), and its Event DisruptionLoop shows
 * the circle. What grows and shrinks more slowly is none. With --search greedy nothing is remembered, nor by a new
 * leader. Memory: LOOPS_MOST nodes of half a kilobyte. */
#ifndef RECONCILER_DISRUPTION_LOOPS_H
#define RECONCILER_DISRUPTION_LOOPS_H

#include <stdbool.h>

#include "base/units.h"

struct pass;
struct command;
struct claim_view;

enum {
    LOOPS_WITHIN_MS = 60 * MS_MINUTE, /* that often a node is paid for again, whatever clouds charge by */
    LOOPS_PAUSE_MS = 60 * MS_MINUTE,
    LOOPS_MOST = 1024, /* the last ones */
};

struct gone; /* a node that a consolidation removed */
struct loops { /* zero: nothing is remembered */
    struct gone *items; /* malloc'ed; the oldest first */
    uint32_t count;
};
void loops_release(struct loops *l);

/* Whether a consolidation would go on in a circle: it is then not to be made, and that was told. */
bool loops_stop(struct pass *p, const struct command *c);
/* The end of the time for which its NodePool's nodes are in none; 0: there is none. */
mono_ms loops_end(const struct pass *p, const struct claim_view *c);
/* A command begins to remove its nodes. */
void loops_removed(struct pass *p, const struct command *c);

#endif
