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
#include "cloud/machines.h"
#include "engine/engine.h"
#include "kube/events.h"
#include "kube/kubeconfig_io.h"
#include "planner/pods/default_spread.h"
#include "reconciler/provision/pace.h"
#include "server/catalogue_file.h"
#include "server/clock.h"
#include "server/embedded.h"
#include "server/groups.h"
#include "server/input.h"
#include "server/standing.h"
#include "server/wake.h"
#include "server/worker.h"
#include "sim/sample.h"
#include "sim/sim.h"

enum {
    ACTS_END_MS = 1000,    /* how long a stopping leader waits for its own writes to be answered */
    ROUND_MS = 1000,       /* the API thread's longest sleep: bounds how late a stop is seen */
    HAND_BACK_MS = 2000,   /* how long a stopping leader waits for its Lease to be released */
};

struct live {
    struct live_config config;
    const struct options *options;
    struct arena arena; /* texts of the configuration, for as long as we live */
    struct client_config cluster;
    struct client *client;
    struct mirror *management; /* of node groups whose machines another cluster has; NULL: none are */
    struct sim *sim;
    mono_ms sim_polled; /* when it was last given the time */
    struct api *api;
    struct provider *provider;
    struct provider *machines; /* of pools on Cluster API; NULL: none */
    struct engine *engine;
    struct standing *standing;
    struct events *events;
    struct span own_namespace, identity;

    pthread_t api_thread, deriver_thread, reconciler_thread;
    struct wake api_wake, deriver_wake, reconciler_wake;
    struct worker *worker; /* of the reconciler */
    struct worker *listers[PROVIDERS_MAX]; /* ask the providers for their types: one for each */
    _Atomic(bool) stop_deciding, stop_deriving, stop_serving;
    struct pulse pulses[LIVE_THREAD_COUNT];

    struct default_spread_config spread; /* --scheduler-config */

    struct share_cache sim_snapshots, sim_places; /* of the stand-in scheduler's extender calls */
    struct extender_scratch sim_scratch;
};

/* --- waking --- */

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
    struct event_note note;
    if (decision_event(d, &note) && l->events != NULL && events_record(l->events, &note, clock_mono(), clock_wall()))
        wake_api(l);
}

static void on_moved(void *user, const struct moves *m)
{
    struct live *l = user;
    if (l->config.moved != NULL)
        l->config.moved(l->config.user, m);
}

static void on_measured(void *user, const struct measure *m)
{
    struct live *l = user;
    if (l->config.measured != NULL)
        l->config.measured(l->config.user, m);
}

static mono_ms leads_until(void *user)
{
    return standing_leads_until(((struct live *)user)->standing);
}

static bool goes_on(void *user)
{
    struct live *l = user;
    mono_ms now = clock_mono();
    pulse_beat(&l->pulses[LIVE_RECONCILER], now);
    return !atomic_load(&l->stop_deciding) && now < leads_until(l);
}

/* --- may we act --- */

static void tell_standing(struct live *l)
{
    if (l->config.standing != NULL)
        l->config.standing(l->config.user, standing_leads(l->standing), standing_observes(l->standing));
}

static void on_leads(void *user, bool leading)
{
    struct live *l = user;
    engine_lead(l->engine, leading);
    tell_standing(l);
    wake_reconciler(l);
}

static void on_observes(void *user, struct span reason)
{
    struct live *l = user;
    engine_observe(l->engine, reason);
    tell_standing(l);
    wake_reconciler(l);
}

/* --- the API thread --- */

/* The clock of a cluster in memory: the wall's, but one that goes on when that is set back. */
static wall_ms sim_clock(struct live *l, mono_ms now)
{
    wall_ms wall = clock_wall(), goes_on = sim_now(l->sim) + (l->sim_polled != 0 ? now - l->sim_polled : 0);
    l->sim_polled = now;
    return wall > goes_on ? wall : goes_on;
}

