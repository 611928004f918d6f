/* `stowage serve`: starts everything, waits for a signal, takes everything down in order.
 *
 * Up: the API thread first, since certificates come from the cluster; listeners at once, handshakes
 * fail until a certificate is there, so that a caller passes us over instead of waiting. Down, on
 * SIGTERM or SIGINT: readiness falls and replies say Connection: close; after --shutdown-delay
 * listeners close, and when what was asked has its answer, deciding stops and the Lease goes back: who
 * still asks is answered by a leader that follows the cluster. A second signal ends the wait. */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "certs/certs.h"
#include "certs/secrets.h"
#include "cloud/kwok.h"
#include "planner/trial/options.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/descriptors.h"
#include "server/ends.h"
#include "server/gauges.h"
#include "server/group_answers.h"
#include "server/groups.h"
#include "server/live.h"
#include "server/input.h"
#include "server/routes.h"
#include "server/serving.h"
#include "server/watchdog.h"

enum {
    LISTENERS_PATIENCE_MS = 5 * MS_SECOND, /* for requests under way; a caller waits a second at most */
    LARGE_BLOCK = 128 << 10, /* comes from the system, and goes back when it is freed */
};

struct serve {
    struct options options;
    struct group_options_given groups;
    int argc; /* flags, Cluster Autoscaler's left out */
    char **argv;
    struct log log;
    struct arena arena;
    struct metrics *metrics;
    struct gauges *gauges;
    struct group_answers *group_answers;
    struct loop_health loop; /* of node groups */
    struct page *page;
    struct page_guard page_guard;
    struct health *health;
    struct watchdog *watchdog;
    struct live *live;
    struct certs *certs;
    struct tls *tls;
    struct serving *serving;
    struct ends *ends;
    wall_ms served_until;
    struct symtab *rule_syms;
    struct webhook_rules rules;
    struct plan_options plan; /* of the page's /explain: as the reconciler plans */
    struct routes *routes;
    struct http_server *http;
    _Atomic(bool) listening;
    bool told_serving;
    uint32_t leader_metric;
};

/* --- log --- */

static void write_line(void *user, enum log_level level, struct span line)
{
    (void)user;
    (void)level;
    while (line.len != 0) {
        ssize_t n = write(STDOUT_FILENO, line.ptr, line.len);
        if (n < 0 && errno != EINTR)
            return; /* nobody reads our log any more: no reason to stop */
        if (n > 0)
            line = (struct span){line.ptr + n, line.len - (size_t)n};
    }
}

static int64_t log_time(void *user)
{
    (void)user;
    return clock_wall();
}

static struct log open_log(const struct options *o)
{
    bool text = o->log_format == FORMAT_TEXT ||
                (o->log_format == FORMAT_AUTO && isatty(STDOUT_FILENO));
    return (struct log){.sink = write_line,
                        .now_ms = log_time,
                        .level = (enum log_level)o->log_level,
                        .format = text ? LOG_TEXT : LOG_JSON,
                        .width = terminal_width()};
}

/* --- what live tells --- */

/* What the loop of node groups tells of itself is what it is judged by. */
static void note_loop(struct serve *s, const struct measure *m)
{
    if (m->id != MEASURE_GROUPS_ACTIVITY)
        return;
    if (span_eq(m->labels[0], SPAN("main")))
        loop_passes(&s->loop, clock_mono());
    else if (span_eq(m->labels[0], SPAN("mainSuccessful")))
        loop_succeeds(&s->loop, clock_mono());
}

static void on_measured(void *user, const struct measure *m)
{
    note_loop(user, m);
    metrics_measure(((struct serve *)user)->metrics, m);
}

static void on_decided(void *user, const struct decision *d)
{
    page_decided(((struct serve *)user)->page, d);
}

static void on_moved(void *user, const struct moves *m)
{
    page_moved(((struct serve *)user)->page, m);
}

static void on_grouped(void *user, const struct groups_told *told)
{
    group_answers_set(((struct serve *)user)->group_answers, told);
}

static void on_standing(void *user, bool leading, struct span observing)
{
    struct serve *s = user;
    struct span name = span_of(s->options.lease_name);
    metrics_set(s->metrics, s->leader_metric, &name, leading);
    if (!leading) {
        page_forget(s->page);
        group_answers_set(s->group_answers, NULL);
        loop_rests(&s->loop);
        if (s->http != NULL) /* the scheduler's next call finds the new leader */
            http_server_part(s->http, HTTP_EXTENDER);
    }
    char text[512];
    int n = snprintf(text, sizeof(text), "%s%s%.*s", leading ? "leads" : "stands by",
                     leading && observing.len != 0 ? ", and only observes: " : "",
                     leading ? (int)observing.len : 0, observing.len != 0 ? observing.ptr : "");
    size_t length = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    page_standing(s->page, (struct span){text, length});
}

