/* view: what the scheduler's questions are answered from, and whether they may be. */
#ifndef EXTENDER_VIEW_H
#define EXTENDER_VIEW_H

#include "base/share.h"
#include "extender/extender.h"
#include "kube/store.h"

struct extender_sources {
    struct share *snapshots, *places; /* of struct snapshot, whose `derived` is a world; of struct places */
    struct ledger *ledger;            /* or NULL */
    /* Whether plan and places are ours to speak of, now; any thread. NULL: never. */
    bool (*leads)(void *user, mono_ms now);
    void *user;
};

static inline bool extender_leads(const struct extender_sources *s, mono_ms now)
{
    return s->leads != NULL && s->leads(s->user, now);
}

struct extender_times {
    mono_ms mono;
    wall_ms wall;
};

/* The newest of everything, whoever leads: for who only tells of it. No snapshot before every kind was listed: a part
 * of the cluster is nothing to speak of. Valid until the caches are read again. */
struct extender_view extender_newest(const struct extender_sources *s, struct share_cache *snapshots,
                                     struct share_cache *places, struct extender_times at);
/* The same for the scheduler: no opinion unless we lead and every kind is synced. */
struct extender_view extender_open(const struct extender_sources *s, struct share_cache *snapshots,
                                   struct share_cache *places, struct extender_times at);

#endif
