/* sides: the Pods that this replica has given a side of their workload's split (planner/pods/split.h) and that no snapshot shows yet.
 * A controller creates many Pods before the watch reports the first: without this memory all of one moment would get the same side.
 *
 * Where the API server shows no certificate, anyone may send reviews, so what is remembered is bounded: at most SIDES_AHEAD more
 * Pods of a workload than the snapshot shows of it, SIDES_MAX in all, and apart for each pair of annotations. Nothing makes way
 * for others: past a bound the caller draws the side (world_split_draw), on which reviews of others have no influence.
 *
 * All HTTP threads share it: one mutex, held for a look at all of them. Each entry is forgotten when a snapshot shows the Pod, or
 * after SIDES_MS: then it was refused by others, or its answer came too late. What other replicas gave is unknown until a snapshot
 * shows it: each counts for itself, and Pods that come later make up for the difference. */
#ifndef WEBHOOK_SIDES_H
#define WEBHOOK_SIDES_H

#include "base/units.h"
#include "planner/world.h"

enum {
    SIDES_MAX = 512,            /* some seconds of a controller that creates as fast as it can */
    SIDES_AHEAD = 32,           /* kube-controller-manager's burst (30, --kube-api-burst) before the next snapshot */
    SIDES_MS = 10 * MS_SECOND,  /* much longer than a snapshot takes */
};

struct sides;
struct sides *sides_new(void);
void sides_free(struct sides *s); /* NULL is fine */

/* Those of the workload that are remembered, oldest first; `out` has room for SIDES_MAX. Returns how many, and the version to be
 * given to sides_add. */
uint32_t sides_copy(struct sides *s, mono_ms now, uint64_t workload, struct split_sent *out, uint64_t *version_out);
enum sides_added {
    SIDES_ADDED,
    SIDES_OUTDATED, /* another has been added since `version`: a decision by old news would give the same side twice */
    SIDES_FULL,     /* SIDES_MAX are remembered */
};
/* Remembers one whose id was not among the copied; unless it returns SIDES_ADDED, nothing was done. */
enum sides_added sides_add(struct sides *s, const struct split_sent *sent, uint64_t version, mono_ms now);
/* Forgets those that a snapshot shows: which have their pod. */
void sides_settle(struct sides *s, const struct split_sent *list, uint32_t count);

#endif
