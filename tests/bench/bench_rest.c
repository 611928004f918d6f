/* bench_rest: a Stowage beside a large cluster in which little happens (rest_cluster.h): what it costs a core, what
 * memory it keeps, and how soon it knows and has planned what happened. A leader and a standby.
 *
 *   bench_rest [SECONDS [NODES PODS]]     (120 s of the cluster's time, 5000, 100000)
 *
 * The three threads of server/live.c (API, deriver, reconciler) run in turns in one, on a virtual clock on which
 * each step takes the time of the CPU that it really took: so a busy machine disturbs little, and minutes pass in
 * seconds. What is counted begins with the text of an event: HTTP, TLS and listeners are not in it, nor is what makes
 * the texts. A plan's figure is without the batch window (1 ms here). Exit status 1 when a goal is missed. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cloud/kwok.h"
#include "planner/places.h"
#include "reconciler/derive.h"
#include "reconciler/provision/pace.h"
#include "reconciler/reconciler.h"
#include "tests/bench/rest_cluster.h"

enum { WARM_S = 20 };
static const int64_t MS = 1000000, SECOND = 1000000000;
static const wall_ms WALL = 1795176000000; /* 2026-11-20T12:00:00Z */

enum stage { STAGE_DECODE, STAGE_PUBLISH, STAGE_DERIVE, STAGE_RECONCILE, STAGE_COUNT };

struct series {
    double *items;
    size_t count, capacity;
};

struct pending { /* an event that no snapshot shows yet, or no plan knows */
    int64_t at;
    uint64_t sequence;
};

struct pendings {
    struct pending *items;
    size_t count, capacity;
};

struct bench {
    struct api api; /* first */
    struct rest_cluster *cluster;
    struct api_sink sink;
    struct doc_parser *parser;
    struct provider *provider;
    struct derive *derive;
    struct store *store;
    struct share places;
    struct share_cache places_seen;
    struct reconciler *reconciler;
    enum kind listing;
    /* the virtual clock, ns: when each thread is free again */
    int64_t now, api_free, derived_at, reconciler_free;
    int64_t reconciler_next, reconciler_woken; /* when it asked to be called; when something woke it */
    int64_t reconciler_rests;                  /* until then nothing wakes it (reconciler/provision/pace.h) */
    struct snapshot *begun;
    uint64_t shown; /* sequence of the last snapshot */
    /* what is measured */
    bool warm;
    int64_t cpu[STAGE_COUNT];
    uint64_t turns[STAGE_COUNT];
    struct pendings unseen, unplanned;
    struct series to_snapshot, to_plan, deltas;
    uint64_t ways[DERIVE_BUILD + 1];
};

static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void series_add(struct series *s, double x)
{
    if (s->count == s->capacity)
        s->items = mem_grow(s->items, s->capacity = s->capacity * 2 + 256, sizeof(*s->items));
    s->items[s->count++] = x;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(struct series *s, double q)
{
    if (s->count == 0)
        return 0;
    qsort(s->items, s->count, sizeof(*s->items), by_number);
    return s->items[(size_t)(q * (double)(s->count - 1))];
}

static void pending_add(struct pendings *p, int64_t at, uint64_t sequence)
{
    if (p->count == p->capacity)
        p->items = mem_grow(p->items, p->capacity = p->capacity * 2 + 64, sizeof(*p->items));
    p->items[p->count++] = (struct pending){at, sequence};
}

/* Those up to this sequence were waited for until `now`. */
static void pending_end(struct pendings *p, uint64_t sequence, int64_t now, struct series *to, bool warm)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].sequence > sequence)
            p->items[kept++] = p->items[i];
        else if (warm)
            series_add(to, (double)(now - p->items[i].at) / (double)MS);
    p->count = kept;
}

static int64_t spend(struct bench *b, enum stage s, int64_t began)
{
    int64_t took = cpu_now() - began;
    if (b->warm) {
        b->cpu[s] += took;
        b->turns[s]++;
    }
    return took;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static mono_ms mono(const struct bench *b)
{
    return b->now / MS + 1000;
}

/* --- the API that the reconciler and the provider write to --- */

static uint64_t send_write(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct bench *b = (struct bench *)api;
    return rest_write(b->cluster, b->now, r, done, user);
}

static void cancel(struct api *api, uint64_t id)
{
    (void)api;
    (void)id;
}

static void cancel_acts(struct api *api)
{
    (void)api;
}

static void watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    (void)k;
    ((struct bench *)api)->sink = *sink;
}

