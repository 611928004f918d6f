/* loop_health: /health-check as Cluster Autoscaler has it (spec node-groups 1.8): whether the loop that keeps node groups
 * passes, and whether passes succeed. It is watched from its first pass on until we do not lead any more: who stands by is
 * well. Any thread. */
#ifndef SERVER_LOOP_HEALTH_H
#define SERVER_LOOP_HEALTH_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/units.h"

struct loop_limits {
    span_ms inactivity, failing; /* --max-inactivity, --max-failing-time */
    span_ms startup;             /* --max-startup-time: until the first success instead of `failing`; at least both */
};

struct loop_health { /* zero: nothing is watched */
    _Atomic(mono_ms) began, active, succeeded; /* 0: not yet */
};

void loop_passes(struct loop_health *h, mono_ms now);
void loop_succeeds(struct loop_health *h, mono_ms now);
void loop_rests(struct loop_health *h); /* we do not lead any more */
/* True and nothing, or false and a sentence. */
bool loop_is_well(const struct loop_health *h, const struct loop_limits *limits, mono_ms now, struct buf *why);

#endif
