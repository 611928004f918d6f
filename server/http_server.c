/* Threads, listeners, the second's tick and the way down. h2o 2.2.5 has its ways: see
 * http_loop.h for the parts, and the comments here for what it would do if left alone. */
#include "server/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "server/clock.h"
#include "server/http_loop.h"

enum {
    DEFAULT_LOOPS = 2,
    OTHER_LOOPS = 2, /* the webhook's, and that of metrics, probes and page */
    DEFAULT_IDLE_MS = 120 * MS_SECOND,
    DEFAULT_REQUEST_MS = 10 * MS_SECOND,
    ACCEPT_BATCH = 16,
    STOP_POLL_MS = 20,
    FORCED_MS = 500, /* for connections to go after they were cut */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ADDRESS_SANITIZER
#endif
#ifdef WITH_ADDRESS_SANITIZER
/* h2o keeps freed pieces in lists of each thread, which are lost with the thread. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:h2o_mem_alloc_recycle\n";
}
#endif

static bool is_plain(enum http_listener l)
{
    return l != HTTP_WEBHOOK && l != HTTP_EXTENDER;
}

/* --- accepting --- */

/* Without a descriptor to spare the listener would stay readable and the loop would spin. */
static void turn_away(struct http_loop *loop, h2o_socket_t *listener)
{
    if (loop->spare < 0)
        return;
    close(loop->spare);
    int fd = accept(h2o_socket_get_fd(listener), NULL, NULL);
    if (fd >= 0)
        close(fd);
    loop->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_accept(h2o_socket_t *listener, const char *err)
{
    if (err != NULL)
        return;
    struct listener *at = listener->data;
    struct http_loop *loop = (struct http_loop *)at->accept.ctx;
    pulse_step(clock_mono());
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        errno = 0;
        h2o_socket_t *socket = h2o_evloop_socket_accept(listener);
        if (socket == NULL) {
            if (errno == EMFILE || errno == ENFILE)
                turn_away(loop, listener);
            return;
        }
        http_connection_new(loop, (enum http_listener)(at - loop->listeners), socket);
    }
}

/* --- ending connections --- */

/* h2o leaves idle connections open. One whose next request has begun is let alone. `data`: hosts of
 * one listener; NULL: of all. */
static int kick_idle(h2o_req_t *req, void *data)
{
    if (data != NULL && req->conn->hosts != data)
        return 0;
    if (req->timestamps.request_begin_at.tv_sec == 0 && req->input.method.len == 0)
        shutdown(h2o_socket_get_fd(req->conn->callbacks->get_socket(req->conn)), SHUT_RD);
    return 0;
}

static void kick_all_idle(struct http_loop *loop, void *hosts)
{
    loop->server->conf.http1.callbacks.foreach_request(&loop->ctx, kick_idle, hosts);
}

static void part(struct http_loop *loop, enum http_listener l)
{
    struct http_server *s = loop->server;
    uint32_t wanted = atomic_load_explicit(&s->parted[l], memory_order_relaxed);
    if (loop->parted[l] != wanted)
        kick_all_idle(loop, s->hosts[l]);
    loop->parted[l] = wanted;
}

/* --- the second's tick --- */

static void tick(struct http_loop *loop, mono_ms now)
{
    loop->next_tick = now + MS_SECOND;
    for (enum http_listener l = 0; l < HTTP_LISTENER_COUNT; l++)
        part(loop, l);
    if (loop->server->config.scratch.tick != NULL)
        loop->server->config.scratch.tick(loop->scratch);
    buf_trim(&loop->body, HTTP_KEEP_BYTES);
    http_streams_feed(loop, now);
    http_connections_tick(loop, now);
}

/* --- the way down --- */

static void close_listeners(struct http_loop *loop)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        h2o_socket_t *s = loop->listeners[l].socket;
        loop->listeners[l].socket = NULL;
        if (s != NULL)
            h2o_socket_close(s);
    }
}

