#include "kube/window.h"

#include "kube/meta.h"

/* The first hit after a time. Clocks that are set back show what they have shown: such hits are passed over. */
static bool next_hit(const struct window *w, wall_ms after, wall_ms *out)
{
    wall_ms local = after + zone_offset(&w->zone, after);
    do {
        if (!cron_next(&w->cron, local, &local))
            return false;
        *out = zone_utc(&w->zone, local);
    } while (*out <= after);
    return true;
}

bool window_is_open(const struct window *w, wall_ms now)
{
    wall_ms hit;
    return next_hit(w, now - w->length, &hit) && hit <= now;
}

bool window_turns(const struct window *w, wall_ms now, wall_ms *out)
{
    enum { HITS_MOST = 7 * 24 * 60 };
    wall_ms hit;
    if (!next_hit(w, now - w->length, &hit))
        return false;
    *out = hit;
    if (hit > now)
        return true;
    for (uint32_t i = 0; i < HITS_MOST; i++) {
        wall_ms end = hit + w->length;
        *out = end;
        if (!next_hit(w, hit, &hit) || hit > end)
            return true;
    }
    return false;
}
