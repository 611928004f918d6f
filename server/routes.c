#include "server/routes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/doc.h"
#include "base/json.h"
#include "server/assets.h"
#include "server/census.h"
#include "server/clock.h"
#include "server/explain.h"
#include "server/fleet_json.h"
#include "server/group_answers.h"
#include "server/handshakes.h"
#include "server/page/fleet.h"
#include "server/page/pods.h"
#include "server/places_json.h"
#include "server/process.h"

enum {
    PAGE_BEAT_MS = 10 * MS_SECOND,
    EXTENDER_PATIENCE_MS = 200, /* httpTimeout of manifests/scheduler-configuration.yaml: then the scheduler is gone */
    BOARD_IDLE_MS = 5 * MS_SECOND, /* nobody has read the page for so long: its texts are given back */
    LEVEL_BYTES = 16, /* that a log level may take */
    EXPLAIN_MS = 200, /* how long the page's loop may plan for one question */
};

enum verb { VERB_FILTER, VERB_PRIORITIZE, VERB_PREEMPT, VERB_COUNT };
static const char *const verb_names[VERB_COUNT] = {"filter", "prioritize", "preempt"};

/* Seconds: from a small reply to what is past every budget. */
static const double ANSWER_BUCKETS[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001,
                                        0.0025,  0.005,  0.025,   0.1};

struct extender_route {
    struct routes *routes;
    enum verb verb;
    struct metric_series *answers[EXTENDER_ANSWER_COUNT], *errors, *seconds, *sampled, *late, *gave_in, *again;
};

/* What the API server asks for: manifests/webhooks.yaml, and manifests/shaping for the others. */
enum review { REVIEW_VALIDATE, REVIEW_SHAPE, REVIEW_SHAPE_BY_NAMESPACE, REVIEW_COUNT };
static const char *const review_paths[REVIEW_COUNT] = {"/admission/validate", "/admission/mutate",
                                                       "/admission/mutate/namespace"};

struct review_route {
    struct routes *routes;
    enum review review;
    struct metric_series *seconds;
};

struct routes {
    struct routes_config config;
    struct http_table table;
    struct extender_route verbs[VERB_COUNT];
    struct review_route paths[REVIEW_COUNT];
    struct sides *sides;
    struct handshakes *handshakes;
    struct metric_series *reviews[WEBHOOK_ANSWER_COUNT], *review_errors;
    struct census_labels node_labels; /* of the census */
    uint32_t http_requests, price;
    struct metric_series *good[HTTP_LISTENER_COUNT]; /* of http_requests, with code 200 */
};

/* --- scratch --- */

static void *scratch_make(void *user)
{
    struct route_scratch *s = mem_new(sizeof(*s));
    s->routes = user;
    extender_scratch_init(&s->extender);
    s->webhook.parser = doc_parser_new();
    arena_init(&s->webhook.arena, 0);
    return s;
}

static void read_newest(struct route_scratch *s)
{
    share_read(s->routes->config.sources->snapshots, &s->snapshots);
    share_read(s->routes->config.sources->places, &s->places);
}

/* An idle loop would pin the snapshot that it read last, and what its largest call took. */
static void scratch_tick(void *scratch)
{
    struct route_scratch *s = scratch;
    read_newest(s);
    struct board *board = s->board != NULL ? board_worker_board(s->board) : NULL;
    if (board != NULL && clock_mono() - s->board_read > BOARD_IDLE_MS)
        board_rest(board);
    doc_parser_trim(s->extender.parser, HTTP_KEEP_BYTES);
    arena_trim(&s->extender.arena, HTTP_KEEP_BYTES);
    doc_parser_trim(s->webhook.parser, HTTP_KEEP_BYTES);
    arena_trim(&s->webhook.arena, HTTP_KEEP_BYTES);
}

static void scratch_drop(void *scratch)
{
    struct route_scratch *s = scratch;
    board_worker_free(s->board);
    share_drop(&s->snapshots);
    share_drop(&s->places);
    extender_scratch_release(&s->extender);
    doc_parser_free(s->webhook.parser);
    arena_release(&s->webhook.arena);
    free(s);
}

static struct extender_times times_now(void)
{
    return (struct extender_times){clock_mono(), clock_wall()};
}

