#include "server/health.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"

struct health {
    _Atomic(bool) have[HEALTH_NEED_COUNT], leaving;
    const struct pulse *pulses[HEALTH_PULSES_MAX];
    uint32_t pulse_count;
    _Atomic(mono_ms) judged; /* 0: never */
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

void health_watch(struct health *h, const struct pulse *p)
{
    assert(h->pulse_count < HEALTH_PULSES_MAX);
    h->pulses[h->pulse_count++] = p;
}

const struct pulse *const *health_pulses(const struct health *h, uint32_t *count_out)
{
    *count_out = h->pulse_count;
    return h->pulses;
}

void health_judged(struct health *h, mono_ms now)
{
    atomic_store_explicit(&h->judged, now, memory_order_relaxed);
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

bool health_alive(const struct health *h, mono_ms now, struct buf *why)
{
    mono_ms judged = atomic_load_explicit(&h->judged, memory_order_relaxed);
    bool is_judged = judged != 0 && now - judged < HEALTH_JUDGED_MS;
    for (uint32_t i = 0; i < h->pulse_count && !is_judged; i++) {
        span_ms silent = now - atomic_load(&h->pulses[i]->last);
        if (silent < (h->pulses[i]->computes ? (span_ms)PULSE_BUSY_MS : HEALTH_SILENCE_MS))
            continue;
        buf_addf(why, "%s has been silent for %lld s", h->pulses[i]->name,
                 (long long)(silent / MS_SECOND));
        return false;
    }
    buf_add(why, SPAN("ok"));
    return true;
}