/* Lets the cluster speak until `until` at the latest. */
static void poll_cluster(struct live *l, mono_ms until)
{
    mono_ms now = clock_mono();
    if (l->client != NULL) {
        client_poll(l->client, until > now ? until - now : 0);
        return;
    }
    wall_ms wall = sim_clock(l, now);
    wall_ms due = sim_step(l->sim, wall);
    if (engine_due(l->engine) <= now)
        return;
    if (due != INT64_MAX)
        until = earlier(until, now + (due > wall ? due - wall : 0));
    wake_wait(&l->api_wake, earlier(until, earlier(engine_due(l->engine), now + ROUND_MS)));
}

static void publish(struct live *l, mono_ms now)
{
    bool shown;
    if (engine_publish(l->engine, now, &shown))
        wake_up(&l->deriver_wake);
    if (shown)
        wake_reconciler(l);
}

static mono_ms api_round(struct live *l, mono_ms now)
{
    mono_ms next = now + ROUND_MS;
    next = earlier(next, standing_step(l->standing, now));
    next = earlier(next, events_step(l->events, now));
    if (l->config.round != NULL)
        next = earlier(next, l->config.round(l->config.user, now, clock_wall()));
    publish(l, now);
    return earlier(next, engine_due(l->engine));
}

/* Whether requests are on their way, Events included: which of them are acts, nobody keeps. */
static bool is_busy(struct live *l)
{
    struct client_load load = client_load(l->client);
    return load.running != 0 || load.waiting != 0;
}

/* Who leads next should find our last writes done, so that they end before the Lease goes back. */
static void end_acts(struct live *l)
{
    mono_ms now = clock_mono(), limit = now + ACTS_END_MS;
    l->api->ops->cancel_acts(l->api);
    do {
        poll_cluster(l, now + 50);
        now = clock_mono();
    } while (is_busy(l) && now < limit);
}

static void hand_back(struct live *l)
{
    mono_ms limit = clock_mono() + HAND_BACK_MS;
    if (!standing_released(l->standing)) /* else nobody waits for it */
        end_acts(l);
    standing_release(l->standing);
    for (mono_ms now = clock_mono(); now < limit && !standing_released(l->standing); now = clock_mono())
        poll_cluster(l, earlier(standing_step(l->standing, now), now + 50));
}

static void *api_main(void *user)
{
    struct live *l = user;
    pulse_begin(&l->pulses[LIVE_API], "api", clock_mono());
    while (!atomic_load(&l->stop_serving)) {
        mono_ms now = clock_mono();
        pulse_beat(&l->pulses[LIVE_API], now);
        poll_cluster(l, api_round(l, now));
    }
    hand_back(l);
    return NULL;
}

/* --- the deriver's thread --- */