struct extender_view route_view(struct route_scratch *s)
{
    return extender_newest(s->routes->config.sources, &s->snapshots, &s->places, times_now());
}

/* --- the scheduler's questions --- */

typedef bool extender_verb(struct extender_scratch *s, const struct extender_view *v,
                           struct span body, struct buf *reply,
                           struct extender_verdict *verdict_out, struct err *err);

/* The filter's answer has a field for an error, which ends up in the scheduler's log; releases before
 * 1.31 take it for a format. The other verbs have none. */
static void refuse_call(struct http_reply *r, enum verb verb, const struct err *err)
{
    if (verb != VERB_FILTER) {
        http_reply_text(r, 400, "%s", err->msg);
        return;
    }
    struct err plain = *err;
    for (char *c = plain.msg; *c != '\0'; c++)
        if (*c == '%')
            *c = ' ';
    buf_clear(&r->body);
    struct json j = JSON_TO(&r->body);
    json_object_begin(&j);
    json_put_string(&j, "Error", span_of(plain.msg));
    json_object_end(&j);
}

static void on_extender(void *user, void *scratch, const struct http_request *q,
                        struct http_reply *r)
{
    static extender_verb *const functions[VERB_COUNT] = {extender_filter, extender_prioritize,
                                                         extender_preempt};
    struct extender_route *e = user;
    struct route_scratch *s = scratch;
    const struct routes_config *c = &e->routes->config;
    struct extender_times now = times_now();
    struct extender_view view = extender_open(c->sources, &s->snapshots, &s->places, now);
    /* Connections outlast leaders: the next one that the scheduler opens goes where its Service leads. */
    r->last = !extender_leads(c->sources, now.mono);
    struct extender_verdict verdict;
    struct err err;
    if (functions[e->verb](&s->extender, &view, q->body, &r->body, &verdict, &err)) {
        metric_add(e->answers[verdict.answer], 1);
        if (verdict.sampled)
            metric_add(e->sampled, 1);
        if (verdict.gave_in)
            metric_add(e->gave_in, 1);
        if (verdict.again)
            metric_add(e->again, 1);
        if (verdict.astray && c->astray != NULL)
            c->astray(c->user);
    } else {
        metric_add(e->errors, 1);
        refuse_call(r, e->verb, &err);
    }
}

/* --- the API server's reviews --- */

static bool answer_review(const struct review_route *w, struct route_scratch *s, struct span body, struct buf *reply,
                          enum webhook_answer *answer_out, struct err *err)
{
    const struct webhook_rules *rules = w->routes->config.rules;
    const struct snapshot *snapshot = route_view(s).snapshot;
    mono_ms until = clock_mono() + REVIEW_MS_MAX;
    struct review_sources from = {rules, snapshot, {clock_is_past, &until}};
    if (w->review == REVIEW_VALIDATE)
        return webhook_review(&s->webhook, &from, body, reply, answer_out, err);
    struct shape_sources sources = {.snapshot = snapshot,
                                    .syms = rules->syms,
                                    .sides = w->routes->sides,
                                    .now = clock_mono(),
                                    .by_namespace = w->review == REVIEW_SHAPE_BY_NAMESPACE};
    return webhook_shape(&s->webhook, &sources, body, reply, answer_out, err);
}

static void on_review(void *user, void *scratch, const struct http_request *q,
                      struct http_reply *r)
{
    const struct review_route *w = user;
    enum webhook_answer answer;
    struct err err;
    if (answer_review(w, scratch, q->body, &r->body, &answer, &err)) {
        metric_add(w->routes->reviews[answer], 1);
    } else {
        metric_add(w->routes->review_errors, 1);
        http_reply_text(r, 400, "%s", err.msg);
    }
}

/* --- probes and metrics --- */

static void answer_probe(struct http_reply *r, bool good)
{
    r->status = good ? 200 : 503;
    r->content_type = "text/plain; charset=utf-8";
    buf_add_char(&r->body, '\n');
}

static void on_ready(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    answer_probe(r, health_ready(((struct routes *)user)->config.health, &r->body));
}

static void on_live(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    answer_probe(r, health_alive(((struct routes *)user)->config.health, clock_mono(), &r->body));
}