/* Nobody asks for it as long as no node is lost. */
static void relist(struct api *api, enum kind k)
{
    (void)api;
    (void)k;
}

static const struct api_ops ops = {
    .send = send_write, .cancel = cancel, .cancel_acts = cancel_acts, .watch = watch, .relist = relist};

/* --- the API thread --- */

static void take_text(struct bench *b, enum kind k, enum watch_event what, struct span json)
{
    const struct doc *doc;
    struct err err;
    if (!doc_parse_json(b->parser, json, &doc, &err)) {
        fprintf(stderr, "bench_rest: %s: %s\n%.*s\n", kind_info(k)->name, err.msg, SPAN_ARG(json));
        exit(1);
    }
    store_event(b->store, k, what, doc_root(doc));
}

static void listed(void *user, struct span json)
{
    struct bench *b = user;
    take_text(b, b->listing, WATCH_PUT, json);
}

static void wake(struct bench *b, int64_t at)
{
    b->reconciler_woken = earlier(b->reconciler_woken, at);
}

static void answer(struct bench *b, const struct rest_event *e)
{
    const struct doc *doc;
    struct err err;
    doc_parse_json(b->parser, e->json, &doc, &err);
    struct api_result result = {.status = 200, .retry_after_s = -1, .body = doc};
    e->done(e->user, &result);
    wake(b, b->now);
}

static void hear(struct bench *b)
{
    struct rest_event e;
    rest_take(b->cluster, &e);
    int64_t began = cpu_now();
    if (e.kind == KIND_NONE)
        answer(b, &e);
    else
        take_text(b, e.kind, e.what, e.json);
    b->api_free = b->now + spend(b, STAGE_DECODE, began);
    if (e.kind == KIND_NONE)
        return;
    uint64_t sequence = b->shown + 1 + (b->begun != NULL);
    if (store_due(b->store) != INT64_MAX || b->begun != NULL)
        pending_add(&b->unseen, e.at, sequence);
    if (e.refused)
        pending_add(&b->unplanned, e.at, sequence);
}

static void publish(struct bench *b)
{
    int64_t began = cpu_now();
    derive_look(b->derive, mono(b)); /* types stay as they are */
    b->begun = store_begin(b->store, mono(b));
    b->api_free = b->now + spend(b, STAGE_PUBLISH, began);
    began = cpu_now();
    store_derive(b->begun);
    int64_t took = spend(b, STAGE_DERIVE, began);
    if (b->warm) {
        series_add(&b->deltas, (double)took / (double)MS);
        b->ways[derive_last(b->derive)]++;
    }
    b->derived_at = b->api_free + took;
}

static void show(struct bench *b)
{
    int64_t began = cpu_now();
    uint64_t sequence = b->begun->sequence;
    store_show(b->store, b->begun);
    b->begun = NULL;
    b->api_free = b->now + spend(b, STAGE_PUBLISH, began);
    b->derived_at = INT64_MAX;
    b->shown = sequence;
    pending_end(&b->unseen, sequence, b->api_free, &b->to_snapshot, b->warm);
    wake(b, b->api_free);
}

/* --- the reconciler's thread --- */

static void reconcile(struct bench *b)
{
    int64_t began = cpu_now();
    mono_ms next = reconciler_step(b->reconciler, mono(b), WALL + b->now / MS);
    int64_t took = spend(b, STAGE_RECONCILE, began);
    b->reconciler_free = b->now + took;
    b->reconciler_next = (next - 1000) * MS;
    b->reconciler_woken = INT64_MAX;
    b->reconciler_rests = b->reconciler_free + pace_rest((uint64_t)took) * MS;
    const struct places *p = (const struct places *)share_read(&b->places, &b->places_seen);
    if (p != NULL)
        pending_end(&b->unplanned, p->snapshot, b->reconciler_free, &b->to_plan, b->warm);
}

/* --- the whole --- */

