/* window: a stretch of time that comes again: from each hit of a schedule on, as long as its duration. */
#ifndef KUBE_WINDOW_H
#define KUBE_WINDOW_H

#include "kube/cron.h"
#include "kube/zone.h"

struct window {
    struct cron cron;  /* by the zone's clock */
    span_ms length;    /* above 0; of what overlaps, or follows at once, one stretch is made */
    struct zone zone;
};

/* One without a hit in five years is never open. The end does not belong to it. */
bool window_is_open(const struct window *w, wall_ms now);
/* The first time after `now` at which it opens or closes. False: that does not come, or not within a week of schedules
 * that hit each minute. */
bool window_turns(const struct window *w, wall_ms now, wall_ms *out);

#endif