/* As Cluster Autoscaler's, whose answer to a loop that stands is 500. */
static void on_health_check(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    const struct routes_config *c = &((struct routes *)user)->config;
    struct buf why = {0};
    bool keeps = c->loop != NULL && extender_leads(c->sources, clock_mono());
    if (keeps && !loop_is_well(c->loop, &c->loop_limits, clock_mono(), &why))
        http_reply_text(r, 500, "%.*s", SPAN_ARG(buf_span(&why)));
    else
        on_live(user, scratch, q, r);
    buf_release(&why);
}

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

static struct page_view page_view_of(const struct routes *routes, struct route_scratch *s)
{
    struct extender_view v = route_view(s);
    return (struct page_view){v.snapshot, v.world, v.places, v.wall, routes->config.groups};
}

/* When somebody asks, of what is then. Only the leader knows what groups' nodes cost. */
static void note_price(const struct routes *routes, struct route_scratch *s)
{
    struct page_view v = page_view_of(routes, s);
    if (v.world != NULL && extender_leads(routes->config.sources, clock_mono()))
        metrics_set(routes->config.metrics, routes->price, NULL, fleet_sum(&v, SYM_NONE).price);
    else
        metrics_remove(routes->config.metrics, routes->price, NULL);
}

static void put_own_metrics(const struct routes *routes, struct route_scratch *s, struct buf *out)
{
    note_price(routes, s);
    metrics_write(routes->config.metrics, out);
    process_metrics(out);
}

static void on_own_metrics(void *user, void *scratch, const struct http_request *q,
                           struct http_reply *r)
{
    (void)q;
    r->content_type = METRICS_TYPE;
    put_own_metrics(user, scratch, &r->body);
}

/* NULL when nobody wants it, and while the cluster is somebody else's to speak of: two replicas would count its pods
 * twice. */
static struct census *begin_census(const struct routes *routes)
{
    if (routes->config.no_census || !extender_leads(routes->config.sources, clock_mono()))
        return NULL;
    struct shared *held = share_take(routes->config.sources->snapshots);
    const struct snapshot *s = (const struct snapshot *)held;
    if (s != NULL && s->derived != NULL)
        return census_new(s, &routes->node_labels, routes->config.census_pods, clock_wall());
    if (held != NULL)
        shared_unref(held);
    return NULL;
}

static void end_census(void *census)
{
    census_free(census);
}

static void on_metrics(void *user, void *scratch, struct http_stream *s, mono_ms now,
                       struct buf *out)
{
    (void)now;
    if (!s->begun) {
        put_own_metrics(user, scratch, out);
        s->work = begin_census(user);
        s->drop = end_census;
    }
    s->ended = s->work == NULL || !census_write(s->work, HTTP_PIECE, out);
}

/* --- the page --- */

static struct span why_waiting(void *user, struct arena *a, const struct pod *p)
{
    const struct routes *routes = user;
    return page_reason(routes->config.page, a, p);
}

static struct why why_put_off(void *user, struct arena *a, const struct pod *p)
{
    const struct routes *routes = user;
    return page_put_off(routes->config.page, a, p);
}

static struct span why_drift_is_paused(void *user, struct arena *a, const struct meta *pool)
{
    const struct routes *routes = user;
    return page_drift_paused(routes->config.page, a, pool);
}

static struct span why_no_group(void *user, struct arena *a, const struct pod *p)
{
    return group_answers_refusal(((const struct routes *)user)->config.groups, p->meta.uid, a);
}

static void on_plan(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)q;
    const struct routes *routes = user;
    struct extender_view v = route_view(scratch);
    struct arena a;
    arena_init(&a, 0);
    struct moves moves = page_moves(routes->config.page, &a);
    places_json(&(struct places_view){v.places, v.snapshot, v.world, &moves, clock_wall(), why_waiting, user, NULL},
                &r->body);
    arena_release(&a);
}

static bool group_of(void *user, struct span node, struct arena *a, struct span *group_out, double *price_out)
{
    return group_answers_node(((const struct routes *)user)->config.groups, node, a, group_out, price_out);
}