/* One step of whichever thread is first. False: none before `end`. */
static bool turn(struct bench *b, int64_t end)
{
    mono_ms due = store_due(b->store);
    int64_t at[] = {
        later(rest_due(b->cluster), b->api_free),
        b->begun != NULL || due == INT64_MAX ? INT64_MAX : later((due - 1000) * MS, b->api_free),
        b->begun == NULL ? INT64_MAX : later(b->derived_at, b->api_free),
        later(earlier(b->reconciler_next, later(b->reconciler_woken, b->reconciler_rests)), b->reconciler_free),
    };
    static void (*const steps[])(struct bench *) = {hear, publish, show, reconcile};
    size_t first = 0;
    for (size_t i = 1; i < COUNT_OF(at); i++)
        if (at[i] < at[first])
            first = i;
    if (at[first] >= end)
        return false;
    b->now = later(b->now, at[first]);
    steps[first](b);
    return true;
}

static void start(struct bench *b, const struct rest_load *load)
{
    static const struct world_options options = {.reserved_capacity = true};
    b->cluster = rest_new(load, WALL);
    b->api.ops = &ops;
    b->parser = doc_parser_new();
    b->provider = kwok_new(&(struct kwok_config){.api = &b->api, .types = catalogue_builtin()});
    b->derive = derive_new(&(struct providers){{b->provider}, 1}, &(struct listings_worker){0}, &options);
    struct store_deriver deriver = derive_deriver(b->derive);
    b->store = store_new(&deriver);
    share_init(&b->places, places_destroy);
    b->reconciler = reconciler_new(&(struct reconciler_config){
        .api = &b->api,
        .providers = {{b->provider}, 1},
        .snapshots = store_share(b->store),
        .places = &b->places,
        .options = {.batch_idle = 1, .batch_max = 1},
    });
    b->derived_at = INT64_MAX;
}

static void stop(struct bench *b)
{
    share_drop(&b->places_seen);
    reconciler_free(b->reconciler);
    b->provider->ops->free(b->provider);
    store_free(b->store);
    derive_free(b->derive);
    share_release(&b->places);
    doc_parser_free(b->parser);
    rest_free(b->cluster);
}

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static double resident_mib(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void sync_all(struct bench *b)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        size_t before = heap_bytes();
        b->listing = k;
        store_list_begin(b->store, k);
        rest_list(b->cluster, k, listed, b);
        store_list_end(b->store, k);
        uint32_t count = rest_count(b->cluster, k);
        if (count >= 1000)
            printf("  %-24s %7u  %6.0f bytes each\n", kind_info(k)->plural, count,
                   (double)(heap_bytes() - before) / count);
    }
}

static bool row(const char *what, double figure, const char *unit, double goal)
{
    bool met = goal == 0 || figure <= goal;
    printf("  %-34s %9.2f %-4s", what, figure, unit);
    if (goal != 0)
        printf(" goal %6.0f%s", goal, met ? "" : "  MISSED");
    putchar('\n');
    return met;
}

static bool tell(struct bench *b, bool leads, double seconds, double before, double synced)
{
    static const char *const names[] = {"events", "publishing", "worlds", "passes"};
    int64_t all = 0;
    bool met = true;
    for (int s = 0; s < STAGE_COUNT; s++)
        all += b->cpu[s];
    met &= row("share of a core", (double)all / (double)SECOND / seconds * 100, "%", leads ? 5 : 2);
    for (int s = 0; s < STAGE_COUNT; s++)
        printf("    %-12s %8.2f %%  %8.1f a second, %8.3f ms each\n", names[s],
               (double)b->cpu[s] / (double)SECOND / seconds * 100, (double)b->turns[s] / seconds,
               b->turns[s] != 0 ? (double)b->cpu[s] / (double)MS / (double)b->turns[s] : 0);
    size_t tenth = b->deltas.count / 10 + 1;
    struct series first = {b->deltas.items, tenth < b->deltas.count ? tenth : b->deltas.count, 0};
    struct series last = {b->deltas.items + b->deltas.count - first.count, first.count, 0};
    double early = quantile(&first, 0.5), late = quantile(&last, 0.5);
    row("a world, median, first tenth", early, "ms", 0);
    row("a world, median, last tenth", late, "ms", 0);
    row("a world, p99", quantile(&b->deltas, 0.99), "ms", 0);
    row("a world, the slowest", quantile(&b->deltas, 1), "ms", 0);
    row("of them built anew", 100 * (double)b->ways[DERIVE_BUILD] / (double)(b->deltas.count + 1), "%", 0);
    met &= row("resident after the sync", synced - before, "MiB", 256);
    met &= row("resident at the end", resident_mib() - before, "MiB", 256);
    row("event to snapshot, p50", quantile(&b->to_snapshot, 0.5), "ms", 0);
    met &= row("event to snapshot, p99", quantile(&b->to_snapshot, 0.99), "ms", leads ? 100 : 0);
    if (leads) {
        row("event to plan, p50", quantile(&b->to_plan, 0.5), "ms", 0);
        met &= row("event to plan, p99", quantile(&b->to_plan, 0.99), "ms", 100);
        row("writes a second", rest_writes(b->cluster) / (seconds + WARM_S), "", 0);
    }
    return met;
}

