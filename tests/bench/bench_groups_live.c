/* bench_groups_live: what the loop that keeps node groups (reconciler/groups) costs beside a large cluster, each ten
 * seconds: CPU of a pass, with the world of its own that it looks at, and memory.
 *
 *   bench_groups_live [NODES PODS]   (5000 150000)
 *
 * Once nothing happens but what kubelets write, and the world of the pass before is kept; once pods come, run and go, and that
 * world goes on by delta: it is to cost little more. Then both where a NodePool stands beside the groups, and has the nodes of
 * the last zone: there what the groups alone take of a pass is looked at. Objects are as an API server tells of them
 * (rest_cluster.h). Time is virtual. Exit status 1 when a goal is missed. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cloud/group_provider.h"
#include "cloud/kwok.h"
#include "planner/places.h"
#include "reconciler/derive.h"
#include "reconciler/reconciler.h"
#include "tests/bench/rest_cluster.h"

enum { GROUPS = 3, PASSES = 20, SCAN_S = 10, PASSES_WARM = 2 };
static const int64_t MS = 1000000, SECOND = 1000000000;
static const wall_ms WALL = 1795176000000; /* 2026-11-20T12:00:00Z */

struct bench {
    struct api api; /* first */
    struct group_provider groups;
    struct rest_cluster *cluster;
    struct doc_parser *parser;
    struct derive *derive;
    struct store *store;
    struct share places;
    struct reconciler *reconciler;
    struct provider *provider; /* of the NodePool; NULL: there is none */
    enum kind listing;
    int64_t now;
    double groups_s; /* what the last pass over the groups took; 0: there was none */
    unsigned worlds[DERIVE_BUILD + 1];
};

/* --- an API server: beside a NodePool what is written comes true --- */

static uint64_t take_write(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct api_result result = {.status = 200, .retry_after_s = -1};
    struct bench *b = (struct bench *)api;
    if (b->provider != NULL)
        return rest_write(b->cluster, b->now, r, done, user);
    done(user, &result);
    return 1;
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
    (void)api;
    (void)k;
    (void)sink;
}

static void relist(struct api *api, enum kind k)
{
    (void)api;
    (void)k;
}

static const struct api_ops api_ops = {
    .send = take_write, .cancel = cancel, .cancel_acts = cancel_acts, .watch = watch, .relist = relist};

/* --- groups: the nodes of a zone each; the last one's are the NodePool's, if there is one --- */

static bool is_listed(const struct bench *b, enum kind k, struct span json)
{
    if (b->provider == NULL)
        return !kind_is_of_pools(k);
    return k != KIND_NODE_CLAIM || span_contains(json, SPAN("\"test-zone-c\""));
}

static bool look(struct group_provider *p, const struct snapshot *s, struct arena *a, struct symtab *syms, struct node_groups *out,
                 struct err *err)
{
    static const char *const zones[GROUPS] = {"test-zone-a", "test-zone-b", "test-zone-c"};
    const struct bench *b = (const struct bench *)((const char *)p - offsetof(struct bench, groups));
    (void)s;
    (void)err;
    *out = (struct node_groups){.gpu_label = SYM_NONE};
    out->groups.items = ARENA_ARRAY(a, struct node_group, GROUPS);
    out->groups.count = b->provider != NULL ? GROUPS - 1 : GROUPS;
    for (uint32_t i = 0; i < out->groups.count; i++) {
        struct sym_pair *pair = ARENA_NEW(a, struct sym_pair);
        *pair = (struct sym_pair){sym_intern(syms, SPAN("topology.kubernetes.io/zone")), sym_intern(syms, span_of(zones[i]))};
        out->groups.items[i] = (struct node_group){.name = span_of(zones[i]), .max = 5000, .selector = {pair, 1}};
    }
    return true;
}

static uint32_t asides(struct group_provider *p, const struct span **out)
{
    (void)p;
    *out = NULL;
    return 0;
}