static void on_fleet(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)q;
    const struct routes *routes = user;
    struct extender_view v = route_view(scratch);
    struct arena a;
    arena_init(&a, 0);
    struct moves moves = page_moves(routes->config.page, &a);
    struct fleet_view f;
    fleet_of(&a, &(struct places_view){v.places, v.snapshot, v.world, &moves, clock_wall(), why_waiting, user, group_of},
             v.snapshot != NULL ? v.snapshot->syms : NULL, &f);
    fleet_json(&r->body, &f);
    arena_release(&a);
}

/* /pods?node=NAME&workload=KIND NAMESPACE/NAME&find=WORD */
static void on_pods(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)user;
    struct extender_view v = route_view(scratch);
    struct arena a;
    if (v.snapshot == NULL || v.world == NULL || !snapshot_synced(v.snapshot)) {
        http_reply_text(r, 503, "the cluster has not been read yet");
        return;
    }
    arena_init(&a, 0);
    struct pods_asked asked = {http_query(&a, q->query, "node"), http_query(&a, q->query, "workload"), http_query(&a, q->query, "find")};
    pods_json(v.snapshot, v.world, &asked, &r->body);
    arena_release(&a);
}

static void on_history(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    page_history_json(((struct routes *)user)->config.page, 0, &r->body);
}

/* 0: it is not given. */
static bool time_asked(struct span query, wall_ms *out, struct err *err)
{
    struct arena a;
    arena_init(&a, 0);
    struct span text = http_query(&a, query, "at");
    *out = 0;
    bool ok = text.ptr == NULL || time_parse(text, out) ||
              err_set(err, ERR_INVALID, "at: \"%.*s\" is not a time like 2026-10-10T12:00:00Z", SPAN_ARG(text));
    arena_release(&a);
    return ok;
}

static void explain_group(const struct routes *routes, struct span name, struct http_reply *r)
{
    struct err err;
    if (routes->config.groups == NULL)
        http_reply_text(r, 404, "no node groups are kept here");
    else if (!group_answers_write(routes->config.groups, name, &r->body, &err))
        http_reply_text(r, 404, "%s", err.msg);
}

/* /explain/pod/NAMESPACE/NAME, /explain/deployment/NAMESPACE/NAME, /explain/node/NAME, /explain/nodepool/NAME[?at=TIME],
 * /explain/group/NAME, /explain/move/ID */
static void on_explain(void *user, void *scratch, const struct http_request *q,
                       struct http_reply *r)
{
    static const struct span prefix = SPAN_INIT("/explain/");
    const struct routes *routes = user;
    struct extender_view v = route_view(scratch);
    struct span name;
    struct span kind = span_cut(
        (struct span){q->path.ptr + prefix.len, q->path.len - prefix.len}, '/', &name);
    struct explain_question question;
    struct err err;
    if (v.snapshot == NULL || !snapshot_synced(v.snapshot)) {
        http_reply_text(r, 503, "the cluster has not been read yet");
        return;
    }
    if (span_eq(kind, SPAN("group"))) {
        explain_group(routes, name, r);
        return;
    }
    if (span_eq(kind, SPAN("move"))) {
        if (!page_explain_move(routes->config.page, name, &r->body, &err))
            http_reply_text(r, 404, "%s", err.msg);
        return;
    }
    struct explain_live live = {.snapshot = v.snapshot,
                                .world = v.world,
                                .places = v.places,
                                .options = routes->config.plan,
                                .now = clock_wall(),
                                .until = clock_mono() + EXPLAIN_MS,
                                .put_off = why_put_off,
                                .drift_paused = why_drift_is_paused,
                                .user = user,
                                .groups = {.refusal = routes->config.groups != NULL ? why_no_group : NULL, .user = user}};
    if (!explain_parse(kind, name, (struct span){0}, &question, &err) || !time_asked(q->query, &question.at, &err) ||
        !explain_write(&live, &question, &r->body, &err))
        http_reply_text(r, 404, "%s", err.msg);
}

/* --- the log --- */

static void on_level(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    const struct log *log = ((struct routes *)user)->config.log;
    http_reply_text(r, 200, "%s", log_level_name(atomic_load(&log->level)));
}

