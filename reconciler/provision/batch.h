/* batch: waits for a burst of pending pods to be over before planning for all of them (spec
 * provisioning 1.5). The window opens with the first trigger, ends when nothing new came for
 * `idle`, and never lasts longer than `max`. A pod that triggered already does not prolong it. */
#ifndef RECONCILER_PROVISION_BATCH_H
#define RECONCILER_PROVISION_BATCH_H

#include "base/span.h"
#include "base/units.h"

struct batch {
    span_ms idle, max;
    uint64_t *seen; /* hashes of what triggered in this window */
    uint32_t seen_count, seen_slots;
    mono_ms opened, last;
    bool open;
};

void batch_init(struct batch *b, span_ms idle, span_ms max);
void batch_release(struct batch *b);
void batch_trigger(struct batch *b, struct span element, mono_ms now);
/* When the window ends; INT64_MAX: none is open. */
mono_ms batch_due(const struct batch *b);
/* A reason to plan that is no pod's: prolongs the window each time. */
void batch_wake(struct batch *b, mono_ms now);
void batch_close(struct batch *b); /* empty again, the same elements may trigger anew */

#endif
