#include "server/gauges.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "kube/events.h"

/* Seconds: a delta of pods takes some tenths of a millisecond, one that makes rows anew some milliseconds, a build of the
 * largest cluster some tenths of a second. */
static const double WORLD_BUCKETS[] = {0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1};

enum gauge {
    REQUESTS,
    WATCHES_RESUMED,
    KINDS_MISSING,
    REQUESTS_WAITING,
    REQUESTS_RUNNING,
    EVENTS_DROPPED,
    SNAPSHOT_AGE,
    WORLD_SECONDS,
    LEDGER_PODS,
    LEDGER_FULL,
    GAUGE_COUNT,
};

static const struct metric_info infos[GAUGE_COUNT] = {
    [REQUESTS] = {.name = "rest_client_requests_total",
                  .help = "Requests to the API server, by code and method",
                  .type = METRIC_COUNTER,
                  .labels = {"code", "method"}},
    [WATCHES_RESUMED] = {.name = "stowage_watches_resumed_total",
                         .help = "Watches begun again, by kind",
                         .type = METRIC_COUNTER,
                         .labels = {"kind"}},
    [KINDS_MISSING] = {.name = "stowage_kinds_missing",
                       .help = "1 while the cluster lacks the definition of a kind that a feature gate asks for",
                       .type = METRIC_GAUGE,
                       .labels = {"kind"}},
    [REQUESTS_WAITING] = {.name = "stowage_api_requests_waiting",
                          .help = "Requests to the API server that wait for their turn (--kube-client-qps)",
                          .type = METRIC_GAUGE},
    [REQUESTS_RUNNING] = {.name = "stowage_api_requests_running",
                          .help = "Requests to the API server that are not answered yet",
                          .type = METRIC_GAUGE},
    [EVENTS_DROPPED] = {.name = "stowage_events_dropped_total",
                        .help = "Events that were not written: too many at once, or refused by the API server",
                        .type = METRIC_COUNTER},
    [SNAPSHOT_AGE] = {.name = "stowage_snapshot_age_seconds",
                      .help = "Since the newest snapshot of the cluster was made; it is made when something changes",
                      .type = METRIC_GAUGE},
    [WORLD_SECONDS] = {.name = "stowage_world_seconds",
                       .help = "Time to make what is planned with of a snapshot: anew, by what changed, or the same",
                       .type = METRIC_HISTOGRAM,
                       .labels = {"how"},
                       .buckets = WORLD_BUCKETS,
                       .bucket_count = COUNT_OF(WORLD_BUCKETS)},
    [LEDGER_PODS] = {.name = "stowage_ledger_pods",
                     .help = "Pods that the scheduler was told a node for and that are not seen bound yet",
                     .type = METRIC_GAUGE},
    [LEDGER_FULL] = {.name = "stowage_ledger_full_total",
                     .help = "Answers that were not remembered, because the ledger was full",
                     .type = METRIC_COUNTER},
};

struct gauges {
    struct metrics *metrics;
    uint32_t ids[GAUGE_COUNT];
    mono_ms due;
};

struct gauges *gauges_new(struct metrics *m)
{
    struct gauges *g = mem_new(sizeof(*g));
    g->metrics = m;
    for (int i = 0; i < GAUGE_COUNT; i++)
        g->ids[i] = metrics_register(m, &infos[i]);
    return g;
}

void gauges_free(struct gauges *g)
{
    free(g);
}

static void set(struct gauges *g, enum gauge at, double v)
{
    metrics_set(g->metrics, g->ids[at], NULL, v);
}

static void read_client(struct gauges *g, const struct client *client)
{
    enum { COUNTS_MAX = 128 };
    struct client_count counts[COUNTS_MAX];
    size_t n = client_counts(client, counts, COUNTS_MAX);
    for (size_t i = 0; i < n; i++) {
        char code[16];
        snprintf(code, sizeof(code), "%d", counts[i].code);
        const char *shown = counts[i].code != 0 ? code : "<error>";
        struct span labels[] = {span_of(shown), span_of(counts[i].method)};
        metrics_set(g->metrics, g->ids[REQUESTS], labels, (double)counts[i].count);
    }
    struct client_load load = client_load(client);
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        struct span label = span_of(kind_info(k)->name);
        metrics_set(g->metrics, g->ids[WATCHES_RESUMED], &label, (double)load.resumed[k]);
        if (kind_is_optional(k))
            metrics_set(g->metrics, g->ids[KINDS_MISSING], &label, load.absent[k]);
    }
    set(g, REQUESTS_WAITING, load.waiting);
    set(g, REQUESTS_RUNNING, load.running);
}

static void read_snapshot(struct gauges *g, struct live *l, mono_ms now)
{
    struct shared *held = share_take(live_sources(l)->snapshots);
    if (held == NULL)
        return;
    set(g, SNAPSHOT_AGE, (double)(now - ((const struct snapshot *)held)->published) / MS_SECOND);
    shared_unref(held);
}

void gauges_read(struct gauges *g, struct live *l, mono_ms now)
{
    if (now < g->due)
        return;
    g->due = now + GAUGES_MS;
    if (live_client(l) != NULL)
        read_client(g, live_client(l));
    read_snapshot(g, l, now);
    set(g, EVENTS_DROPPED, (double)events_counts(live_events(l)).dropped);
    set(g, LEDGER_PODS, ledger_count(live_sources(l)->ledger));
    set(g, LEDGER_FULL, (double)ledger_times_full(live_sources(l)->ledger));
}

void gauges_derived(struct gauges *g, enum derive_way way, double seconds)
{
    if (way == DERIVE_NONE)
        return;
    struct span label = span_of(derive_way_name(way));
    metrics_observe(g->metrics, g->ids[WORLD_SECONDS], &label, seconds);
}