static void on_control(h2o_multithread_receiver_t *receiver, h2o_linklist_t *messages)
{
    struct http_loop *loop = H2O_STRUCT_FROM_MEMBER(struct http_loop, control, receiver);
    if (h2o_linklist_is_empty(messages))
        return;
    h2o_linklist_unlink(&loop->stop.link);
    loop->deadline = clock_mono() + loop->patience;
    close_listeners(loop);
    h2o_context_request_shutdown(&loop->ctx);
    kick_all_idle(loop, NULL);
}

void http_loop_wake(void *arg)
{
    struct http_loop *loop = arg;
    atomic_store(&loop->woken, true);
    h2o_multithread_send_message(&loop->control, NULL);
}

/* -1 (a signal) is no reason to end. */
static void run_once(struct http_loop *loop, span_ms wait)
{
    span_ms left = loop->next_tick - clock_mono();
    wait = http_documents_feed(loop) || left < 0 ? 0 : earlier(wait, left);
    h2o_evloop_run(loop->ctx.loop, (int32_t)wait);
    mono_ms now = clock_mono();
    pulse_beat(&loop->pulse, now);
    if (atomic_exchange(&loop->woken, false))
        http_streams_feed(loop, now);
    http_connections_weigh(loop);
    if (now >= loop->next_tick)
        tick(loop, now);
}

static void run_until_empty(struct http_loop *loop, mono_ms until)
{
    while (atomic_load(&loop->open) != 0 && clock_mono() < until) {
        http_streams_end(loop);
        run_once(loop, STOP_POLL_MS);
    }
}

static void wind_down(struct http_loop *loop)
{
    run_until_empty(loop, loop->deadline);
    http_connections_cut(loop);
    run_until_empty(loop, clock_mono() + FORCED_MS);
}

/* --- a loop's thread --- */

static void open_listener(struct http_loop *loop, enum http_listener l)
{
    struct http_server *s = loop->server;
    struct tls *tls = is_plain(l) ? NULL : s->config.tls;
    enum tls_door door = l == HTTP_EXTENDER && !s->config.extender_anyone ? TLS_EXTENDER
                         : l == HTTP_WEBHOOK && s->config.webhook_asks   ? TLS_WEBHOOK
                                                                         : TLS_ANYONE;
    h2o_accept_ctx_t *accept_ctx = &loop->listeners[l].accept;
    accept_ctx->ctx = &loop->ctx;
    accept_ctx->hosts = s->hosts[l];
    accept_ctx->ssl_ctx = tls != NULL ? tls_context(tls, door) : NULL;
    h2o_socket_t *socket =
        h2o_evloop_socket_create(loop->ctx.loop, loop->fds[l], H2O_SOCKET_FLAG_DONT_READ);
    loop->fds[l] = -1;
    socket->data = &loop->listeners[l];
    loop->listeners[l].socket = socket;
    h2o_socket_read_start(socket, on_accept);
}

/* h2o's timers go by the wall clock, which may step. Out of its loop's list they never come due; what they would
 * bound http_connections.c bounds. */
static void park_timer(struct http_loop *loop, h2o_timeout_t *timer)
{
    h2o_linklist_unlink(&timer->_link);
    h2o_linklist_insert(&loop->parked_timers, &timer->_link);
}

static void open_loop(struct http_loop *loop)
{
    struct http_server *s = loop->server;
    h2o_context_init(&loop->ctx, h2o_evloop_create(), &s->conf);
    h2o_linklist_init_anchor(&loop->parked_timers);
    park_timer(loop, &loop->ctx.handshake_timeout);
    park_timer(loop, &loop->ctx.http1.req_timeout);
    h2o_multithread_register_receiver(loop->ctx.queue, &loop->control, on_control);
    http_connections_init(loop);
    h2o_linklist_init_anchor(&loop->streams);
    loop->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    loop->next_tick = clock_mono() + MS_SECOND;
    if (s->config.scratch.make != NULL)
        loop->scratch = s->config.scratch.make(s->config.scratch.user);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        if (loop->fds[l] >= 0)
            open_listener(loop, (enum http_listener)l);
}