static uint64_t resize(struct group_provider *p, struct span group, int32_t from, int32_t to, group_done *done, void *user)
{
    struct err none = {.kind = ERR_NONE};
    (void)p;
    (void)group;
    (void)from;
    (void)to;
    done(user, &none);
    return 1;
}

static uint64_t end_machines(struct group_provider *p, struct span group, const struct span *ids, uint32_t count, bool force,
                             group_done *done, void *user)
{
    struct err none = {.kind = ERR_NONE};
    (void)p;
    (void)group;
    (void)ids;
    (void)count;
    (void)force;
    done(user, &none);
    return 1;
}

static void cancel_operation(struct group_provider *p, uint64_t operation)
{
    (void)p;
    (void)operation;
}

static void free_groups(struct group_provider *p)
{
    (void)p;
}

static const enum kind no_kinds[] = {KIND_NONE};
static const struct group_provider_ops group_ops = {
    .name = "bench", .limits = {.patience = {MS_MINUTE, MS_MINUTE}, .calls = 10}, .kinds = no_kinds, .look = look,
    .asides = asides, .resize = resize, .remove = end_machines, .cancel = cancel_operation, .free = free_groups};

/* --- what is known --- */

static void take_text(struct bench *b, enum kind k, enum watch_event what, struct span json)
{
    const struct doc *doc;
    struct err err;
    if (!doc_parse_json(b->parser, json, &doc, &err)) {
        fprintf(stderr, "bench_groups_live: %s: %s\n", kind_info(k)->name, err.msg);
        exit(2);
    }
    store_event(b->store, k, what, doc_root(doc));
}

static void listed(void *user, struct span json)
{
    struct bench *b = user;
    if (is_listed(b, b->listing, json))
        take_text(b, b->listing, WATCH_PUT, json);
}

static void sync_all(struct bench *b)
{
    for (enum kind k = 0; k < KIND_STORED_COUNT; k++) {
        b->listing = k;
        store_list_begin(b->store, k);
        rest_list(b->cluster, k, listed, b);
        store_list_end(b->store, k);
    }
}

static void answer(struct bench *b, const struct rest_event *e)
{
    const struct doc *doc;
    struct err err;
    doc_parse_json(b->parser, e->json, &doc, &err);
    e->done(e->user, &(struct api_result){.status = 200, .retry_after_s = -1, .body = doc});
}

/* All that happens until then, and a snapshot of it. */
static void hear_until(struct bench *b, int64_t end)
{
    while (rest_due(b->cluster) < end) {
        struct rest_event e;
        rest_take(b->cluster, &e);
        if (e.kind == KIND_NONE)
            answer(b, &e);
        else if (is_listed(b, e.kind, e.json))
            take_text(b, e.kind, e.what, e.json);
    }
    b->now = end;
    derive_look(b->derive, end / MS + 1000);
    if (store_due(b->store) != INT64_MAX)
        store_publish(b->store, end / MS + 1000);
}

