#include "engine/engine.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "extender/ledger.h"
#include "planner/places.h"

struct engine {
    struct engine_config config;
    struct store *store;
    struct derive *derive;
    struct share places;
    struct ledger *ledger; /* of what the extender answered; shared by all who answer */
    struct reconciler *reconciler;
    struct extender_sources sources;
    _Atomic(struct snapshot *) begun, derived; /* FEED to DERIVE and back; NULL: none */
    _Atomic(bool) leading;
};

/* --- what is watched --- */

static void sink_begin(void *user, enum kind k)
{
    store_list_begin(((struct engine *)user)->store, k);
}

static void sink_end(void *user, enum kind k, bool asked)
{
    store_list_end_as(((struct engine *)user)->store, k, asked);
}

static void sink_event(void *user, enum kind k, enum watch_event what, struct doc_value object)
{
    store_event(((struct engine *)user)->store, k, what, object);
}

static void sink_state(void *user, enum kind k, const struct err *broken)
{
    struct engine *e = user;
    store_state(e->store, k, broken, e->config.now(e->config.listener.user));
}

static bool is_groups(const struct group_settings *s, enum kind k)
{
    const enum kind *own = s->provider->ops->kinds;
    while (*own != KIND_NONE && *own != k)
        own++;
    return *own == k;
}

bool engine_watches(const struct world_options *o, const struct providers *providers, const struct group_settings *groups,
                    enum kind k)
{
    bool spreads = o->default_spread != NULL, grouped = groups != NULL && groups->provider != NULL;
    if (grouped && is_groups(groups, k))
        return true;
    switch (k) {
    case KIND_NODE_OVERLAY:
        return o->node_overlay;
    case KIND_CAPACITY_BUFFER:
    case KIND_DEPLOYMENT:
        return o->capacity_buffer;
    case KIND_POD_TEMPLATE:
        return o->capacity_buffer || (grouped && groups->flags.provisioning_requests);
    case KIND_CAPACITY_QUOTA:
        return grouped && groups->flags.capacity_quotas;
    case KIND_PROVISIONING_REQUEST:
        return grouped && groups->flags.provisioning_requests;
    case KIND_REPLICA_SET: /* what a buffer may be scaled by, and what default spreads select by */
    case KIND_STATEFUL_SET:
        return o->capacity_buffer || spreads || grouped;
    case KIND_REPLICATION_CONTROLLER: /* and whose pods come back when they are moved */
        return spreads || grouped;
    case KIND_SERVICE:
        return spreads;
    case KIND_JOB:
        return grouped;
    case KIND_KWOK_NODE_CLASS:
        return providers == NULL || providers_watch(providers, k);
    case KIND_CLUSTER_API_NODE_CLASS:
        return providers != NULL && providers_watch(providers, k);
    default:
        return !kind_is_machines(k) || (providers != NULL && providers_watch(providers, k));
    }
}

void engine_watch(struct engine *e)
{
    struct api *api = e->config.api;
    struct api_sink sink = {.user = e,
                            .list_begin = sink_begin,
                            .list_end = sink_end,
                            .event = sink_event,
                            .state = sink_state};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (e->config.all_kinds || engine_watches(&e->config.world, &e->config.providers, &e->config.groups, k)) {
            api->ops->watch(api, k, &sink);
        } else { /* there are none, for all that anybody asks */
            store_list_begin(e->store, k);
            store_list_end(e->store, k);
        }
}

/* --- may we act, and answer --- */

static bool leads(void *user, mono_ms now)
{
    const struct engine *e = user;
    const struct reconciler_listener *l = &e->config.listener;
    return atomic_load(&e->leading) && (l->leads_until == NULL || now < l->leads_until(l->user));
}

void engine_lead(struct engine *e, bool leading)
{
    atomic_store(&e->leading, leading);
    reconciler_lead(e->reconciler, leading);
}

void engine_observe(struct engine *e, struct span reason)
{
    reconciler_observe(e->reconciler, reason);
}

/* --- what the extender tells the planner --- */

static uint32_t sent_pods(void *user, mono_ms now, struct arena *a, const struct sent_pod **out)
{
    return ledger_sent(user, now, a, out);
}

static mono_ms last_asked(void *user)
{
    return ledger_last_asked(user);
}

/* --- the three steps --- */

mono_ms engine_due(const struct engine *e)
{
    return derive_waits(e->derive) ? INT64_MAX : store_due(e->store);
}

bool engine_publish(struct engine *e, mono_ms now, bool *shown_out)
{
    struct snapshot *derived = atomic_exchange(&e->derived, NULL);
    if (derived != NULL)
        store_show(e->store, derived);
    if (shown_out != NULL)
        *shown_out = derived != NULL;
    if (derive_look(e->derive, now))
        store_touch(e->store);
    if (engine_due(e) > now)
        return false;
    atomic_store(&e->begun, store_begin(e->store, now));
    return true;
}

enum derive_way engine_derive(struct engine *e, bool *done_out)
{
    struct snapshot *begun = atomic_exchange(&e->begun, NULL);
    *done_out = begun != NULL;
    if (begun == NULL)
        return DERIVE_NONE;
    store_derive(begun);
    atomic_store(&e->derived, begun);
    return derive_last(e->derive);
}

mono_ms engine_decide(struct engine *e, mono_ms mono, wall_ms wall)
{
    return reconciler_step(e->reconciler, mono, wall);
}

void engine_leave(struct engine *e)
{
    reconciler_leave(e->reconciler);
}

const struct extender_sources *engine_sources(const struct engine *e)
{
    return &e->sources;
}

struct ledger *engine_ledger(struct engine *e)
{
    return e->ledger;
}

/* --- putting it together --- */

struct engine *engine_new(const struct engine_config *config)
{
    struct engine *e = mem_new(sizeof(*e));
    e->config = *config;
    e->derive = derive_new(&config->providers, &config->lister, &config->world);
    struct store_deriver deriver = derive_deriver(e->derive);
    e->store = store_new(&deriver);
    if (config->world.capacity_buffer || config->groups.flags.min_replica_count > 0)
        store_read_scale(e->store);
    share_init(&e->places, places_destroy);
    e->ledger = ledger_new();
    e->reconciler = reconciler_new(&(struct reconciler_config){
        .api = config->api,
        .providers = config->providers,
        .snapshots = store_share(e->store),
        .places = &e->places,
        .options = config->reconciler,
        .listener = config->listener,
        .scheduler = {.user = e->ledger, .sent = sent_pods, .asked = last_asked},
        .worker = config->worker,
        .groups = config->groups,
    });
    e->sources = (struct extender_sources){.snapshots = store_share(e->store),
                                           .places = &e->places,
                                           .ledger = e->ledger,
                                           .leads = leads,
                                           .user = e};
    return e;
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    reconciler_free(e->reconciler);
    store_free(e->store);
    share_release(&e->places);
    derive_free(e->derive);
    ledger_free(e->ledger);
    free(e);
}
