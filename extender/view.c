#include "extender/view.h"

struct extender_view extender_newest(const struct extender_sources *s, struct share_cache *snapshots,
                                     struct share_cache *places, struct extender_times at)
{
    struct extender_view v = {
        .snapshot = (const struct snapshot *)share_read(s->snapshots, snapshots),
        .places = (const struct places *)share_read(s->places, places),
        .ledger = s->ledger,
        .now = at.mono,
        .wall = at.wall,
    };
    if (v.snapshot != NULL)
        v.world = v.snapshot->derived;
    if (v.world == NULL)
        v.snapshot = NULL;
    return v;
}

struct extender_view extender_open(const struct extender_sources *s, struct share_cache *snapshots,
                                   struct share_cache *places, struct extender_times at)
{
    static const struct extender_view no_opinion;
    if (!extender_leads(s, at.mono))
        return no_opinion;
    struct extender_view v = extender_newest(s, snapshots, places, at);
    return v.snapshot != NULL && snapshot_synced(v.snapshot) ? v : no_opinion;
}
