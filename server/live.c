/* The API thread goes round: Lease, rivals, Events, then whatever the cluster has to say, then a
 * snapshot when one is due. The deriver's thread makes the world of it, which takes a while in a large
 * cluster and must not hold up the Lease and writes; then the API thread publishes it. The reconciler's
 * thread sleeps until its next time or until it is woken by a snapshot or by what came back from a
 * request. */
#include "server/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cloud/kwok.h"
#include "kube/events.h"
#include "kube/kubeconfig_io.h"
#include "kube/lease.h"
#include "kube/rivals.h"
#include "planner/pods/default_spread.h"
#include "reconciler/derive.h"
#include "reconciler/reconciler.h"
#include "server/clock.h"
#include "server/input.h"
#include "server/pod_label.h"
#include "sim/sample.h"
#include "sim/sim.h"

enum {
    TROUBLE_MS = 5 * MS_SECOND, /* how long requests fail before a person is told */
    ACTS_END_MS = 1000,    /* how long a stopping leader waits for its own writes to be answered */
    ROUND_MS = 1000,       /* the API thread's longest sleep: bounds how late a stop is seen */
    HAND_BACK_MS = 2000,   /* how long a stopping leader waits for its Lease to be released */
};

static const struct span UNKNOWN_RIVALS =
    SPAN_INIT("whether another autoscaler is at work is not known yet");

struct wake { /* a flag that one thread sleeps on */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_set;
};

struct trouble { /* requests of a kind that go on failing */
    mono_ms since; /* 0: the last one went well */
    bool told;
};

struct live {
    struct live_config config;
    const struct options *options;
    struct arena arena; /* texts of the configuration, for as long as we live */
    struct arena standing; /* of `observing` */
    struct client_config cluster;
    struct client *client;
    struct sim *sim;
    struct api *api;
    struct store *store;
    struct derive *derive;
    struct provider *provider;
    struct share places;
    struct ledger *ledger; /* of what the extender answered; shared by all who answer */
    struct reconciler *reconciler;
    struct lease *lease;
    struct pod_label *label;
    struct rivals *rivals;
    struct trouble lease_trouble, rivals_trouble;
    struct events *events;
    struct span own_namespace, identity;
    enum rivals_verdict rivals_said;
    struct span observing; /* why nothing is written; absent: it is */

    pthread_t api_thread, deriver_thread, reconciler_thread;
    struct wake api_wake, deriver_wake, reconciler_wake;
    _Atomic(struct snapshot *) begun, derived; /* API thread to deriver and back; NULL: none */
    _Atomic(bool) leading, stop_deciding, stop_deriving, stop_serving;
    _Atomic(mono_ms) api_beat, reconciler_beat;

    struct default_spread_config spread; /* --scheduler-config */

    struct share_cache sim_snapshots, sim_places; /* of the stand-in scheduler's extender calls */
    struct extender_scratch sim_scratch;
};

static mono_ms earlier(mono_ms a, mono_ms b)
{
    return a < b ? a : b;
}

/* --- waking --- */

static void wake_init(struct wake *w)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    w->is_set = false;
}

