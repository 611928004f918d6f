/* derive: makes the planner's world of a snapshot, for store_new. Worlds are made by one thread while
 * the API thread destroys others.
 *
 * No world is made before every kind was listed: nothing may be decided from a part of the cluster. A
 * snapshot in which nothing changed that a world is made of shares the world of the one before; where only
 * pods, Nodes, NodeClaims, CSINodes and budgets changed its world is made by delta if that can be (planner/world.h). The
 * catalogue is copied from the providers' listings for each table of symbols and each list of theirs once, and shared by
 * the worlds made with it; no world waits for a provider. */
#ifndef RECONCILER_DERIVE_H
#define RECONCILER_DERIVE_H

#include "cloud/listings.h"
#include "kube/store.h"
#include "planner/world.h"

struct derive;

struct derive *derive_new(const struct providers *providers, const struct listings_worker *worker,
                          const struct world_options *options); /* copied */
void derive_free(struct derive *d); /* after the store; the worker has nothing of its to do */
struct store_deriver derive_deriver(struct derive *d);
/* Has providers asked that would list other types by now; each time before a snapshot is made, at the latest. True: there
 * is a newer list than the last world has, time for store_touch. The store's thread. */
bool derive_look(struct derive *d, mono_ms now);
/* No snapshot is due: who just began has not heard yet what there is, and soon will. The store's thread. */
bool derive_waits(const struct derive *d);
/* How store_derive made the last world. Its thread. */
enum derive_way {
    DERIVE_NONE, /* none: not every kind was listed */
    DERIVE_SAME, /* that of the snapshot before */
    DERIVE_DELTA,
    DERIVE_BUILD,
};
const char *derive_way_name(enum derive_way way); /* "same", "delta", "build" */
enum derive_way derive_last(const struct derive *d);
/* NULL until every kind was listed. */
static inline const struct world *derive_world(const struct snapshot *s)
{
    return s->derived;
}

#endif
