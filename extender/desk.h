/* desk: what one thread answers from: the room that is held, for the snapshot, places and ledger it saw
 * last. Made anew for a new snapshot or new places; in between only the ledger's news are entered. */
#ifndef EXTENDER_DESK_H
#define EXTENDER_DESK_H

#include "extender/ledger.h"
#include "kube/store.h"
#include "planner/held.h"

struct extender_view;

struct desk { /* zero: nothing laid out yet */
    struct arena arena; /* of `held`; emptied with it */
    bool laid;
    size_t bytes; /* of the arena when it was laid */
    /* What it was laid out for. An address may come again, so that it takes more to be the same. */
    const struct snapshot *snapshot;
    const struct places *places;
    uint64_t sequence, planned_on;
    wall_ms made;
    uint32_t place_count;
    struct held *held;
    uint64_t version; /* of the ledger */
};

/* Brings the desk up to the view, whose world is there. A booking whose pod the snapshot shows bound, or
 * no longer has, holds nothing here, and the ledger is told. */
const struct held *desk_open(struct desk *d, const struct extender_view *v);
void desk_release(struct desk *d);

#endif
