/* health: whether this process should be sent work (/readyz) and whether it should be restarted
 * (/livez, /healthz).
 *
 * Ready: certificates are loaded and we listen, and we are not on our way out. A store that is not
 * synced does not count: without it the answer is "no opinion". Alive: the watchdog, which knows who had no core, has
 * found that no thread stands still within HEALTH_JUDGED_MS. While it does not run: every thread has beaten within
 * HEALTH_SILENCE_MS, one that computes within PULSE_BUSY_MS. All functions
 * from any thread, but health_watch before the watchdog starts. */
#ifndef SERVER_HEALTH_H
#define SERVER_HEALTH_H

#include "base/buf.h"
#include "server/pulse.h"

/* Threads: as many loops as --threads may say, that of the webhook, that of the plain listeners, and those of live. */
enum { HEALTH_SILENCE_MS = 10 * MS_SECOND, HEALTH_JUDGED_MS = 2 * MS_SECOND, HEALTH_PULSES_MAX = 64 + 8 };

enum health_need { /* what readiness waits for */
    HEALTH_CERTIFICATES,
    HEALTH_LISTENING,
    HEALTH_NEED_COUNT,
};

struct health;
struct health *health_new(void);
void health_free(struct health *h);

void health_have(struct health *h, enum health_need need);
void health_leave(struct health *h); /* readiness falls, for good */

/* A thread that must not fall silent; it outlives the health. */
void health_watch(struct health *h, const struct pulse *p);
const struct pulse *const *health_pulses(const struct health *h, uint32_t *count_out);

/* The watchdog has looked, and no thread stands still. */
void health_judged(struct health *h, mono_ms now);

/* True and "ok", or false and a sentence why not. */
bool health_ready(const struct health *h, struct buf *why);
bool health_alive(const struct health *h, mono_ms now, struct buf *why);

#endif