static void on_set_level(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    struct log *log = ((struct routes *)user)->config.log;
    struct span name = q->body;
    while (name.len != 0 && (name.ptr[name.len - 1] == '\n' || name.ptr[name.len - 1] == ' '))
        name.len--;
    enum log_level level;
    if (!log_level_find(name, &level)) {
        http_reply_text(r, 400, "\"%.*s\" is no log level; there are error, warn, info and debug",
                        (int)(name.len < LEVEL_BYTES ? name.len : LEVEL_BYTES), name.len != 0 ? name.ptr : "");
        return;
    }
    atomic_store(&log->level, level);
    log_info(log, "log", "the level is %s now", log_level_name(level));
    http_reply_text(r, 200, "%s", log_level_name(level));
}

static void on_page(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)q;
    const struct routes *routes = user;
    struct page_view v = page_view_of(routes, scratch);
    r->content_type = "text/html; charset=utf-8";
    page_html(routes->config.page, &v, &r->body);
}

static void on_asset(void *user, void *scratch, const struct http_request *q, struct http_reply *r)
{
    (void)scratch;
    (void)q;
    const struct asset *a = user;
    r->content_type = a->content_type;
    buf_add(&r->body, (struct span){a->bytes, *a->size});
}

/* One number that moves with everything the page shows. */
static uint64_t shown_version(struct routes *routes, const struct extender_view *v)
{
    uint64_t sequence = v->snapshot != NULL ? v->snapshot->sequence + 1 : 0;
    uint64_t made = v->places != NULL ? (uint64_t)v->places->made : 0;
    uint64_t groups = routes->config.groups != NULL ? group_answers_version(routes->config.groups) : 0;
    return sequence + made + page_version(routes->config.page) + groups + 1;
}

static void look(struct routes *routes, struct route_scratch *s, mono_ms now, struct http_waker done)
{
    struct extender_view v = route_view(s);
    struct board_sources sources = {.page = routes->config.page,
                                    .view = page_view_of(routes, s),
                                    .version = shown_version(routes, &v)};
    if (s->board == NULL)
        s->board = board_worker_new();
    s->board_read = now;
    board_worker_look(s->board, &sources, now, done);
}

static void on_page_live(void *user, void *scratch, struct http_stream *s, mono_ms now,
                         struct buf *out)
{
    struct routes *routes = user;
    struct route_scratch *rs = scratch;
    if (!s->begun) {
        s->work = mem_new(sizeof(struct board_reader));
        s->drop = free;
        buf_add(out, SPAN("retry: 2000\n\n"));
    }
    look(routes, rs, now, s->waker);
    struct board *board = board_worker_board(rs->board);
    size_t before = out->len;
    if (board != NULL)
        board_tell(board, routes->config.page, s->work, out);
    if (out->len != before) {
        s->told = now;
    } else if (now - s->told >= PAGE_BEAT_MS) {
        buf_add(out, SPAN("event: beat\ndata: {}\n\n"));
        s->told = now;
    }
}

/* --- the table --- */

static void add(struct routes *r, enum http_listener l, const char *method, const char *path,
                http_handler *handler, void *user)
{
    struct http_route route = {l, method, path, handler, NULL, user, NULL};
    http_table_add(&r->table, &route);
}