/* --- certificates --- */

static void on_certificates(void *user, const struct cert_set *set)
{
    serving_set(((struct serve *)user)->serving, set);
}

static void on_served(void *user, wall_ms not_after)
{
    struct serve *s = user;
    s->served_until = not_after;
    health_have(s->health, HEALTH_CERTIFICATES);
    struct arena a;
    arena_init(&a, 0);
    log_info(&s->log, "certs", "serving certificate until %.10s", time_text(&a, not_after).ptr);
    arena_release(&a);
}

static void on_files(void *user, const struct cert_pair *pair)
{
    certs_use_files(((struct serve *)user)->certs, pair);
}

static void on_serving_trouble(void *user, const struct err *err)
{
    log_error(&((struct serve *)user)->log, "certs", "%s", err->msg);
}

/* Of Secret stowage-scheduler-client. */
static struct span scheduler_namespace(const struct serve *s)
{
    const char *given = s->options.scheduler_secret_ns;
    return given != NULL && given[0] != '\0' ? span_of(given) : live_namespace(s->live);
}

static void on_ends_soon(void *user, enum end which, wall_ms not_after)
{
    struct serve *s = user;
    struct arena a;
    arena_init(&a, 0);
    bool of_scheduler = which == END_SCHEDULER || which == END_SHOWN;
    struct event_note note = ends_note(&a, which, serving_pair(s->serving).cert.len != 0, not_after,
                                       of_scheduler ? scheduler_namespace(s) : live_namespace(s->live));
    log_warn(&s->log, "certs", "%.*s", SPAN_ARG(note.note));
    events_record(live_events(s->live), &note, clock_mono(), clock_wall());
    arena_release(&a);
}

static mono_ms look_at_ends(struct serve *s, mono_ms now, wall_ms wall)
{
    wall_ms kept[CERT_NAME_COUNT];
    certs_ends(s->certs, kept);
    const wall_ms ends[END_COUNT] = {[END_SERVING] = s->served_until,
                                     [END_CA] = kept[CERT_NAME_CA],
                                     [END_NEXT_CA] = kept[CERT_NAME_NEXT_CA],
                                     [END_SCHEDULER] = kept[CERT_NAME_SCHEDULER],
                                     [END_SHOWN] = tls_shown_until(s->tls)};
    return ends_step(s->ends, ends, now, wall);
}

static void on_certificate_trouble(void *user, const struct err *err)
{
    log_warn(&((struct serve *)user)->log, "certs", "%s", err->msg);
}

static void on_derived(void *user, enum derive_way way, double seconds)
{
    gauges_derived(((struct serve *)user)->gauges, way, seconds);
}

/* On the API thread: nobody's answer waits for it. */
static void sample(struct serve *s, wall_ms wall)
{
    if (!page_sample_due(s->page, wall))
        return;
    struct shared *held = share_take(live_sources(s->live)->snapshots);
    if (held == NULL)
        return;
    const struct snapshot *snapshot = (const struct snapshot *)held;
    page_sample(s->page, &(struct page_view){
                             .snapshot = snapshot, .world = snapshot->derived, .now = wall, .groups = s->group_answers});
    shared_unref(held);
}

static mono_ms on_round(void *user, mono_ms now, wall_ms wall)
{
    struct serve *s = user;
    if (!s->told_serving && atomic_load(&s->listening)) {
        s->told_serving = true;
        certs_serving(s->certs);
    }
    gauges_read(s->gauges, s->live, now);
    sample(s, wall);
    mono_ms due = earlier(serving_step(s->serving, now, wall), certs_step(s->certs, now, wall));
    return earlier(due, look_at_ends(s, now, wall));
}

/* The host part of "host:port", absent for every address. */
static struct span host_of(const char *listen)
{
    struct span s = span_of(listen);
    while (s.len != 0 && s.ptr[s.len - 1] != ':')
        s.len--;
    if (s.len != 0)
        s.len--;
    if (s.len >= 2 && s.ptr[0] == '[' && s.ptr[s.len - 1] == ']')
        s = (struct span){s.ptr + 1, s.len - 2};
    return s.len != 0 && !span_eq(s, SPAN("0.0.0.0")) && !span_eq(s, SPAN("::"))
               ? s
               : (struct span){NULL, 0};
}

