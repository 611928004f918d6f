#include "sim/stowage.h"

#include <stdlib.h>

#include "extender/extender.h"
#include "reconciler/derive.h"

struct sim_stowage {
    struct sim *sim;
    struct sim_stowage_options options;
    struct api *client;
    struct provider *provider;
    struct derive *derive;
    struct store *store;
    struct share places;
    struct ledger *ledger;
    struct reconciler *reconciler;
    struct extender_scratch scratch;
    struct share_cache snapshot_cache, places_cache;
    mono_ms next; /* the reconciler's */
    bool woken;
};

/* ---- what the parts call ---- */

static void on_wake(void *user)
{
    ((struct sim_stowage *)user)->woken = true;
}

static void on_decided(void *user, const struct decision *d)
{
    const struct sim_stowage *w = user;
    if (w->options.decided != NULL)
        w->options.decided(w->options.user, d);
}

static void on_measured(void *user, const struct measure *m)
{
    const struct sim_stowage *w = user;
    if (w->options.measured != NULL)
        w->options.measured(w->options.user, m);
}

static bool in_stock(void *user, struct span type, struct span zone, struct span capacity_type)
{
    const struct sim_stowage *w = user;
    return w->options.in_stock == NULL ||
           w->options.in_stock(w->options.user, type, zone, capacity_type);
}

static void on_list_begin(void *user, enum kind k)
{
    store_list_begin(((struct sim_stowage *)user)->store, k);
}

static void on_list_end(void *user, enum kind k)
{
    store_list_end(((struct sim_stowage *)user)->store, k);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct sim_stowage *)user)->store, k, e, object);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    struct sim_stowage *w = user;
    store_state(w->store, k, broken, sim_now(w->sim));
}

/* ---- a round ---- */

static wall_ms step(void *user, wall_ms now)
{
    struct sim_stowage *w = user;
    if (sim_client_dead(w->client))
        return INT64_MAX;
    if (store_due(w->store) <= now) {
        store_publish(w->store, now);
        w->woken = true;
    }
    if (w->woken || w->next <= now) {
        w->woken = false;
        w->next = reconciler_step(w->reconciler, now, now);
    }
    share_reap(store_share(w->store));
    if (w->woken)
        return now;
    return store_due(w->store) < w->next ? store_due(w->store) : w->next;
}

static uint32_t sent_pods(void *user, mono_ms now, struct arena *a, const struct sent_pod **out)
{
    return ledger_sent(((struct sim_stowage *)user)->ledger, now, a, out);
}

static mono_ms last_asked(void *user)
{
    return ledger_last_asked(((struct sim_stowage *)user)->ledger);
}

/* ---- the extender ---- */

static struct extender_view view_of(struct sim_stowage *w)
{
    const struct snapshot *s = sim_stowage_snapshot(w);
    if (s == NULL || !snapshot_synced(s) || sim_client_dead(w->client))
        return (struct extender_view){0};
    return (struct extender_view){.snapshot = s,
                                  .world = derive_world(s),
                                  .places = sim_stowage_places(w),
                                  .ledger = w->ledger,
                                  .now = sim_now(w->sim),
                                  .wall = sim_now(w->sim)};
}

static bool filter(void *user, struct span args, struct buf *reply)
{
    struct sim_stowage *w = user;
    struct extender_view view = view_of(w);
    struct extender_verdict verdict;
    struct err err;
    bool answered = extender_filter(&w->scratch, &view, args, reply, &verdict, &err);
    w->woken |= answered && verdict.astray;
    return answered;
}

static bool prioritize(void *user, struct span args, struct buf *reply)
{
    struct sim_stowage *w = user;
    struct extender_view view = view_of(w);
    struct extender_verdict verdict;
    struct err err;
    return extender_prioritize(&w->scratch, &view, args, reply, &verdict, &err);
}

struct sim_extender sim_stowage_extender(struct sim_stowage *w)
{
    return (struct sim_extender){.user = w, .filter = filter, .prioritize = prioritize};
}

/* ---- lifecycle ---- */

static void connect(struct sim_stowage *w)
{
    const struct kwok_config kwok = {
        .api = w->client,
        .types = w->options.types != NULL ? w->options.types : catalogue_builtin(),
        .in_stock = in_stock,
        .user = w,
        .wake = on_wake,
    };
    w->provider = kwok_new(&kwok);
    w->derive = derive_new(w->provider, &w->options.world);
    struct store_deriver deriver = derive_deriver(w->derive);
    w->store = store_new(&deriver);
    if (w->options.world.capacity_buffer)
        store_read_scale(w->store);
    if (w->options.reconciler.nominate)
        store_keep_pod_versions(w->store);
    share_init(&w->places, places_destroy);
}

static void watch_all(struct sim_stowage *w)
{
    const struct api_sink sink = {w, on_list_begin, on_list_end, on_event, on_state};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        w->client->ops->watch(w->client, k, &sink);
}

struct sim_stowage *sim_stowage_new(struct sim *s, const struct sim_stowage_options *o)
{
    struct sim_stowage *w = mem_new(sizeof *w);
    w->sim = s;
    w->options = *o;
    w->client = sim_client_new(sim_cluster(s));
    w->ledger = ledger_new();
    connect(w);
    struct reconciler_config config = {
        .api = w->client,
        .provider = w->provider,
        .snapshots = store_share(w->store),
        .places = &w->places,
        .options = o->reconciler,
        .listener = {.user = w, .wake = on_wake, .decided = on_decided, .measured = on_measured,
                     .sent = sent_pods, .asked = last_asked},
    };
    w->reconciler = reconciler_new(&config);
    reconciler_lead(w->reconciler, true);
    extender_scratch_init(&w->scratch);
    watch_all(w);
    sim_add_actor(s, (struct sim_actor){.user = w, .step = step});
    return w;
}

void sim_stowage_free(struct sim_stowage *w)
{
    if (w == NULL)
        return;
    sim_remove_actor(w->sim, w);
    sim_client_free(w->client); /* then nothing is under way any more */
    reconciler_free(w->reconciler);
    w->provider->ops->free(w->provider);
    share_drop(&w->snapshot_cache);
    share_drop(&w->places_cache);
    share_release(&w->places);
    store_free(w->store);
    derive_free(w->derive);
    extender_scratch_release(&w->scratch);
    ledger_free(w->ledger);
    free(w);
}

struct api *sim_stowage_client(struct sim_stowage *w)
{
    return w->client;
}

const struct snapshot *sim_stowage_snapshot(struct sim_stowage *w)
{
    return (const struct snapshot *)share_read(store_share(w->store), &w->snapshot_cache);
}

const struct places *sim_stowage_places(struct sim_stowage *w)
{
    return (const struct places *)share_read(&w->places, &w->places_cache);
}
