#include "sim/stowage.h"

#include <stdlib.h>

#include "engine/engine.h"

struct sim_stowage {
    struct sim *sim;
    struct sim_stowage_options options;
    struct api *client;
    struct provider *provider;
    struct engine *engine;
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

static enum kwok_fate fate(void *user, struct span claim)
{
    const struct sim_stowage *w = user;
    return w->options.fate != NULL ? w->options.fate(w->options.user, claim) : KWOK_COMES;
}

/* ---- a round ---- */

static wall_ms step(void *user, wall_ms now)
{
    struct sim_stowage *w = user;
    if (sim_client_dead(w->client))
        return INT64_MAX;
    if (engine_publish(w->engine, now, NULL)) {
        bool done;
        engine_derive(w->engine, &done);
        engine_publish(w->engine, now, NULL);
        w->woken = true;
    }
    if (w->woken || w->next <= now) {
        w->woken = false;
        w->next = engine_decide(w->engine, now, now);
    }
    share_reap(engine_sources(w->engine)->snapshots);
    mono_ms due = engine_due(w->engine);
    if (w->woken)
        return now;
    return due < w->next ? due : w->next;
}

/* ---- the extender ---- */

static struct extender_view view_of(struct sim_stowage *w)
{
    wall_ms now = sim_now(w->sim);
    if (sim_client_dead(w->client))
        return (struct extender_view){0};
    return extender_open(engine_sources(w->engine), &w->snapshot_cache, &w->places_cache,
                         (struct extender_times){now, now});
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

static mono_ms now_of(void *user)
{
    return sim_now(((const struct sim_stowage *)user)->sim);
}

struct sim_stowage *sim_stowage_new(struct sim *s, const struct sim_stowage_options *o)
{
    struct sim_stowage *w = mem_new(sizeof *w);
    w->sim = s;
    w->options = *o;
    w->client = sim_client_new(sim_cluster(s));
    w->provider = kwok_new(&(struct kwok_config){
        .api = w->client,
        .types = o->types != NULL ? o->types : catalogue_builtin(),
        .in_stock = in_stock,
        .fate = fate,
        .user = w,
        .wake = on_wake,
    });
    w->engine = engine_new(&(struct engine_config){
        .api = w->client,
        .providers = {{w->provider}, 1},
        .world = o->world,
        .reconciler = o->reconciler,
        .listener = {.user = w, .wake = on_wake, .decided = on_decided, .measured = on_measured},
        .now = now_of,
        .all_kinds = true,
    });
    engine_lead(w->engine, true);
    extender_scratch_init(&w->scratch);
    engine_watch(w->engine);
    sim_add_actor(s, (struct sim_actor){.user = w, .step = step});
    return w;
}

void sim_stowage_free(struct sim_stowage *w)
{
    if (w == NULL)
        return;
    sim_remove_actor(w->sim, w);
    sim_client_free(w->client); /* then nothing is under way any more */
    share_drop(&w->snapshot_cache);
    share_drop(&w->places_cache);
    engine_free(w->engine);
    w->provider->ops->free(w->provider);
    extender_scratch_release(&w->scratch);
    free(w);
}

struct api *sim_stowage_client(struct sim_stowage *w)
{
    return w->client;
}

struct provider *sim_stowage_provider(struct sim_stowage *w)
{
    return w->provider;
}

const struct snapshot *sim_stowage_snapshot(struct sim_stowage *w)
{
    return (const struct snapshot *)share_read(engine_sources(w->engine)->snapshots, &w->snapshot_cache);
}

const struct places *sim_stowage_places(struct sim_stowage *w)
{
    return (const struct places *)share_read(engine_sources(w->engine)->places, &w->places_cache);
}
