#include "server/health.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"

struct beat {
    const char *name;
    _Atomic(mono_ms) last;
};

struct watched {
    const char *name;
    mono_ms (*oldest)(const void *user);
    const void *user;
};

struct health {
    _Atomic(bool) have[HEALTH_NEED_COUNT], leaving;
    struct beat beats[HEALTH_BEATS_MAX];
    struct watched watched[HEALTH_BEATS_MAX];
    uint32_t beat_count, watched_count;
};

struct health *health_new(void)
{
    return mem_new(sizeof(struct health));
}

void health_free(struct health *h)
{
    free(h);
}

void health_have(struct health *h, enum health_need need)
{
    atomic_store(&h->have[need], true);
}

void health_leave(struct health *h)
{
    atomic_store(&h->leaving, true);
}

uint32_t health_beat_add(struct health *h, const char *name, mono_ms now)
{
    assert(h->beat_count < HEALTH_BEATS_MAX);
    struct beat *b = &h->beats[h->beat_count];
    b->name = name;
    atomic_store(&b->last, now);
    return h->beat_count++;
}

void health_beat(struct health *h, uint32_t id, mono_ms now)
{
    atomic_store_explicit(&h->beats[id].last, now, memory_order_relaxed);
}

void health_watch(struct health *h, const char *name, mono_ms (*oldest)(const void *user),
                  const void *user)
{
    assert(h->watched_count < HEALTH_BEATS_MAX);
    h->watched[h->watched_count++] = (struct watched){name, oldest, user};
}

bool health_ready(const struct health *h, struct buf *why)
{
    static const char *const missing[] = {
        [HEALTH_CERTIFICATES] = "the certificates are not loaded yet",
        [HEALTH_LISTENING] = "webhook and extender do not listen yet",
    };
    if (atomic_load(&h->leaving)) {
        buf_add(why, SPAN("shutting down"));
        return false;
    }
    for (uint32_t i = 0; i < HEALTH_NEED_COUNT; i++)
        if (!atomic_load(&h->have[i])) {
            buf_add(why, span_of(missing[i]));
            return false;
        }
    buf_add(why, SPAN("ok"));
    return true;
}

static bool silent(const char *name, mono_ms last, mono_ms now, struct buf *why)
{
    if (now - last < HEALTH_SILENCE_MS)
        return false;
    buf_addf(why, "%s has been silent for %lld s", name,
             (long long)((now - last) / MS_SECOND));
    return true;
}

bool health_alive(const struct health *h, mono_ms now, struct buf *why)
{
    for (uint32_t i = 0; i < h->beat_count; i++)
        if (silent(h->beats[i].name, atomic_load(&h->beats[i].last), now, why))
            return false;
    for (uint32_t i = 0; i < h->watched_count; i++)
        if (silent(h->watched[i].name, h->watched[i].oldest(h->watched[i].user), now, why))
            return false;
    buf_add(why, SPAN("ok"));
    return true;
}