static void wake_release(struct wake *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static void wake_up(struct wake *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_set = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wake_wait(struct wake *w, mono_ms until)
{
    struct timespec t = {.tv_sec = until / MS_SECOND, .tv_nsec = until % MS_SECOND * 1000000};
    pthread_mutex_lock(&w->lock);
    while (!w->is_set && pthread_cond_timedwait(&w->changed, &w->lock, &t) == 0)
        ;
    w->is_set = false;
    pthread_mutex_unlock(&w->lock);
}

static void wake_api(void *user)
{
    struct live *l = user;
    if (l->client != NULL)
        client_wakeup(l->client);
    else
        wake_up(&l->api_wake);
}

static void wake_reconciler(void *user)
{
    wake_up(&((struct live *)user)->reconciler_wake);
}

/* --- decisions become log lines, Events and the page's history --- */

static void on_decided(void *user, const struct decision *d)
{
    struct live *l = user;
    if (d->subject != NULL) {
        struct log_field id = {"decision", span_of(d->id)};
        log_event(l->config.log, d->warning ? LOG_WARN : LOG_INFO, d->subject, &id, 1, "%.*s",
                  SPAN_ARG(d->sentence));
    }
    if (l->config.decided != NULL)
        l->config.decided(l->config.user, d);
    if (d->reason.len == 0 || d->about.kind == KIND_NONE || l->events == NULL)
        return;
    struct event_note note = {
        .about = {d->about.kind, d->about.ns, d->about.name, d->about.uid},
        .warning = d->warning,
        .reason = d->reason,
        .note = d->note.len != 0 ? d->note : d->sentence,
    };
    if (events_record(l->events, &note, clock_mono(), clock_wall()))
        wake_api(l);
}

static void on_measured(void *user, const struct measure *m)
{
    struct live *l = user;
    if (l->config.measured != NULL)
        l->config.measured(l->config.user, m);
}

static mono_ms leads_until(void *user)
{
    struct live *l = user;
    if (l->lease != NULL)
        return lease_leads_until(l->lease);
    return atomic_load(&l->leading) ? INT64_MAX : 0;
}

/* --- leadership --- */

static void tell_standing(struct live *l)
{
    if (l->config.standing != NULL)
        l->config.standing(l->config.user, atomic_load(&l->leading), l->observing);
}

static void observe(struct live *l, struct span reason)
{
    arena_clear(&l->standing);
    l->observing = arena_dup(&l->standing, reason);
    reconciler_observe(l->reconciler, reason);
    tell_standing(l);
}

static void on_lease(void *user, bool leading, struct span holder)
{
    struct live *l = user;
    atomic_store(&l->leading, leading);
    reconciler_lead(l->reconciler, leading);
    pod_label_want(l->label, leading);
    tell_standing(l);
    if (leading)
        log_info(l->config.log, "leader", "this replica leads");
    else
        log_info(l->config.log, "leader", "%s%.*s", holder.len != 0 ? "the leader is " : "nobody leads",
                 SPAN_ARG(holder));
    wake_reconciler(l);
}

static void tell_trouble(struct live *l, struct trouble *t, const char *subject,
                         const struct err *err, mono_ms now)
{
    bool fails = err->kind != ERR_NONE && err->kind != ERR_CONFLICT; /* a conflict: another was first */
    if (!fails) {
        if (t->told)
            log_info(l->config.log, "leader", "%s: works again", subject);
        *t = (struct trouble){0};
        return;
    }
    t->since = t->since != 0 ? t->since : now;
    if (t->told || now - t->since < TROUBLE_MS)
        return;
    t->told = true;
    log_warn(l->config.log, "leader", "%s, so that nothing is decided: %s", subject, err->msg);
}

static mono_ms watch_lease(struct live *l, mono_ms now)
{
    if (l->lease == NULL)
        return INT64_MAX;
    mono_ms next = lease_step(l->lease, now, clock_wall());
    tell_trouble(l, &l->lease_trouble, "our own Lease cannot be read or written",
                 lease_error(l->lease), now);
    return earlier(next, pod_label_step(l->label, now));
}

/* People look for Events of the Lease when they wonder why nobody acts. */
static void record_rival(struct live *l, struct span reason, mono_ms now)
{
    const char *ns = l->options->lease_namespace;
    struct event_note note = {
        .about = {.kind = KIND_LEASE,
                  .ns = ns != NULL && ns[0] != '\0' ? span_of(ns) : l->own_namespace,
                  .name = span_of(l->options->lease_name)},
        .warning = true,
        .reason = SPAN("OnlyObserving"),
        .note = reason,
    };
    events_record(l->events, &note, now, clock_wall());
}

static mono_ms watch_rivals(struct live *l, mono_ms now)
{
    if (l->rivals == NULL)
        return INT64_MAX;
    mono_ms next = rivals_step(l->rivals, now);
    tell_trouble(l, &l->rivals_trouble,
                 "the Leases of other autoscalers cannot be listed (--coexist does without)",
                 rivals_error(l->rivals), now);
    enum rivals_verdict verdict = rivals_verdict(l->rivals);
    if (verdict == l->rivals_said)
        return next;
    l->rivals_said = verdict;
    struct arena a;
    arena_init(&a, 0);
    struct span reason = {NULL, 0};
    if (verdict == RIVALS_LIVE)
        reason = arena_printf(&a,
                              "another autoscaler is at work (Lease %.*s); stop it, or start "
                              "Stowage with --coexist",
                              SPAN_ARG(rivals_text(l->rivals)));
    if (verdict == RIVALS_LIVE)
        record_rival(l, reason, now);
    else if (verdict == RIVALS_UNKNOWN)
        reason = UNKNOWN_RIVALS;
    observe(l, reason);
    arena_release(&a);
    wake_reconciler(l);
    return next;
}

/* --- the API thread --- */

/* Lets the cluster speak until `until` at the latest. */
static void poll_cluster(struct live *l, mono_ms until)
{
    mono_ms now = clock_mono();
    if (l->client != NULL) {
        client_poll(l->client, until > now ? until - now : 0);
        return;
    }
    wall_ms wall = clock_wall();
    wall_ms due = sim_step(l->sim, wall);
    if (store_due(l->store) <= now)
        return;
    if (due != INT64_MAX)
        until = earlier(until, now + (due > wall ? due - wall : 0));
    wake_wait(&l->api_wake, earlier(until, earlier(store_due(l->store), now + ROUND_MS)));
}

static void publish(struct live *l, mono_ms now)
{
    struct snapshot *derived = atomic_exchange(&l->derived, NULL);
    if (derived != NULL) {
        store_show(l->store, derived);
        wake_reconciler(l);
    }
    if (derive_is_stale(l->derive))
        store_touch(l->store);
    if (store_due(l->store) <= now) {
        atomic_store(&l->begun, store_begin(l->store, now));
        wake_up(&l->deriver_wake);
    }
}

static mono_ms api_round(struct live *l, mono_ms now)
{
    mono_ms next = now + ROUND_MS;
    next = earlier(next, watch_lease(l, now));
    next = earlier(next, watch_rivals(l, now));
    next = earlier(next, events_step(l->events, now));
    if (l->config.round != NULL)
        next = earlier(next, l->config.round(l->config.user, now, clock_wall()));
    publish(l, now);
    return earlier(next, store_due(l->store));
}

/* Whether requests are on their way, Events included: which of them are acts, nobody keeps. */
static bool is_busy(struct live *l)
{
    struct client_load load = client_load(l->client);
    return load.running != 0 || load.waiting != 0;
}

/* Who leads next should find our last writes done, so that they end before the Lease goes back. */
static void hand_back(struct live *l)
{
    if (l->lease == NULL)
        return;
    mono_ms now = clock_mono(), limit = now + HAND_BACK_MS;
    l->api->ops->cancel_acts(l->api);
    do {
        poll_cluster(l, now + 50);
        now = clock_mono();
    } while (is_busy(l) && now < limit - HAND_BACK_MS + ACTS_END_MS);
    lease_release(l->lease);
    for (; now < limit && !lease_released(l->lease); now = clock_mono())
        poll_cluster(l, earlier(watch_lease(l, now), now + 50));
}

static void *api_main(void *user)
{
    struct live *l = user;
    while (!atomic_load(&l->stop_serving)) {
        mono_ms now = clock_mono();
        atomic_store(&l->api_beat, now);
        poll_cluster(l, api_round(l, now));
    }
    hand_back(l);
    return NULL;
}

/* --- the deriver's thread --- */

static void *deriver_main(void *user)
{
    struct live *l = user;
    while (!atomic_load(&l->stop_deriving)) {
        struct snapshot *begun = atomic_exchange(&l->begun, NULL);
        if (begun != NULL) {
            store_derive(begun);
            atomic_store(&l->derived, begun);
            wake_api(l);
        }
        wake_wait(&l->deriver_wake, clock_mono() + ROUND_MS);
    }
    return NULL;
}

/* --- the reconciler's thread --- */

static void *reconciler_main(void *user)
{
    struct live *l = user;
    while (!atomic_load(&l->stop_deciding)) {
        mono_ms now = clock_mono();
        atomic_store(&l->reconciler_beat, now);
        mono_ms next = reconciler_step(l->reconciler, now, clock_wall());
        wake_wait(&l->reconciler_wake, earlier(next, now + ROUND_MS));
    }
    return NULL;
}

/* --- watches feed the store --- */

static void sink_begin(void *user, enum kind k)
{
    store_list_begin(((struct live *)user)->store, k);
}

static void sink_end(void *user, enum kind k)
{
    store_list_end(((struct live *)user)->store, k);
}

static void sink_event(void *user, enum kind k, enum watch_event e, struct doc_value object)
{
    store_event(((struct live *)user)->store, k, e, object);
}

static void sink_state(void *user, enum kind k, const struct err *broken)
{
    store_state(((struct live *)user)->store, k, broken, clock_mono());
}

/* --- a cluster in memory --- */

static bool sim_filter(void *user, struct span args, struct buf *reply)
{
    struct live *l = user;
    struct extender_view view = live_view(l, &l->sim_snapshots, &l->sim_places);
    struct extender_verdict verdict;
    struct err err;
    bool answered = extender_filter(&l->sim_scratch, &view, args, reply, &verdict, &err);
    if (answered && verdict.astray)
        live_astray(l);
    return answered;
}

static bool sim_prioritize(void *user, struct span args, struct buf *reply)
{
    struct live *l = user;
    struct extender_view view = live_view(l, &l->sim_snapshots, &l->sim_places);
    struct extender_verdict verdict;
    struct err err;
    return extender_prioritize(&l->sim_scratch, &view, args, reply, &verdict, &err);
}

static bool load_files(struct live *l, struct err *err)
{
    struct arena a;
    arena_init(&a, 0);
    bool ok = true;
    for (uint32_t i = 0; ok && i < l->options->files.count; i++) {
        const char *path = l->options->files.items[i];
        struct span text;
        uint32_t passed_over = 0;
        ok = input_text(&a, path, &text, err) &&
             (sim_cluster_load(sim_cluster(l->sim), text, &passed_over, err) ||
              err_wrap(err, "%s", path));
        if (ok && passed_over != 0)
            log_warn(l->config.log, "load", "%s: %u objects of other kinds passed over", path,
                     passed_over);
    }
    arena_release(&a);
    return ok;
}

static bool open_memory(struct live *l, struct err *err)
{
    l->sim = sim_new(&(struct sim_options){
        .cluster = {.now = clock_wall(), .wake = wake_api, .user = l}});
    l->api = sim_client_new(sim_cluster(l->sim));
    extender_scratch_init(&l->sim_scratch);
    if (l->options->placement == PLACEMENT_EXTENDER)
        sim_set_extender(l->sim,
                         &(struct sim_extender){
                             .user = l, .filter = sim_filter, .prioritize = sim_prioritize});
    return l->options->files.count != 0 ? load_files(l, err) : sample_start(l->sim, err);
}

/* --- a real cluster --- */

static bool open_cluster(struct live *l, struct err *err)
{
    const struct options *o = l->options;
    struct client_policy policy = {.rate = o->client_qps,
                                   .burst = (double)o->client_burst,
                                   .lease_timeout_ms = o->lease_renew / 2,
                                   .log = l->config.log};
    if (!kubeconfig_load(&l->arena, span_of(o->kubeconfig), span_of(o->context), &l->cluster, err) ||
        !client_new(&l->cluster, &policy, &l->client, err))
        return false;
    l->api = client_api(l->client);
    return true;
}

static struct span own_identity(struct arena *a)
{
    char host[256] = "stowage";
    gethostname(host, sizeof(host) - 1);
    unsigned char random[8] = {0};
    FILE *f = fopen("/dev/urandom", "rb");
    if (f != NULL) {
        size_t n = fread(random, 1, sizeof(random), f);
        (void)n; /* zeros are unlikely and harmless beside host and process number */
        fclose(f);
    }
    uint64_t id = 0;
    for (size_t i = 0; i < sizeof(random); i++)
        id = id << 8 | random[i];
    return arena_printf(a, "%s_%ld_%016llx", host, (long)getpid(), (unsigned long long)id);
}

static bool open_lease(struct live *l, struct err *err)
{
    const struct options *o = l->options;
    const char *ns = o->lease_namespace != NULL && o->lease_namespace[0] != '\0' ? o->lease_namespace
                                                                                : NULL;
    struct lease_config config = {
        .ns = ns != NULL ? span_of(ns) : l->own_namespace,
        .name = span_of(o->lease_name),
        .identity = l->identity,
        .duration = o->lease_duration,
        .renew_deadline = o->lease_renew,
        .retry = o->lease_retry,
        .seed = span_hash(l->identity),
    };
    const char *pod = o->pod_name != NULL ? o->pod_name : "";
    l->label = pod_label_new(l->api, l->own_namespace, span_of(pod), l->config.log);
    struct lease_listener listener = {.user = l, .changed = on_lease};
    return lease_new(&config, l->api, &listener, &l->lease, err);
}

/* --- putting it together --- */

static bool open_provider(struct live *l, struct err *err)
{
    const char *path = l->options->instance_types;
    struct catalogue_source *types = NULL;
    struct span text;
    if (path == NULL || path[0] == '\0')
        types = catalogue_builtin();
    else if (!input_text(&l->arena, path, &text, err) ||
             !catalogue_decode(text, span_of(path), &types, err))
        return false;
    l->provider = kwok_new(&(struct kwok_config){
        .api = l->api, .types = types, .user = l, .wake = wake_reconciler});
    return true;
}

static uint64_t now_ns(void *user)
{
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool read_spread(struct live *l, struct err *err)
{
    return default_spread_decode(&l->arena, span_of(l->options->scheduler_config), &l->spread,
                                 err) ||
           err_wrap(err, "--scheduler-config");
}

/* Nobody asks for kinds behind a gate that is off. */
bool live_watches(const struct options *o, enum kind k)
{
    if (k == KIND_CAPACITY_BUFFER || k == KIND_POD_TEMPLATE || k == KIND_DEPLOYMENT)
        return o->gates.capacity_buffer;
    return k != KIND_NODE_OVERLAY || o->gates.node_overlay;
}

struct plan_options live_plan_options(const struct options *o)
{
    return (struct plan_options){
        .search = o->search == SEARCH_IS_GREEDY ? SEARCH_GREEDY : SEARCH_CHEAPEST,
        .ignore_preferences = o->preference_policy == PREFERENCE_IGNORE,
        .best_effort_min_values = o->min_values_policy == MIN_VALUES_BEST_EFFORT};
}

static uint32_t sent_pods(void *user, mono_ms now, struct arena *a, const struct sent_pod **out)
{
    return ledger_sent(((struct live *)user)->ledger, now, a, out);
}

static mono_ms last_asked(void *user)
{
    return ledger_last_asked(((struct live *)user)->ledger);
}

static void open_reconciler(struct live *l)
{
    const struct options *o = l->options;
    struct world_options world = {.reserved_capacity = o->gates.reserved_capacity,
                                  .node_overlay = o->gates.node_overlay,
                                  .capacity_buffer = o->gates.capacity_buffer,
                                  .nominated_wait = o->placement == PLACEMENT_NOMINATE,
                                  .default_spread = &l->spread};
    l->derive = derive_new(l->provider, &world);
    struct store_deriver deriver = derive_deriver(l->derive);
    l->store = store_new(&deriver);
    if (o->gates.capacity_buffer)
        store_read_scale(l->store);
    if (o->placement == PLACEMENT_NOMINATE)
        store_keep_pod_versions(l->store);
    share_init(&l->places, places_destroy);
    l->ledger = ledger_new();
    l->reconciler = reconciler_new(&(struct reconciler_config){
        .api = l->api,
        .provider = l->provider,
        .snapshots = store_share(l->store),
        .places = &l->places,
        .options = {.batch_idle = o->batch_idle,
                    .batch_max = o->batch_max,
                    .max_nodes_per_minute = (uint32_t)o->max_nodes_per_minute,
                    .max_hourly_price = o->max_hourly_price,
                    .nominate = o->placement == PLACEMENT_NOMINATE,
                    .static_capacity = o->gates.static_capacity,
                    .plan = live_plan_options(o)},
        .listener = {.user = l,
                     .wake = wake_reconciler,
                     .decided = on_decided,
                     .measured = on_measured,
                     .leads_until = leads_until,
                     .now_ns = now_ns,
                     .sent = sent_pods,
                     .asked = last_asked},
    });
}

bool live_new(const struct live_config *config, struct live **out, struct err *err)
{
    struct live *l = mem_new(sizeof(*l));
    l->config = *config;
    l->options = config->options;
    arena_init(&l->arena, 0);
    arena_init(&l->standing, 0);
    wake_init(&l->api_wake);
    wake_init(&l->deriver_wake);
    wake_init(&l->reconciler_wake);
    l->identity = own_identity(&l->arena);
    bool embedded = l->options->embedded;
    if (!read_spread(l, err) || !(embedded ? open_memory(l, err) : open_cluster(l, err)) ||
        !open_provider(l, err)) {
        live_free(l);
        return false;
    }
    l->own_namespace = l->options->own_namespace != NULL && l->options->own_namespace[0] != '\0'
                           ? span_of(l->options->own_namespace)
                       : l->cluster.ns.len != 0 ? l->cluster.ns
                                                : SPAN("default");
    open_reconciler(l);
    l->events = events_new(&(struct events_config){.controller = SPAN("stowage"),
                                                   .instance = l->identity},
                           l->api);
    bool elects = !embedded && !l->options->disable_leader_election;
    if (elects && !open_lease(l, err)) {
        live_free(l);
        return false;
    }
    if (!embedded && !l->options->coexist) {
        l->rivals = rivals_new(l->api, rivals_known, RIVALS_KNOWN, l->identity);
        observe(l, UNKNOWN_RIVALS);
    }
    if (!elects) {
        atomic_store(&l->leading, true);
        reconciler_lead(l->reconciler, true);
    }
    struct api_sink sink = {.user = l,
                            .list_begin = sink_begin,
                            .list_end = sink_end,
                            .event = sink_event,
                            .state = sink_state};
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++)
        if (live_watches(l->options, k)) {
            l->api->ops->watch(l->api, k, &sink);
        } else { /* there are none, for all that anybody asks */
            store_list_begin(l->store, k);
            store_list_end(l->store, k);
        }
    *out = l;
    return true;
}

void live_start(struct live *l)
{
    mono_ms now = clock_mono();
    atomic_store(&l->api_beat, now);
    atomic_store(&l->reconciler_beat, now);
    tell_standing(l);
    pthread_create(&l->api_thread, NULL, api_main, l);
    pthread_create(&l->deriver_thread, NULL, deriver_main, l);
    pthread_create(&l->reconciler_thread, NULL, reconciler_main, l);
}

void live_stop(struct live *l)
{
    atomic_store(&l->stop_deciding, true);
    wake_reconciler(l);
    pthread_join(l->reconciler_thread, NULL);
    atomic_store(&l->stop_serving, true);
    wake_api(l);
    pthread_join(l->api_thread, NULL);
    atomic_store(&l->stop_deriving, true);
    wake_up(&l->deriver_wake);
    pthread_join(l->deriver_thread, NULL);
}

void live_free(struct live *l)
{
    share_drop(&l->sim_snapshots);
    share_drop(&l->sim_places);
    if (l->client != NULL)
        client_free(l->client); /* what was under way ends here, while those it tells still exist */
    if (l->sim != NULL)
        sim_free(l->sim);
    if (l->reconciler != NULL)
        reconciler_free(l->reconciler);
    if (l->provider != NULL)
        l->provider->ops->free(l->provider);
    if (l->lease != NULL)
        lease_free(l->lease);
    pod_label_free(l->label);
    if (l->rivals != NULL)
        rivals_free(l->rivals);
    if (l->events != NULL)
        events_free(l->events);
    if (l->store != NULL) {
        store_free(l->store);
        share_release(&l->places);
        derive_free(l->derive);
    }
    if (l->sim_scratch.parser != NULL)
        extender_scratch_release(&l->sim_scratch);
    ledger_free(l->ledger);
    wake_release(&l->api_wake);
    wake_release(&l->deriver_wake);
    wake_release(&l->reconciler_wake);
    arena_release(&l->standing);
    arena_release(&l->arena);
    free(l);
}

struct share *live_snapshots(struct live *l)
{
    return store_share(l->store);
}

struct share *live_places(struct live *l)
{
    return &l->places;
}

void live_astray(struct live *l)
{
    wake_reconciler(l);
}

struct ledger *live_ledger(struct live *l)
{
    return l->ledger;
}

struct extender_view live_view(struct live *l, struct share_cache *snapshots,
                               struct share_cache *places)
{
    const struct snapshot *s = (const struct snapshot *)share_read(store_share(l->store), snapshots);
    if (s == NULL || !atomic_load(&l->leading) || !snapshot_synced(s))
        return (struct extender_view){0};
    return (struct extender_view){
        .snapshot = s,
        .world = derive_world(s),
        .places = (const struct places *)share_read(&l->places, places),
        .ledger = l->ledger,
        .now = clock_mono(),
        .wall = clock_wall(),
    };
}

bool live_leading(const struct live *l)
{
    return atomic_load(&l->leading);
}

mono_ms live_api_beat(const void *live)
{
    return atomic_load(&((const struct live *)live)->api_beat);
}

mono_ms live_reconciler_beat(const void *live)
{
    return atomic_load(&((const struct live *)live)->reconciler_beat);
}

struct api *live_api(struct live *l)
{
    return l->api;
}

struct provider *live_provider(struct live *l)
{
    return l->provider;
}

struct client *live_client(struct live *l)
{
    return l->client;
}

struct span live_namespace(const struct live *l)
{
    return l->own_namespace;
}
