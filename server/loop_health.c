#include "server/loop_health.h"

void loop_passes(struct loop_health *h, mono_ms now)
{
    if (atomic_load(&h->began) == 0)
        atomic_store(&h->began, now);
    atomic_store(&h->active, now);
}

void loop_succeeds(struct loop_health *h, mono_ms now)
{
    atomic_store(&h->succeeded, now);
}

void loop_rests(struct loop_health *h)
{
    atomic_store(&h->began, 0);
    atomic_store(&h->succeeded, 0);
}

static bool is_late(span_ms since, span_ms limit, const char *what, struct buf *why)
{
    if (since <= limit)
        return false;
    buf_addf(why, "the loop of node groups %s for %lld s", what, (long long)(since / MS_SECOND));
    return true;
}

bool loop_is_well(const struct loop_health *h, const struct loop_limits *limits, mono_ms now, struct buf *why)
{
    mono_ms began = atomic_load(&h->began), succeeded = atomic_load(&h->succeeded);
    span_ms startup = limits->startup;
    startup = startup > limits->inactivity ? startup : limits->inactivity;
    startup = startup > limits->failing ? startup : limits->failing;
    if (began == 0)
        return true;
    return !is_late(now - atomic_load(&h->active), limits->inactivity, "has made no pass", why) &&
           !is_late(now - (succeeded != 0 ? succeeded : began), succeeded != 0 ? limits->failing : startup, "has had no pass that succeeded",
                    why);
}
