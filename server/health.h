/* health: whether this process should be sent work (/readyz) and whether it should be restarted
 * (/livez, /healthz).
 *
 * Ready: certificates are loaded and we listen, and we are not on our way out. A store that is not
 * synced does not count: without it the answer is "no opinion". Alive: every loop has given a sign of
 * life within HEALTH_SILENCE_MS. All functions from any thread, but health_beat_add before the
 * server starts. */
#ifndef SERVER_HEALTH_H
#define SERVER_HEALTH_H

#include "base/buf.h"
#include "base/units.h"

enum { HEALTH_SILENCE_MS = 10 * MS_SECOND, HEALTH_BEATS_MAX = 8 };

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

/* A thread that must not fall silent; its beats go by the id returned. */
uint32_t health_beat_add(struct health *h, const char *name, mono_ms now);
void health_beat(struct health *h, uint32_t id, mono_ms now);
/* Loops of others, asked when somebody asks us: when the oldest last lived. */
void health_watch(struct health *h, const char *name, mono_ms (*oldest)(const void *user),
                  const void *user);

/* True and "ok", or false and a sentence why not. */
bool health_ready(const struct health *h, struct buf *why);
bool health_alive(const struct health *h, mono_ms now, struct buf *why);

#endif