/* In these bounds a CA outlasts what it signs, and its dates are dates. */
static bool check_lives(const struct options *o, struct err *err)
{
    if (o->leaf_life < CERTS_LEAF_LIFE_MIN || o->leaf_life > CERTS_LIFE_MAX)
        return err_set(err, ERR_INVALID, "--leaf-life is not between 5s and 876000h");
    if (o->ca_life < CERTS_LEAVES_IN_A_TERM * o->leaf_life || o->ca_life > CERTS_LIFE_MAX)
        return err_set(err, ERR_INVALID, "--ca-life is not between twice --leaf-life and 876000h");
    return true;
}

static bool open_serving(struct serve *s, struct err *err)
{
    const struct options *o = &s->options;
    s->tls = tls_new(&(struct tls_clients){.names = o->extender_client_names.items,
                                           .count = o->extender_client_names.count},
                     &(struct tls_clients){.names = o->webhook_client_names.items,
                                           .count = o->webhook_client_names.count});
    if (!tls_set_protocol(s->tls,
                          &(struct tls_protocol){.only_13 = o->tls_min_version == TLS_VERSION_13,
                                                 .suites = o->tls_cipher_suites.items,
                                                 .suite_count = o->tls_cipher_suites.count},
                          err))
        return err_wrap(err, "--tls-cipher-suites");
    return serving_new(&(struct serving_config){.tls = s->tls,
                                                .paths = {[SERVING_CERT] = o->tls_cert,
                                                          [SERVING_KEY] = o->tls_key,
                                                          [SERVING_CLIENT_CA] = o->extender_client_ca,
                                                          [SERVING_WEBHOOK_CLIENT_CA] = o->webhook_client_ca},
                                                .user = s,
                                                .served = on_served,
                                                .files = on_files,
                                                .trouble = on_serving_trouble},
                       &s->serving, err);
}

static bool open_certs(struct serve *s, struct err *err)
{
    struct options *o = &s->options;
    if (!check_lives(o, err) || !options_name_clients(&s->arena, o, SECRET_CLIENT_SUBJECT, err) || !open_serving(s, err))
        return false;
    struct span names[4];
    uint32_t count = 0;
    names[count++] = SPAN("localhost");
    names[count++] = SPAN("127.0.0.1");
    const char *listens[] = {o->webhook_listen, o->extender_listen};
    for (size_t i = 0; i < COUNT_OF(listens); i++) {
        struct span host = host_of(listens[i]);
        if (host.len != 0 && !span_eq(host, names[1]) && !span_eq(host, names[0]))
            names[count++] = host;
    }
    s->certs = certs_new(&(struct certs_config){
        .api = live_api(s->live),
        .ns = live_namespace(s->live),
        .scheduler_ns = scheduler_namespace(s),
        .names = names,
        .name_count = count,
        .files = serving_pair(s->serving),
        .leaf_life = o->leaf_life,
        .ca_life = o->ca_life,
        .register_webhooks = o->register_webhooks,
        .webhook_url = o->webhook_url != NULL ? span_of(o->webhook_url) : (struct span){NULL, 0},
        .listener = {.user = s, .changed = on_certificates, .trouble = on_certificate_trouble},
    });
    return true;
}

/* --- listeners --- */

static void astray(void *user)
{
    live_astray(((struct serve *)user)->live);
}

static bool open_page_guard(struct serve *s, struct err *err)
{
    const struct options *o = &s->options;
    s->page_guard = (struct page_guard){
        .listen = host_of(o->page_listen), .hosts = o->page_hosts.items, .host_count = o->page_hosts.count};
    bool listens = o->page_listen[0] != '\0';
    if (listens && !page_guard_may_listen(s->page_guard.listen, o->page_token_file != NULL, o->page_insecure, err))
        return false;
    return o->page_token_file == NULL || page_token_read(&s->arena, o->page_token_file, &s->page_guard.token, err) ||
           err_wrap(err, "--page-token-file");
}