/* A machine goes, and the world without it gets it back: rows move, and the other pods with them. */
static void tell_machine(struct bench *b, double built)
{
    enum { TIMES = 21 };
    const struct snapshot *s = (const struct snapshot *)share_take(store_share(b->store));
    const struct world *w = derive_world(s);
    struct series goes = {NULL, 0, 0}, comes = {NULL, 0, 0};
    for (uint32_t i = 0; i < TIMES; i++) {
        const struct world_node *n = world_node_at(w, world_node_count(w) / TIMES * i);
        int64_t began = cpu_now();
        struct world *less = world_delta(
            w, &(struct world_change){.gone_nodes = &n->node, .gone_node_count = 1, .gone_claims = &n->claim, .gone_claim_count = 1});
        series_add(&goes, (double)(cpu_now() - began) / (double)MS);
        began = cpu_now();
        struct world *again = less == NULL ? NULL : world_delta(less, &(struct world_change){
            .nodes = &n->node, .node_count = 1, .claims = &n->claim, .claim_count = 1});
        series_add(&comes, (double)(cpu_now() - began) / (double)MS);
        if (again == NULL)
            printf("  a machine more or less is left to a build\n");
        world_free(again);
        world_free(less);
    }
    row("a world built anew", built, "ms", 0);
    row("a world with a machine less, median", quantile(&goes, 0.5), "ms", 0);
    row("a world with it again, median", quantile(&comes, 0.5), "ms", 0);
    free(goes.items);
    free(comes.items);
    shared_unref((struct shared *)(uintptr_t)&s->shared);
}

static bool run(bool leads, int64_t seconds, const struct rest_load *load)
{
    struct bench b = {.now = 0};
    start(&b, load);
    printf("%s, %u nodes, %u pods\n", leads ? "leader" : "standby", load->nodes, load->pods);
    double before = resident_mib();
    size_t heap = heap_bytes();
    sync_all(&b);
    size_t objects = heap_bytes();
    int64_t began = cpu_now();
    derive_look(b.derive, mono(&b));
    store_publish(b.store, mono(&b));
    double built = (double)(cpu_now() - began) / (double)MS;
    b.shown = 1;
    printf("  %-24s %7.1f MiB, the world %.1f MiB\n", "all objects", (double)(objects - heap) / (1 << 20),
           (double)(heap_bytes() - objects) / (1 << 20));
    double synced = resident_mib();
    reconciler_lead(b.reconciler, leads);
    while (turn(&b, WARM_S * SECOND))
        ;
    b.warm = true;
    while (turn(&b, (WARM_S + seconds) * SECOND))
        ;
    bool met = tell(&b, leads, (double)seconds, before, synced);
    if (leads)
        tell_machine(&b, built);
    stop(&b);
    return met;
}

int main(int argc, char **argv)
{
    int64_t seconds = argc > 1 ? atol(argv[1]) : 120;
    struct rest_load load = {.nodes = argc > 3 ? (uint32_t)atol(argv[2]) : 5000,
                             .pods = argc > 3 ? (uint32_t)atol(argv[3]) : 100000,
                             .heartbeat_s = 300,
                             .changes_per_s = 20,
                             .rollout_per_min = 500,
                             .labelled_per_min = 12,
                             .refused_per_min = 30};
    bool met = true;
    for (int leads = 1; leads >= 0; leads--) {
        int status;
        fflush(stdout);
        pid_t child = fork(); /* a process each: what one has taken the other does not show */
        if (child == 0) {
            bool good = run(leads != 0, seconds, &load);
            fflush(stdout);
            _exit(good ? 0 : 1);
        }
        met &= child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == 0;
    }
    return met ? 0 : 1;
}
