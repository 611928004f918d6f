#include "kube/mirror_io.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUND_MS = 1000,    /* the longest sleep: bounds how late a stop is seen */
    ACTS_END_MS = 1000, /* as long as the API thread waits for its own (server/live.c) */
};

struct mirror {
    struct client *client;
    struct store *store;
    pthread_t thread;
    bool started;
    _Atomic(bool) stop;
};

static mono_ms clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (mono_ms)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- what is watched --- */

static void on_list_begin(void *user, enum kind k)
{
    store_list_begin(((struct mirror *)user)->store, k);
}

static void on_list_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(((struct mirror *)user)->store, k, asked);
}

static void on_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct mirror *)user)->store, k, e, object);
}

static void on_state(void *user, enum kind k, const struct err *broken)
{
    store_state(((struct mirror *)user)->store, k, broken, clock_now());
}

/* --- its thread --- */

static void end_acts(struct mirror *m)
{
    struct api *api = mirror_api(m);
    mono_ms limit = clock_now() + ACTS_END_MS;
    struct client_load load;
    api->ops->cancel_acts(api);
    do {
        client_poll(m->client, 50);
        load = client_load(m->client);
    } while ((load.running != 0 || load.waiting != 0) && clock_now() < limit);
}

static void *run(void *user)
{
    struct mirror *m = user;
    while (!atomic_load(&m->stop)) {
        mono_ms now = clock_now();
        if (store_due(m->store) <= now)
            store_publish(m->store, now);
        mono_ms due = store_due(m->store); /* INT64_MAX: nothing changed */
        client_poll(m->client, due >= now + ROUND_MS ? ROUND_MS : due > now ? due - now : 0);
    }
    end_acts(m);
    return NULL;
}

/* --- the whole --- */

bool mirror_new(const struct mirror_config *config, struct mirror **out, struct err *err)
{
    struct mirror *m = mem_new(sizeof(*m));
    if (!client_new(config->cluster, config->policy, &m->client, err)) {
        free(m);
        return false;
    }
    m->store = store_new(NULL);
    struct api *api = mirror_api(m);
    struct api_sink sink = {.user = m,
                            .list_begin = on_list_begin,
                            .list_end = on_list_end,
                            .event = on_event,
                            .state = on_state};
    for (const enum kind *k = config->kinds; *k != KIND_NONE; k++)
        api->ops->watch(api, *k, &sink);
    *out = m;
    return true;
}

struct api *mirror_api(struct mirror *m)
{
    return client_api(m->client);
}

struct share *mirror_snapshots(struct mirror *m)
{
    return store_share(m->store);
}

void mirror_start(struct mirror *m)
{
    m->started = pthread_create(&m->thread, NULL, run, m) == 0;
}

void mirror_stop(struct mirror *m)
{
    if (!m->started)
        return;
    m->started = false;
    atomic_store(&m->stop, true);
    client_wakeup(m->client);
    pthread_join(m->thread, NULL);
}

void mirror_free(struct mirror *m)
{
    if (m == NULL)
        return;
    mirror_stop(m);
    client_free(m->client);
    store_free(m->store);
    free(m);
}