static bool open_http(struct serve *s, struct err *err)
{
    const struct options *o = &s->options;
    if (!open_page_guard(s, err))
        return false;
    s->rule_syms = kube_symtab_new();
    if (!routes_webhook_rules(&s->arena, s->rule_syms, live_provider(s->live), &s->rules, err))
        return false;
    s->rules.strict = o->strict_admission;
    s->rules.overlays = o->gates.node_overlay;
    s->plan = live_plan_options(o);
    s->routes = routes_new(&(struct routes_config){
        .sources = live_sources(s->live),
        .metrics = s->metrics,
        .log = &s->log,
        .health = s->health,
        .page = s->page,
        .page_guard = &s->page_guard,
        .groups = s->group_answers,
        .loop = &s->loop,
        .loop_limits = {s->groups.settings.max_inactivity, s->groups.settings.max_failing_time,
                        s->groups.settings.max_startup_time},
        .rules = &s->rules,
        .no_census = o->disable_cluster_state_observability,
        .census_pods = (uint32_t)o->metrics_pods_max,
        .plan = &s->plan,
        .astray = astray,
        .user = s,
    });
    const char *metrics = options_listen(&s->arena, o, o->metrics_port);
    const char *probes = options_listen(&s->arena, o, o->health_port);
    return http_server_new(
        &(struct http_server_config){
            .table = routes_table(s->routes),
            .listen = {[HTTP_WEBHOOK] = o->webhook_listen,
                       [HTTP_EXTENDER] = o->extender_listen,
                       [HTTP_METRICS] = o->metrics_port != 0 ? metrics : NULL,
                       [HTTP_PROBES] = o->health_port != 0 ? probes : NULL,
                       [HTTP_PAGE] = o->page_listen},
            .tls = s->tls,
            .webhook_asks = o->webhook_client_ca != NULL && o->webhook_client_ca[0] != '\0',
            .extender_anyone = o->extender_insecure,
            .loops = (uint32_t)o->threads,
            .scratch = routes_scratch(s->routes),
            .observer = routes_observer(s->routes),
        },
        &s->http, err);
}

/* --- the whole --- */

static void register_metrics(struct serve *s)
{
    static const struct metric_info leader = {.name = "leader_election_master_status",
                                              .help = "1 while this replica leads",
                                              .type = METRIC_GAUGE,
                                              .labels = {"name"}};
    s->leader_metric = metrics_register(s->metrics, &leader);
    s->gauges = gauges_new(s->metrics);
    s->ends = ends_new(&(struct ends_config){.metrics = s->metrics,
                                             .leaf_life = s->options.leaf_life,
                                             .ca_life = s->options.ca_life,
                                             .user = s,
                                             .soon = on_ends_soon});
}

static void settle_listeners(struct serve *s)
{
    enum { WEBHOOK_PORT = 8443, EXTENDER_PORT = 9443 };
    struct options *o = &s->options;
    if (o->webhook_listen == NULL)
        o->webhook_listen = options_listen(&s->arena, o, WEBHOOK_PORT);
    if (o->extender_listen == NULL)
        o->extender_listen = options_listen(&s->arena, o, EXTENDER_PORT);
}

static bool open_all(struct serve *s, struct err *err)
{
    settle_listeners(s);
    s->metrics = metrics_new();
    register_metrics(s);
    s->page = page_new();
    s->group_answers = group_answers_new();
    s->health = health_new();
    struct live_config config = {.options = &s->options,
                                 .groups = &s->groups,
                                 .log = &s->log,
                                 .user = s,
                                 .measured = on_measured,
                                 .decided = on_decided,
                                 .moved = on_moved,
                                 .grouped = on_grouped,
                                 .standing = on_standing,
                                 .round = on_round,
                                 .derived = on_derived};
    if (!live_new(&config, &s->live, err))
        return false;
    if (!open_certs(s, err) || !open_http(s, err) || !descriptors_secure(http_server_descriptors(s->http), err))
        return false;
    for (int t = 0; t < LIVE_THREAD_COUNT; t++)
        health_watch(s->health, live_pulse(s->live, (enum live_thread)t));
    const struct pulse *loop;
    for (uint32_t i = 0; (loop = http_server_pulse(s->http, i)) != NULL; i++)
        health_watch(s->health, loop);
    s->watchdog = watchdog_new(s->health, pulse_account);
    return true;
}

static void close_all(struct serve *s)
{
    watchdog_free(s->watchdog);
    if (s->http != NULL)
        http_server_free(s->http);
    if (s->routes != NULL)
        routes_free(s->routes);
    if (s->live != NULL)
        live_free(s->live); /* ends requests, so that certs has none under way */
    if (s->certs != NULL)
        certs_free(s->certs);
    serving_free(s->serving);
    tls_free(s->tls);
    if (s->health != NULL)
        health_free(s->health);
    if (s->page != NULL)
        page_free(s->page);
    group_answers_free(s->group_answers);
    gauges_free(s->gauges);
    ends_free(s->ends);
    if (s->metrics != NULL)
        metrics_free(s->metrics);
    symtab_unref(s->rule_syms);
}