static uint64_t cpu_ns(void *user)
{
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void measured(void *user, const struct measure *m)
{
    struct bench *b = user;
    if (m->id == MEASURE_GROUPS_DURATION)
        b->groups_s = m->value;
    for (enum derive_way way = DERIVE_SAME; way <= DERIVE_BUILD && m->id == MEASURE_GROUPS_WORLDS; way++)
        b->worlds[way] += span_eq(m->labels[0], span_of(derive_way_name(way)));
}

static void wake(void *user)
{
    (void)user;
}

static void start(struct bench *b, const struct rest_load *load, bool beside)
{
    static const struct world_options options = {.reserved_capacity = true};
    struct group_settings settings = group_settings_default();
    b->api.ops = &api_ops;
    b->groups.ops = &group_ops;
    settings.provider = &b->groups;
    settings.write_status = false;
    settings.soft_taints = 0;
    b->cluster = rest_new(load, WALL);
    b->parser = doc_parser_new();
    b->provider = beside ? kwok_new(&(struct kwok_config){.api = &b->api, .types = catalogue_builtin()}) : NULL;
    struct providers providers = {{b->provider}, beside};
    b->derive = derive_new(&providers, &(struct listings_worker){0}, &options);
    struct store_deriver deriver = derive_deriver(b->derive);
    b->store = store_new(&deriver);
    share_init(&b->places, places_destroy);
    b->reconciler = reconciler_new(&(struct reconciler_config){.api = &b->api,
                                                               .providers = providers,
                                                               .snapshots = store_share(b->store),
                                                               .places = &b->places,
                                                               .options = {.batch_idle = 1, .batch_max = 1},
                                                               .listener = {.user = b, .wake = wake, .measured = measured, .now_ns = cpu_ns},
                                                               .groups = settings});
    sync_all(b);
    hear_until(b, 0);
    reconciler_lead(b->reconciler, true);
}

static void stop(struct bench *b)
{
    reconciler_free(b->reconciler);
    if (b->provider != NULL)
        b->provider->ops->free(b->provider);
    store_free(b->store);
    derive_free(b->derive);
    share_release(&b->places);
    doc_parser_free(b->parser);
    rest_free(b->cluster);
}

/* --- measuring --- */

static double heap_mib(void)
{
    struct mallinfo2 m = mallinfo2();
    return (double)(m.uordblks + m.hblkhd) / (1 << 20);
}

static double most_mib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

/* Of the whole pass; beside a NodePool of what the groups took of it. */
static double pass(struct bench *b, int64_t at)
{
    uint64_t began = cpu_ns(NULL);
    b->groups_s = 0;
    reconciler_step(b->reconciler, at / MS + 1000, WALL + at / MS);
    return b->provider != NULL ? b->groups_s : (double)(cpu_ns(NULL) - began) / 1e9;
}

struct row {
    const char *what;
    bool busy, beside;
    double goal_s;
};

static bool run(const struct row *row, const struct rest_load *load)
{
    enum { GOAL_MIB = 256 };
    struct bench b = {.listing = KIND_NONE};
    double sum = 0, worst = 0, first, before;
    start(&b, load, row->beside);
    malloc_trim(0);
    before = heap_mib();
    first = pass(&b, 0);
    for (int i = 1; i <= PASSES_WARM + PASSES; i++) {
        hear_until(&b, i * SCAN_S * SECOND);
        double took = pass(&b, i * SCAN_S * SECOND);
        sum += i > PASSES_WARM ? took : 0;
        worst = i > PASSES_WARM && took > worst ? took : worst;
    }
    double mean = sum / PASSES, more = heap_mib() - before, most = most_mib();
    bool good = mean <= row->goal_s && most <= GOAL_MIB;
    printf("live, %-32s %7.4f s a pass (first %7.4f, worst %7.4f; %u same, %u by delta, %u built)  keeps %3.0f MiB, %4.0f MiB at most "
           "in all  goal %g s, %d MiB",
           row->what, mean, first, worst, b.worlds[DERIVE_SAME], b.worlds[DERIVE_DELTA], b.worlds[DERIVE_BUILD], more, most,
           row->goal_s, GOAL_MIB);
    printf("%s\n", good ? "" : "  MISSED");
    fflush(stdout);
    stop(&b);
    return good;
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {{"nothing happens", false, false, 0.1},
                                      {"20 changes a second", true, false, 0.15},
                                      {"nothing happens, beside a pool", false, true, 0.1},
                                      {"20 changes, beside a pool", true, true, 0.15}};
    struct rest_load quiet = {.nodes = argc > 2 ? (uint32_t)atol(argv[1]) : 5000,
                              .pods = argc > 2 ? (uint32_t)atol(argv[2]) : 150000,
                              .heartbeat_s = 300};
    struct rest_load busy = quiet;
    bool good = true;
    busy.changes_per_s = 20;
    busy.rollout_per_min = 500;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int status;
        pid_t child = fork(); /* a process each: what one has taken the other does not show */
        if (child == 0)
            _exit(!run(&rows[i], rows[i].busy ? &busy : &quiet));
        good &= child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return good ? 0 : 1;
}
