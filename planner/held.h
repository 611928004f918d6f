/* held: the room of each row that is spoken for by pods which are not seen bound there yet: the places
 * of a plan, the scheduler's nominations, and what the extender has just let onto a node.
 *
 * Places and nominations are held at the priority of their pod: a pod has to leave those of its own and
 * of higher priority, and never what it holds itself. Who was let onto a node stands there in all
 * likelihood, and is in the way of everybody: only the scheduler can evict him. A pod holds a row once,
 * however often that is said.
 *
 * Made for one world, whose vectors it points to. Memory: 32 bytes a row, and some 80 bytes and at
 * most one vector for each pod that holds. */
#ifndef PLANNER_HELD_H
#define PLANNER_HELD_H

#include "planner/places.h"
#include "planner/world.h"

struct snapshot;
struct held;

struct holder {
    uint64_t id; /* span_hash of the pod's uid */
    int32_t priority;
    const amount *requests; /* a vector of the world's columns */
};

/* What places (NULL: none) and nominations hold. A place holds while its pod is neither bound nor gone, and that of a pod
 * that has to leave its node while that pod is there, being deleted or not, and of a StatefulSet for who has its name
 * since; the snapshot tells, without one (NULL) only pods that wait hold. A pod that the scheduler has nominated holds its
 * room there, and no place; one that we have, its place, which it was nominated for, or is about to be. Costs a look-up a place: who asks often keeps it. */
struct held *held_new(struct arena *a, const struct world *w, const struct snapshot *s,
                      const struct places *p);
/* Of each place that it was made of. */
const struct place_sight *held_sights(const struct held *h);
/* One more, on each of these rows once; held_drop takes it back, before which it is not put again. What
 * was held from the start stays, unless it is moved. */
void held_put(struct held *h, const uint32_t *rows, uint32_t count, const struct holder *x);
void held_drop(struct held *h, uint64_t id);

/* Whether it holds the row from the start, and was not put there since. */
bool held_from_start(const struct held *h, uint64_t id, uint32_t row);
/* What is held so is held elsewhere from now on; to -1: nowhere. Nothing happens without it. */
void held_move(struct held *h, uint64_t id, uint32_t from, int32_t to);
/* What is held so is another pod's from now on, which is as large. */
void held_inherit(struct held *h, uint64_t id, uint32_t row, uint64_t heir);

/* All that is held on the row, NULL when nothing is. Valid until the next put or drop. */
const amount *held_at(const struct held *h, uint32_t row);
/* What a pod has to leave there. `holds`: held_any of it, asked once; scratch takes a vector. *placed_out:
 * places or nominations are among it, which are what needs a guard: what was put is on its way there,
 * and the scheduler counts it already. */
const amount *held_against(const struct held *h, uint32_t row, uint64_t id, int32_t priority,
                           bool holds, amount *scratch, bool *placed_out);
bool held_any(const struct held *h, uint64_t id);
bool held_places(const struct held *h, uint32_t row); /* some place or nomination is there */

#endif
