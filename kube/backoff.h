/* backoff: how long to wait before the next attempt. Arithmetic only; the caller has the clock. */
#ifndef KUBE_BACKOFF_H
#define KUBE_BACKOFF_H

#include <stdbool.h>

#include "base/units.h"

struct backoff {
    span_ms first, max; /* doubles from `first`, never above `max` */
    uint32_t failures;  /* in a row; 0 begins anew */
};

/* Counts a failure. `random` in [0, 1) takes the wait down by up to a half, so that many who failed
 * together do not come back together. */
span_ms backoff_next(struct backoff *b, double random);

/* A token bucket: `burst` at once, `rate` a second after that. */
struct bucket {
    double rate, burst;
    double tokens; /* starts full when `at` is 0 */
    mono_ms at;
};

bool bucket_take(struct bucket *b, mono_ms now);
/* When bucket_take can next succeed; `now` or earlier: at once. */
mono_ms bucket_due(struct bucket *b, mono_ms now);

/* Splitmix64: jitter needs no better. In [0, 1). */
double random_unit(uint64_t *state);

#endif