static void add_extender(struct routes *r)
{
    static const char *const paths[VERB_COUNT] = {"/scheduler/filter", "/scheduler/prioritize",
                                                  "/scheduler/preempt"};
    static const struct metric_info requests = {
        .name = "stowage_extender_requests_total",
        .help = "Questions of kube-scheduler, by how they were answered",
        .type = METRIC_COUNTER,
        .labels = {"verb", "answer"}};
    static const struct metric_info seconds = {
        .name = "stowage_extender_duration_seconds",
        .help = "Time to answer a question of kube-scheduler",
        .type = METRIC_HISTOGRAM,
        .labels = {"verb"},
        .buckets = ANSWER_BUCKETS,
        .bucket_count = COUNT_OF(ANSWER_BUCKETS)};
    struct metrics *m = r->config.metrics;
    static const struct metric_info sampled = {
        .name = "stowage_extender_sampled_total",
        .help = "Questions in which kube-scheduler seems to have offered a sample of its nodes only",
        .type = METRIC_COUNTER,
        .labels = {"verb"}};
    static const struct metric_info given_up = {
        .name = "stowage_extender_given_up_total",
        .help = "Questions answered too late for kube-scheduler to wait (late), or by old news since others were "
                "answered all the while (contended)",
        .type = METRIC_COUNTER,
        .labels = {"verb", "why"}};
    static const struct metric_info again = {
        .name = "stowage_extender_asked_again_total",
        .help = "Questions about a pod that was let onto one node before and was not bound there: attempts that "
                "came to nothing",
        .type = METRIC_COUNTER,
        .labels = {"verb"}};
    uint32_t again_id = metrics_register(m, &again);
    uint32_t given_up_id = metrics_register(m, &given_up);
    uint32_t sampled_id = metrics_register(m, &sampled);
    uint32_t requests_id = metrics_register(m, &requests);
    uint32_t seconds_id = metrics_register(m, &seconds);
    for (int v = 0; v < VERB_COUNT; v++) {
        struct extender_route *e = &r->verbs[v];
        struct span labels[] = {span_of(verb_names[v]), SPAN("error")};
        e->routes = r;
        e->verb = (enum verb)v;
        e->errors = metrics_series(m, requests_id, labels);
        e->seconds = metrics_series(m, seconds_id, labels);
        e->sampled = metrics_series(m, sampled_id, labels);
        e->again = metrics_series(m, again_id, labels);
        labels[1] = SPAN("late");
        e->late = metrics_series(m, given_up_id, labels);
        labels[1] = SPAN("contended");
        e->gave_in = metrics_series(m, given_up_id, labels);
        for (int a = 0; a < EXTENDER_ANSWER_COUNT; a++) {
            labels[1] = span_of(extender_answer_name((enum extender_answer)a));
            e->answers[a] = metrics_series(m, requests_id, labels);
        }
        add(r, HTTP_EXTENDER, "POST", paths[v], on_extender, e);
    }
}

/* Names of controller-runtime's webhook server, which dashboards look for, and our own by answer. */
static void add_webhook(struct routes *r)
{
    static const struct metric_info reviews = {.name = "stowage_webhook_reviews_total",
                                               .help = "Admission reviews, by answer",
                                               .type = METRIC_COUNTER,
                                               .labels = {"answer"}};
    static const struct metric_info seconds = {
        .name = "controller_runtime_webhook_latency_seconds",
        .help = "Time to answer an admission review",
        .type = METRIC_HISTOGRAM,
        .labels = {"webhook"},
        .buckets = ANSWER_BUCKETS,
        .bucket_count = COUNT_OF(ANSWER_BUCKETS)};
    struct metrics *m = r->config.metrics;
    uint32_t reviews_id = metrics_register(m, &reviews), seconds_id = metrics_register(m, &seconds);
    struct span label = SPAN("error");
    r->review_errors = metrics_series(m, reviews_id, &label);
    for (int a = 0; a < WEBHOOK_ANSWER_COUNT; a++) {
        label = span_of(webhook_answer_name((enum webhook_answer)a));
        r->reviews[a] = metrics_series(m, reviews_id, &label);
    }
    for (int w = 0; w < REVIEW_COUNT; w++) {
        label = span_of(review_paths[w]);
        r->paths[w] = (struct review_route){r, (enum review)w, metrics_series(m, seconds_id, &label)};
        add(r, HTTP_WEBHOOK, "POST", review_paths[w], on_review, &r->paths[w]);
    }
}

static void add_plain(struct routes *r)
{
    struct http_route live = {HTTP_PAGE, "GET", "/live", NULL, on_page_live, r, NULL};
    struct http_route metrics = {HTTP_METRICS, "GET", "/metrics", NULL, on_metrics, r, METRICS_TYPE};
    add(r, HTTP_PROBES, "GET", "/readyz", on_ready, r);
    add(r, HTTP_PROBES, "GET", "/livez", on_live, r);
    add(r, HTTP_PROBES, "GET", "/healthz", on_live, r);
    add(r, HTTP_PROBES, "GET", "/health-check", on_health_check, r);
    add(r, HTTP_PAGE, "GET", "/", on_page, r);
    /* One address for who asks a server; the census is for who keeps it. */
    add(r, HTTP_PAGE, "GET", "/metrics", on_own_metrics, r);
    add(r, HTTP_PAGE, "GET", "/plan", on_plan, r);
    add(r, HTTP_PAGE, "GET", "/fleet", on_fleet, r);
    add(r, HTTP_PAGE, "GET", "/pods", on_pods, r);
    add(r, HTTP_PAGE, "GET", "/history", on_history, r);
    add(r, HTTP_PAGE, "GET", "/explain/*", on_explain, r);
    if (r->config.log != NULL) {
        add(r, HTTP_PAGE, "GET", "/log-level", on_level, r);
        add(r, HTTP_PAGE, "PUT", "/log-level", on_set_level, r);
    }
    http_table_add(&r->table, &live);
    http_table_add(&r->table, &metrics);
    for (size_t i = 0; i < asset_count; i++)
        add(r, HTTP_PAGE, "GET", assets[i].path, on_asset, (void *)&assets[i]);
}