static void close_loop(struct http_loop *loop)
{
    if (loop->server->config.scratch.drop != NULL) /* first: it may have threads that wake the loop */
        loop->server->config.scratch.drop(loop->scratch);
    /* Linked by request_shutdown; h2o_context_dispose asserts that it is not. */
    h2o_timeout_unlink(&loop->ctx.http2._graceful_shutdown_timeout);
    h2o_multithread_unregister_receiver(loop->ctx.queue, &loop->control);
    h2o_loop_t *evloop = loop->ctx.loop;
    h2o_multithread_queue_t *queue = loop->ctx.queue;
    h2o_context_dispose(&loop->ctx);
    free(queue); /* emptied, but not freed, by 2.2.5 */
    h2o_evloop_destroy(evloop);
    if (loop->spare >= 0)
        close(loop->spare);
}

/* All of h2o's objects are made, used and undone here: they take memory from lists that belong to
 * the thread that made them. */
static void *run_loop(void *arg)
{
    struct http_loop *loop = arg;
    pulse_begin(&loop->pulse, loop->thread_name, clock_mono());
    open_loop(loop);
    sem_post(&loop->ready);
    while (loop->deadline == 0)
        run_once(loop, MS_SECOND);
    wind_down(loop);
    close_loop(loop);
    return NULL;
}

/* --- making and undoing --- */

static void configure(struct http_server *s)
{
    /* Where readers ask for it, and sit behind a wire: the quickest grade, since the probes' loop does it. */
    static h2o_compress_args_t compressed = {.gzip = {.quality = 1}, .brotli = {.quality = -1}};
    h2o_globalconf_t *conf = &s->conf;
    h2o_config_init(conf);
    conf->server_name = (h2o_iovec_t){NULL, 0};
    conf->max_request_entity_size = HTTP_BODY_MAX;
    conf->http1.upgrade_to_http2 = 0;
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        const char *name = http_listener_name((enum http_listener)l);
        h2o_hostconf_t *host =
            h2o_config_register_host(conf, h2o_iovec_init(name, strlen(name)), 65535);
        h2o_pathconf_t *path = h2o_config_register_path(host, "/", 0);
        http_exchange_handler(path, (enum http_listener)l);
        if (l == HTTP_METRICS || l == HTTP_PAGE)
            h2o_compress_register(path, &compressed);
        s->hosts[l][0] = host;
    }
}

struct loop_range {
    uint32_t first, end;
};

/* Those that serve a listener. */
static struct loop_range loops_of(const struct http_server *s, enum http_listener l)
{
    uint32_t extender = s->config.loops;
    return l == HTTP_EXTENDER  ? (struct loop_range){0, extender}
           : l == HTTP_WEBHOOK ? (struct loop_range){extender, extender + 1}
                               : (struct loop_range){extender + 1, extender + OTHER_LOOPS};
}

static void name_loop(struct http_loop *loop, uint32_t number)
{
    const struct http_server *s = loop->server;
    if (number == loops_of(s, HTTP_PROBES).first) {
        snprintf(loop->name, sizeof(loop->name), "the loop of metrics, probes and page");
        snprintf(loop->thread_name, sizeof(loop->thread_name), "plain");
    } else if (number == loops_of(s, HTTP_WEBHOOK).first) {
        snprintf(loop->name, sizeof(loop->name), "the loop of the webhook");
        snprintf(loop->thread_name, sizeof(loop->thread_name), "webhook");
    } else {
        snprintf(loop->name, sizeof(loop->name), "loop %u of %u of the extender", number + 1, s->config.loops);
        snprintf(loop->thread_name, sizeof(loop->thread_name), "extender-%u", number + 1);
    }
    loop->pulse.name = loop->name;
}

static struct http_loop *loop_new(struct http_server *s, uint32_t number)
{
    struct http_loop *loop = mem_new(sizeof(*loop));
    loop->server = s;
    loop->body.max = HTTP_REPLY_MAX;
    sem_init(&loop->ready, 0, 0);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        loop->fds[l] = -1;
    name_loop(loop, number);
    pulse_beat(&loop->pulse, clock_mono());
    return loop;
}