static uint64_t now_ns(void *user)
{
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *deriver_main(void *user)
{
    struct live *l = user;
    pulse_begin(&l->pulses[LIVE_DERIVER], "deriver", clock_mono());
    while (!atomic_load(&l->stop_deriving)) {
        mono_ms now = clock_mono();
        pulse_beat(&l->pulses[LIVE_DERIVER], now);
        uint64_t began = now_ns(l);
        bool done;
        enum derive_way way = engine_derive(l->engine, &done);
        if (done && l->config.derived != NULL)
            l->config.derived(l->config.user, way, (double)(now_ns(l) - began) / 1e9);
        if (done)
            wake_api(l);
        wake_wait(&l->deriver_wake, now + ROUND_MS);
    }
    return NULL;
}

/* --- the reconciler's thread --- */

static void *reconciler_main(void *user)
{
    struct live *l = user;
    pulse_begin(&l->pulses[LIVE_RECONCILER], "reconciler", clock_mono());
    while (!atomic_load(&l->stop_deciding)) {
        mono_ms now = clock_mono();
        pulse_beat(&l->pulses[LIVE_RECONCILER], now);
        uint64_t began = clock_cpu_ns();
        mono_ms next = earlier(engine_decide(l->engine, now, clock_wall()), now + ROUND_MS);
        clock_sleep(earlier(next, clock_mono() + pace_rest(clock_cpu_ns() - began)));
        wake_wait(&l->reconciler_wake, next);
    }
    engine_leave(l->engine);
    return NULL;
}

/* --- a cluster in memory --- */

static struct extender_view sim_view(struct live *l)
{
    return extender_open(engine_sources(l->engine), &l->sim_snapshots, &l->sim_places,
                         (struct extender_times){clock_mono(), clock_wall()});
}

static bool sim_filter(void *user, struct span args, struct buf *reply)
{
    struct live *l = user;
    pulse_step(clock_mono());
    struct extender_view view = sim_view(l);
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
    pulse_step(clock_mono());
    struct extender_view view = sim_view(l);
    struct extender_verdict verdict;
    struct err err;
    return extender_prioritize(&l->sim_scratch, &view, args, reply, &verdict, &err);
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
    return l->options->files.count != 0
               ? embedded_load(sim_cluster(l->sim), l->options, l->config.log, err)
               : sample_start(l->sim, err);
}

/* --- a real cluster --- */

static struct client_policy client_policy_of(struct live *l)
{
    const struct options *o = l->options;
    return (struct client_policy){.rate = o->client_qps,
                                  .burst = (double)o->client_burst,
                                  .lease_timeout_ms = o->lease_renew / 2,
                                  .acts_until = leads_until,
                                  .user = l,
                                  .acts_grace_ms = o->lease_duration - o->lease_renew,
                                  .pools_optional = l->config.groups != NULL && l->config.groups->cloud_provider.len != 0,
                                  .log = l->config.log};
}

static bool open_cluster(struct live *l, struct err *err)
{
    const struct options *o = l->options;
    struct client_policy policy = client_policy_of(l);
    bool named = o->kubeconfig != NULL && o->kubeconfig[0] != '\0';
    struct err why = {0};
    if (!kubeconfig_load(&l->arena, span_of(o->kubeconfig), span_of(o->context), &l->cluster, &why))
        return err_set(err, why.kind, "%s%s", why.msg,
                       why.kind == ERR_NOT_FOUND && !named ? "; or use --embedded" : "");
    if (!client_new(&l->cluster, &policy, &l->client, err))
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

/* --- putting it together --- */

/* Where nodes are repaired its policies have to be right, all of them. */
static bool check_repair(struct live *l, struct err *err)
{
    struct span violations;
    if (l->provider->ops->repair(l->provider, &violations) != NULL)
        return true;
    for (struct span rest = violations, line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        log_error(l->config.log, "repair", "%.*s", SPAN_ARG(line));
    }
    return err_set(err, ERR_INVALID, "--feature-gates NodeRepair=true needs repairPolicies that are right");
}

static void warn_of_machines(void *user, struct span text)
{
    log_warn(((struct live *)user)->config.log, "pools", "%.*s", SPAN_ARG(text));
}

static bool open_provider(struct live *l, struct err *err)
{
    struct catalogue_source *types;
    if (!catalogue_file(l->options->instance_types, &types, err))
        return false;
    l->provider = kwok_new(&(struct kwok_config){
        .api = l->api, .types = types, .user = l, .wake = wake_reconciler});
    if (l->options->cluster_api_pools)
        l->machines = machines_new(&(struct machines_config){
            .api = l->api, .prices = types, .user = l, .wake = wake_reconciler, .aside = warn_of_machines});
    return !l->options->gates.node_repair || l->options->legacy_node_repair || check_repair(l, err);
}

static bool read_spread(struct live *l, struct err *err)
{
    return default_spread_decode(&l->arena, span_of(l->options->scheduler_config), &l->spread,
                                 err) ||
           err_wrap(err, "--scheduler-config");
}

struct world_options live_world_options(const struct options *o, const struct default_spread_config *spread)
{
    bool spreads = o->scheduler_config != NULL && o->scheduler_config[0] != '\0';
    return (struct world_options){.reserved_capacity = o->gates.reserved_capacity,
                                  .node_overlay = o->gates.node_overlay,
                                  .capacity_buffer = o->gates.capacity_buffer,
                                  .default_spread = spreads ? spread : NULL};
}

bool live_watches(const struct options *o, enum kind k)
{
    static const struct default_spread_config some;
    struct world_options world = live_world_options(o, &some);
    return engine_watches(&world, NULL, NULL, k);
}

bool live_watches_for_groups(const struct options *o, const struct group_settings *groups, enum kind k)
{
    static const struct default_spread_config some;
    struct world_options world = live_world_options(o, &some);
    return groups->provider != NULL && engine_watches(&world, NULL, groups, k);
}

struct plan_options live_plan_options(const struct options *o)
{
    return (struct plan_options){
        .search = o->search == SEARCH_IS_GREEDY ? SEARCH_GREEDY : SEARCH_CHEAPEST,
        .ignore_preferences = o->preference_policy == PREFERENCE_IGNORE,
        .best_effort_min_values = o->min_values_policy == MIN_VALUES_BEST_EFFORT};
}

struct reconciler_options live_reconciler_options(const struct options *o)
{
    return (struct reconciler_options){
        .batch_idle = o->batch_idle,
        .batch_max = o->batch_max,
        .cool_down = o->cool_down != 0 ? o->cool_down : -1,
        .empty_return = o->empty_return,
        .max_nodes_per_minute = (uint32_t)o->max_nodes_per_minute,
        .max_hourly_price = o->max_hourly_price,
        .nominate = o->placement == PLACEMENT_NOMINATE,
        .nominate_from = (uint32_t)o->nominate_from,
        .static_capacity = o->gates.static_capacity,
        .terminate_first_drift = o->gates.terminate_first_drift,
        .terminate_first_repair = o->gates.terminate_first_repair,
        .legacy_node_repair = o->gates.node_repair && o->legacy_node_repair,
        .node_repair = o->gates.node_repair && !o->legacy_node_repair,
        .spot_to_spot = o->gates.spot_to_spot,
        .pod_deletion_cost = o->gates.pod_deletion_cost,
        .plan = live_plan_options(o)};
}

static mono_ms now_of(void *user)
{
    (void)user;
    return clock_mono();
}

static void ask_types(void *user, uint32_t provider, void (*job)(void *arg), void *arg)
{
    worker_run(((struct live *)user)->listers[provider], job, arg);
}

static bool open_groups(struct live *l, struct err *err)
{
    struct group_options_given *g = l->config.groups;
    if (g == NULL)
        return true;
    g->settings.answered = l->config.grouped;
    g->settings.user = l->config.user;
    g->settings.default_spread = live_world_options(l->options, &l->spread).default_spread;
    struct client_policy policy = client_policy_of(l);
    return groups_management(&l->arena, g, &policy, &l->management, err) &&
           groups_open(&l->arena, g, l->api, l->management, err);
}

static void open_engine(struct live *l)
{
    const struct options *o = l->options;
    static const struct group_settings no_groups;
    l->worker = worker_new();
    struct providers providers = {{l->provider, l->machines}, l->machines != NULL ? 2 : 1};
    for (uint32_t i = 0; i < providers.count; i++)
        l->listers[i] = worker_new();
    l->engine = engine_new(&(struct engine_config){
        .api = l->api,
        .providers = providers,
        .lister = {.user = l, .run = ask_types, .fresh = wake_api},
        .world = live_world_options(o, &l->spread),
        .reconciler = live_reconciler_options(o),
        .groups = l->config.groups != NULL ? l->config.groups->settings : no_groups,
        .listener = {.user = l,
                     .wake = wake_reconciler,
                     .decided = on_decided,
                     .measured = on_measured,
                     .moved = on_moved,
                     .leads_until = leads_until,
                     .now_ns = now_ns,
                     .goes_on = goes_on},
        .worker = {.user = l->worker, .run = worker_run, .join = worker_join},
        .now = now_of,
    });
    if (l->machines != NULL)
        machines_watch(l->machines, engine_sources(l->engine)->snapshots);
}

bool live_new(const struct live_config *config, struct live **out, struct err *err)
{
    struct live *l = mem_new(sizeof(*l));
    l->config = *config;
    l->options = config->options;
    arena_init(&l->arena, 0);
    wake_init(&l->api_wake);
    wake_init(&l->deriver_wake);
    wake_init(&l->reconciler_wake);
    l->identity = own_identity(&l->arena);
    bool embedded = l->options->embedded;
    if (!read_spread(l, err) || !(embedded ? open_memory(l, err) : open_cluster(l, err)) ||
        !open_provider(l, err) || !open_groups(l, err)) {
        live_free(l);
        return false;
    }
    l->own_namespace = l->options->own_namespace != NULL && l->options->own_namespace[0] != '\0'
                           ? span_of(l->options->own_namespace)
                       : l->cluster.ns.len != 0 ? l->cluster.ns
                                                : SPAN("default");
    open_engine(l);
    l->events = events_new(&(struct events_config){.controller = SPAN("stowage"),
                                                   .instance = l->identity},
                           l->api);
    const struct standing_config standing = {.options = l->options,
                                             .log = l->config.log,
                                             .api = l->api,
                                             .events = l->events,
                                             .own_namespace = l->own_namespace,
                                             .identity = l->identity,
                                             .user = l,
                                             .leads = on_leads,
                                             .observes = on_observes};
    if (!standing_new(&standing, &l->standing, err)) {
        live_free(l);
        return false;
    }
    standing_begin(l->standing);
    engine_watch(l->engine);
    *out = l;
    return true;
}

void live_start(struct live *l)
{
    static const char *const names[] = {[LIVE_API] = "the API thread",
                                        [LIVE_DERIVER] = "the deriver",
                                        [LIVE_RECONCILER] = "the reconciler"};
    for (int t = 0; t < LIVE_THREAD_COUNT; t++) {
        l->pulses[t].name = names[t];
        l->pulses[t].computes = t != LIVE_API || l->sim != NULL; /* a cluster in memory lives on the API thread */
        pulse_beat(&l->pulses[t], clock_mono()); /* until it says so itself */
    }
    tell_standing(l);
    if (l->management != NULL)
        mirror_start(l->management);
    pthread_create(&l->api_thread, NULL, api_main, l);
    pthread_create(&l->deriver_thread, NULL, deriver_main, l);
    pthread_create(&l->reconciler_thread, NULL, reconciler_main, l);
}

void live_stop(struct live *l)
{
    atomic_store(&l->stop_deciding, true);
    wake_reconciler(l);
    pthread_join(l->reconciler_thread, NULL);
    if (l->management != NULL)
        mirror_stop(l->management); /* who leads next finds what it wrote done */
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
    for (size_t i = 0; i < PROVIDERS_MAX; i++)
        worker_free(l->listers[i]); /* they wake the API thread */
    mirror_free(l->management); /* as of the next */
    if (l->client != NULL)
        client_free(l->client); /* what was under way ends here, while those it tells still exist */
    if (l->sim != NULL)
        sim_free(l->sim);
    engine_free(l->engine);
    worker_free(l->worker);
    if (l->machines != NULL) /* which borrows what the other one has */
        l->machines->ops->free(l->machines);
    if (l->provider != NULL)
        l->provider->ops->free(l->provider);
    if (l->config.groups != NULL && l->config.groups->settings.provider != NULL)
        l->config.groups->settings.provider->ops->free(l->config.groups->settings.provider);
    standing_free(l->standing);
    if (l->events != NULL)
        events_free(l->events);
    if (l->sim_scratch.parser != NULL)
        extender_scratch_release(&l->sim_scratch);
    wake_release(&l->api_wake);
    wake_release(&l->deriver_wake);
    wake_release(&l->reconciler_wake);
    arena_release(&l->arena);
    free(l);
}

const struct extender_sources *live_sources(const struct live *l)
{
    return engine_sources(l->engine);
}

void live_astray(struct live *l)
{
    wake_reconciler(l);
}

struct events *live_events(struct live *l)
{
    return l->events;
}

const struct pulse *live_pulse(const struct live *l, enum live_thread t)
{
    return &l->pulses[t];
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