struct routes *routes_new(const struct routes_config *config)
{
    static const struct metric_info http = {
        .name = "stowage_http_requests_total",
        .help = "Requests on every listener, by status",
        .type = METRIC_COUNTER,
        .labels = {"listener", "code"}};
    static const struct metric_info price = {.name = "stowage_cluster_price_per_hour",
                                             .help = "Price of all nodes whose price is known, those of node groups included",
                                             .type = METRIC_GAUGE};
    struct routes *r = mem_new(sizeof(*r));
    r->config = *config;
    r->sides = sides_new();
    r->handshakes = handshakes_new(config->metrics, config->log);
    r->http_requests = metrics_register(config->metrics, &http);
    r->price = metrics_register(config->metrics, &price);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        struct span labels[] = {span_of(http_listener_name((enum http_listener)l)), SPAN("200")};
        r->good[l] = metrics_series(config->metrics, r->http_requests, labels);
    }
    census_labels_make(config->rules != NULL ? config->rules->labels : NULL,
                       config->rules != NULL ? config->rules->syms : NULL, &r->node_labels);
    add_extender(r);
    add_webhook(r);
    add_plain(r);
    if (config->page_guard != NULL)
        r->table.guards[HTTP_PAGE] = (struct http_guard){page_guard_admits, config->page_guard};
    return r;
}

void routes_free(struct routes *r)
{
    if (r == NULL)
        return;
    sides_free(r->sides);
    handshakes_free(r->handshakes);
    free(r);
}

struct http_table *routes_table(struct routes *r)
{
    return &r->table;
}

struct http_scratch routes_scratch(struct routes *r)
{
    return (struct http_scratch){r, scratch_make, scratch_tick, scratch_drop};
}

static void count_other(struct routes *r, enum http_listener l, int status)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", status);
    struct span labels[] = {span_of(http_listener_name(l)), span_of(code)};
    metrics_add(r->config.metrics, r->http_requests, labels, 1);
}

static void on_answered(void *user, const struct http_request *q, const struct http_route *route,
                        int status, double seconds)
{
    struct routes *r = user;
    if (status == 200)
        metric_add(r->good[q->listener], 1);
    else
        count_other(r, q->listener, status);
    if (route != NULL && route->handler == on_extender) {
        struct extender_route *e = route->user;
        metric_observe(e->seconds, seconds);
        if (seconds * MS_SECOND > EXTENDER_PATIENCE_MS)
            metric_add(e->late, 1);
    } else if (route != NULL && route->handler == on_review)
        metric_observe(((const struct review_route *)route->user)->seconds, seconds);
}

static void on_handshake_failed(void *user, enum http_listener l, enum tls_failure why, const char *peer, struct span detail)
{
    handshakes_failed(((struct routes *)user)->handshakes, l, why, peer, detail, clock_mono());
}

struct http_observer routes_observer(struct routes *r)
{
    return (struct http_observer){r, on_answered, on_handshake_failed};
}

/* --- rules --- */

bool routes_webhook_rules(struct arena *a, struct symtab *syms, struct provider *provider,
                          struct webhook_rules *out, struct err *err)
{
    struct catalogue catalogue;
    if (!provider->ops->types(provider, a, syms, &catalogue, err))
        return false;
    struct span *domains = ARENA_ARRAY(a, struct span, 2);
    domains[0] = SPAN("karpenter.sh");
    domains[1] = span_of(provider->ops->node_class_group);
    struct label_rules *labels = ARENA_NEW(a, struct label_rules);
    *labels = (struct label_rules){catalogue.well_known, domains, 2};
    *out = (struct webhook_rules){.labels = labels, .syms = syms};
    return true;
}
