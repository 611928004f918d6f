/* sides: which Pods this replica has given a side of their workload's split (planner/pods/split.h) and no snapshot shows yet.
 * A controller creates many Pods in the time that the watch needs to tell of one: without a memory of the answers all of one
 * moment would get the same side.
 *
 * All HTTP threads share it: one mutex, held for a look at all of them. Memory: SIDES_MAX entries, the oldest of which makes way; each is
 * forgotten when a snapshot shows the Pod, or after SIDES_MS: then it was refused by others, or its answer came too late.
 * What other replicas gave nobody knows before a snapshot tells: each counts for itself, and Pods that come later make up
 * for what that comes to. */
#ifndef WEBHOOK_SIDES_H
#define WEBHOOK_SIDES_H

#include "base/units.h"
#include "planner/world.h"

enum {
    SIDES_MAX = 512,            /* some seconds of a controller that creates as fast as it can */
    SIDES_MS = 10 * MS_SECOND,  /* much longer than a snapshot takes */
};

struct sides;
struct sides *sides_new(void);
void sides_free(struct sides *s); /* NULL is fine */

/* Those of the workload that are remembered, oldest first; `out` has room for SIDES_MAX. Returns how many, and the version to be
 * given to sides_add. */
uint32_t sides_copy(struct sides *s, mono_ms now, uint64_t workload, struct split_sent *out, uint64_t *version_out);
/* Remembers one whose id was not among the copied. False: another has been added since `version`, and nothing was done: who
 * decides by old news gives the same side twice. */
bool sides_add(struct sides *s, const struct split_sent *sent, uint64_t version, mono_ms now);
/* Forgets those that a snapshot shows: which have their pod. */
void sides_settle(struct sides *s, const struct split_sent *list, uint32_t count);

#endif