static void loop_free(struct http_loop *loop)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        if (loop->fds[l] >= 0)
            close(loop->fds[l]);
    sem_destroy(&loop->ready);
    buf_release(&loop->body);
    free(loop);
}

static bool bind_all(struct http_server *s, struct err *err)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++) {
        if (s->config.listen[l] == NULL || s->config.listen[l][0] == '\0')
            continue;
        struct loop_range at = loops_of(s, (enum http_listener)l);
        for (uint32_t i = at.first; i < at.end; i++)
            if (!http_listen(s->config.listen[l], s->ports[l], at.end - at.first > 1,
                             &s->loops[i]->fds[l], &s->ports[l], err))
                return err_wrap(err, "the %s listener (%s)",
                                http_listener_name((enum http_listener)l),
                                http_listener_flag((enum http_listener)l));
    }
    return true;
}

bool http_server_new(const struct http_server_config *config, struct http_server **out,
                     struct err *err)
{
    struct http_server *s = mem_new(sizeof(*s));
    s->config = *config;
    if (s->config.loops == 0)
        s->config.loops = DEFAULT_LOOPS;
    if (s->config.request == 0)
        s->config.request = DEFAULT_REQUEST_MS;
    if (s->config.idle == 0)
        s->config.idle = DEFAULT_IDLE_MS;
    signal(SIGPIPE, SIG_IGN);
    /* Or h2o moves large bodies into temporary files, and the root file system is read only. */
    h2o_socket_buffer_mmap_settings.threshold = SIZE_MAX;
    configure(s);
    s->loop_count = s->config.loops + OTHER_LOOPS;
    s->loops = mem_array(s->loop_count, sizeof(struct http_loop *));
    for (uint32_t i = 0; i < s->loop_count; i++)
        s->loops[i] = loop_new(s, i);
    if (!bind_all(s, err)) {
        http_server_free(s);
        return false;
    }
    *out = s;
    return true;
}

/* Signals are the main thread's. */
void http_server_start(struct http_server *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < s->loop_count; i++) {
        if (pthread_create(&s->loops[i]->thread, NULL, run_loop, s->loops[i]) != 0)
            abort(); /* no threads: nothing can be served */
        while (sem_wait(&s->loops[i]->ready) != 0)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->started = true;
}

int http_server_port(const struct http_server *s, enum http_listener l)
{
    return s->ports[l];
}

uint32_t http_server_descriptors(const struct http_server *s)
{
    enum { OWN = 8 }; /* of a loop: epoll, the queue's pipe, the spare one, and what h2o opens besides */
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s->loop_count; i++) {
        sum += OWN;
        for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
            if (s->loops[i]->fds[l] >= 0)
                sum += 1 + http_connections_most(s, (enum http_listener)l);
    }
    return sum;
}

uint32_t http_server_connections(const struct http_server *s)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s->loop_count; i++)
        sum += atomic_load(&s->loops[i]->open);
    return sum;
}

const struct pulse *http_server_pulse(const struct http_server *s, uint32_t i)
{
    return i < s->loop_count ? &s->loops[i]->pulse : NULL;
}

void http_server_part(struct http_server *s, enum http_listener l)
{
    atomic_fetch_add(&s->parted[l], 1);
}

void http_server_drain(struct http_server *s)
{
    atomic_store(&s->draining, true);
}

void http_server_stop(struct http_server *s, span_ms patience)
{
    if (!s->started || s->stopped)
        return;
    s->stopped = true;
    http_server_drain(s);
    for (uint32_t i = 0; i < s->loop_count; i++) {
        s->loops[i]->patience = patience;
        h2o_multithread_send_message(&s->loops[i]->control, &s->loops[i]->stop);
    }
    for (uint32_t i = 0; i < s->loop_count; i++)
        pthread_join(s->loops[i]->thread, NULL);
}

void http_server_free(struct http_server *s)
{
    if (s == NULL)
        return;
    http_server_stop(s, 0);
    for (uint32_t i = 0; i < s->loop_count; i++)
        loop_free(s->loops[i]);
    h2o_config_dispose(&s->conf);
    free(s->loops);
    free(s);
}
