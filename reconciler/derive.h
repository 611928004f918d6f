/* derive: makes the planner's world of a snapshot, for store_new. Runs on the API thread.
 *
 * The catalogue is asked of the provider for each table of symbols and each generation of the
 * provider's list once, and shared by the worlds made with it. */
#ifndef RECONCILER_DERIVE_H
#define RECONCILER_DERIVE_H

#include "cloud/provider.h"
#include "kube/store.h"
#include "planner/world.h"

struct derive;

struct derive *derive_new(struct provider *provider,
                          const struct world_options *options); /* copied */
void derive_free(struct derive *d);                             /* after the store */
struct store_deriver derive_deriver(struct derive *d);
/* The provider would list other types than the last world has: time for store_touch. API thread. */
bool derive_is_stale(const struct derive *d);
/* What went wrong when the provider was last asked for its types; kind ERR_NONE: nothing. API
 * thread. Worlds are made with the last list that came. */
const struct err *derive_error(const struct derive *d);

static inline const struct world *derive_world(const struct snapshot *s)
{
    return s->derived;
}

#endif