static void say_hello(struct serve *s)
{
    struct span unused = options_without_meaning(&s->arena, OPTION_SERVE, s->argc, s->argv, command_environment);
    if (unused.len != 0)
        log_info(&s->log, "options", "%.*s: Karpenter's, without a meaning here", SPAN_ARG(unused));
    for (uint32_t i = 0; i < s->options.unknown_gates.count; i++)
        log_warn(&s->log, "options", "%s",
                 option_unknown_gate(&s->arena, s->options.unknown_gates.items[i]));
    int port = http_server_port(s->http, HTTP_PAGE);
    struct err err;
    if (port != 0 && !page_guard_may_listen(s->page_guard.listen, s->options.page_token_file != NULL, false, &err))
        log_warn(&s->log, "serve", "the page is not on loopback and has no token (--page-insecure): every client that reaches it can "
                                   "read names, prices and reasons");
    if (port != 0)
        log_info(&s->log, "serve", "the page is at http://%s:%d/",
                 host_of(s->options.page_listen).len != 0
                     ? arena_cstr(&s->arena, host_of(s->options.page_listen))
                     : "127.0.0.1",
                 port);
}

/* Sleeps until a signal or `limit_ms` (negative: for ever); true for a signal. */
static bool wait_signal(int fd, span_ms limit_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    mono_ms until = clock_mono() + limit_ms;
    for (;;) {
        span_ms left = until - clock_mono();
        if (limit_ms >= 0 && left <= 0)
            return false;
        int timeout = limit_ms < 0 ? -1 : left < INT32_MAX ? (int)left : INT32_MAX;
        if (poll(&p, 1, timeout) == 1) {
            struct signalfd_siginfo info;
            return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info);
        }
    }
}

static void run(struct serve *s, int signals)
{
    live_start(s->live);
    http_server_start(s->http);
    watchdog_start(s->watchdog, &s->log);
    atomic_store(&s->listening, true);
    health_have(s->health, HEALTH_LISTENING);
    say_hello(s);

    wait_signal(signals, -1);
    log_info(&s->log, "serve", "asked to stop");
    health_leave(s->health);
    http_server_drain(s->http);
    wait_signal(signals, s->options.shutdown_delay);
    watchdog_stop(s->watchdog);
    http_server_stop(s->http, LISTENERS_PATIENCE_MS);
    live_stop(s->live);
    log_info(&s->log, "serve", "stopped");
}

/* Signals are read in this thread alone; the others inherit the mask and never see one. */
static int block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Where both have a flag of the name it is ours, and means what it means there as far as it can. */
static bool is_own_flag(struct span name)
{
    return options_has(OPTION_SERVE, name);
}

static bool read_flags(struct serve *s, int argc, char *const *argv, bool *help_out, struct span *told_out, struct err *err)
{
    if (!group_options_take(&s->arena, argc, argv, is_own_flag, &s->groups, &s->argc, &s->argv, err) ||
        !options_read(&s->arena, OPTION_SERVE, s->argc, s->argv, command_environment, &s->options, help_out, err))
        return false;
    groups_settle(&s->groups, &s->options);
    return *help_out || (groups_check(&s->groups, err) &&
                         groups_meaningless(&s->arena, &s->groups, &s->options, told_out, err));
}

int command_serve(int argc, char *const *argv)
{
    struct serve *s = mem_new(sizeof(*s));
    arena_init(&s->arena, 0);
    struct err err = {0};
    bool help = false;
    struct span told;
    int status = 2;
    if (!read_flags(s, argc, argv, &help, &told, &err)) {
        ;
    } else if (help) {
        status = command_help("serve");
    } else if (s->options.files.count != 0 && !s->options.embedded) {
        err_set(&err, ERR_INVALID, "-f is for --embedded; a real cluster has its own objects");
    } else {
        s->log = open_log(&s->options);
        if (told.len != 0)
            log_warn(&s->log, "flags", "%.*s", SPAN_ARG(told));
        /* Left to itself, glibc soon takes pages of lists and worlds out of the heap, where the small
         * objects that come meanwhile keep their room from going back. */
        mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
        int signals = block_signals();
        if (open_all(s, &err)) {
            run(s, signals);
            status = 0;
        }
        close_all(s);
        close(signals);
    }
    if (err.kind != ERR_NONE)
        command_complain("stowage serve: %s", err.msg);
    arena_release(&s->arena);
    free(s);
    return status;
}
