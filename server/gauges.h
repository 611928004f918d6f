/* gauges: what a running Stowage knows of itself, as metrics: requests to the API server and their line, Events, the
 * newest snapshot, how worlds were made, the ledger. Their names are in docs/metrics.md. */
#ifndef SERVER_GAUGES_H
#define SERVER_GAUGES_H

#include "server/live.h"
#include "server/metrics.h"

struct gauges;
struct gauges *gauges_new(struct metrics *m); /* registers; `m` outlives it */
void gauges_free(struct gauges *g);

/* Reads what live tells now, at most once in GAUGES_MS. API thread. */
enum { GAUGES_MS = 1000 };
void gauges_read(struct gauges *g, struct live *l, mono_ms now);
/* live_config.derived. */
void gauges_derived(struct gauges *g, enum derive_way way, double seconds);

#endif
