/* One request and its reply between h2o's shapes and ours. Everything of a reply lives in the
 * request's pool, since h2o may write it after the handler has long returned. */
#include <sys/socket.h>

#include "server/clock.h"
#include "server/http_loop.h"

struct listener_handler {
    h2o_handler_t super;
    enum http_listener listener;
};

struct stream {
    h2o_generator_t super;
    h2o_req_t *req;
    struct http_loop *loop;
    h2o_linklist_t link;
    const struct http_route *route;
    struct http_stream state;
    struct buf out;
    bool document; /* ends by itself, and is written without a pause */
    bool writing;
    bool missed; /* was to be fed while it was writing */
    mono_ms since; /* of this write; of a document: of the first */
};

h2o_handler_t *http_exchange_handler(h2o_pathconf_t *path, enum http_listener l)
{
    struct listener_handler *h = (void *)h2o_create_handler(path, sizeof(*h));
    h->super.on_req = http_exchange;
    h->listener = l;
    return &h->super;
}

static struct span span_of_vec(h2o_iovec_t v)
{
    return (struct span){v.base, v.len};
}

static struct span header(h2o_req_t *req, const h2o_token_t *token)
{
    ssize_t at = h2o_find_header(&req->headers, token, -1);
    return at < 0 ? (struct span){NULL, 0}
                  : span_of_vec(req->headers.entries[at].value);
}

/* Of a header that h2o has no token for; `name` in lower case. */
static struct span named_header(h2o_req_t *req, const char *name)
{
    ssize_t at = h2o_find_header_by_str(&req->headers, name, strlen(name), -1);
    return at < 0 ? (struct span){NULL, 0} : span_of_vec(req->headers.entries[at].value);
}

static struct http_request request_of(h2o_req_t *req, enum http_listener l)
{
    struct http_request q = {
        .listener = l,
        .method = span_of_vec(req->method),
        .path = span_of_vec(req->path_normalized),
        .content_type = header(req, H2O_TOKEN_CONTENT_TYPE),
        .host = span_of_vec(req->authority),
        .authorization = header(req, H2O_TOKEN_AUTHORIZATION),
        .fetch_site = named_header(req, "sec-fetch-site"),
        .body = span_of_vec(req->entity),
    };
    if (req->query_at != SIZE_MAX)
        q.query = (struct span){req->path.base + req->query_at + 1,
                                req->path.len - req->query_at - 1};
    return q;
}

static void add_header(h2o_req_t *req, const char *name, const char *value)
{
    h2o_add_header_by_str(&req->pool, &req->res.headers, name, strlen(name), 0, NULL, value,
                          strlen(value));
}

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } known[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {415, "Unsupported Media Type"},
                 {421, "Misdirected Request"},
                 {500, "Internal Server Error"},
                 {503, "Service Unavailable"}};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i].status == status)
            return known[i].reason;
    return "Status";
}

static void put_head(h2o_req_t *req, enum http_listener l, int status, const char *content_type)
{
    req->res.status = status;
    req->res.reason = reason_of(status);
    add_header(req, "content-type", content_type);
    if (l != HTTP_PAGE)
        return;
    add_header(req, "cache-control", "no-store");
    add_header(req, "x-content-type-options", "nosniff");
    add_header(req, "cross-origin-resource-policy", "same-origin");
    add_header(req, "content-security-policy",
               "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

static void send_reply(h2o_req_t *req, const struct http_request *q, const struct http_reply *r)
{
    static h2o_generator_t none = {NULL, NULL};
    put_head(req, q->listener, r->status, r->content_type);
    if (r->allow != NULL)
        add_header(req, "allow", r->allow);
    if (r->authenticate != NULL)
        add_header(req, "www-authenticate", r->authenticate);
    if (r->last)
        req->http1_is_persistent = 0;
    req->res.content_length = r->body.len;
    /* Text, all of it, where http_server.c has gzip; what is small is in one packet without it. */
    req->compress_hint = r->body.len > 1024 ? H2O_COMPRESS_HINT_ENABLE : H2O_COMPRESS_HINT_DISABLE;
    h2o_iovec_t body = {h2o_mem_alloc_pool(&req->pool, r->body.len + 1), r->body.len};
    if (body.len != 0)
        memcpy(body.base, r->body.ptr, body.len);
    bool head = span_eq(q->method, SPAN("HEAD"));
    h2o_start_response(req, &none);
    h2o_send(req, &body, head || body.len == 0 ? 0 : 1, H2O_SEND_STATE_FINAL);
}

/* --- streams --- */

static void stream_unlink(struct stream *s)
{
    if (!h2o_linklist_is_linked(&s->link))
        return;
    h2o_linklist_unlink(&s->link);
    s->loop->stream_count[s->document]--;
}

static void stream_drop(struct stream *s)
{
    if (s->state.work != NULL)
        s->state.drop(s->state.work);
    s->state.work = NULL;
}

static void stream_gone(void *object)
{
    struct stream *s = object;
    stream_unlink(s);
    stream_drop(s);
    buf_release(&s->out);
}

static void on_stream_stop(h2o_generator_t *self, h2o_req_t *req)
{
    (void)req;
    struct stream *s = (struct stream *)self;
    stream_unlink(s);
    stream_drop(s);
}

static void stream_feed(struct stream *s, mono_ms now)
{
    buf_clear(&s->out);
    pulse_step(clock_mono());
    s->route->feed(s->route->user, s->loop->scratch, &s->state, now, &s->out);
    if (!s->state.begun || !s->document)
        s->since = now;
    s->state.begun = true;
    if (s->out.len == 0 && !s->state.ended)
        return;
    s->writing = true;
    h2o_iovec_t bytes = {s->out.ptr, s->out.len};
    if (s->state.ended) /* and is under way until stream_gone: who does not take the last piece is cut, too */
        stream_drop(s);
    h2o_send(s->req, &bytes, s->out.len != 0,
             s->state.ended ? H2O_SEND_STATE_FINAL : H2O_SEND_STATE_IN_PROGRESS);
}

static void on_stream_written(h2o_generator_t *self, h2o_req_t *req)
{
    (void)req;
    struct stream *s = (struct stream *)self;
    s->writing = false; /* more comes from http_streams_feed, http_documents_feed */
    if (s->missed)
        atomic_store(&s->loop->woken, true);
    s->missed = false;
    if (s->out.capacity / 2 > HTTP_PIECE) /* an open page is told megabytes once, and then little */
        buf_release(&s->out);
}

static void start_stream(h2o_req_t *req, const struct http_request *q,
                         const struct http_route *route)
{
    struct http_loop *loop = (struct http_loop *)req->conn->ctx;
    struct stream *s = h2o_mem_alloc_shared(&req->pool, sizeof(*s), stream_gone);
    *s = (struct stream){.super = {on_stream_written, on_stream_stop},
                         .req = req,
                         .loop = loop,
                         .route = route,
                         .document = route->document != NULL,
                         .state = {.waker = {http_loop_wake, loop}}};
    h2o_linklist_insert(&loop->streams, &s->link);
    loop->stream_count[s->document]++;
    put_head(req, q->listener, 200, s->document ? route->document : "text/event-stream");
    /* An event is to be seen at once, not when enough have come to be worth a block. */
    req->compress_hint = s->document ? H2O_COMPRESS_HINT_ENABLE : H2O_COMPRESS_HINT_DISABLE;
    if (!s->document || req->version < 0x101) /* chunks, by which a reader knows the end, came with HTTP/1.1 */
        req->http1_is_persistent = 0;
    h2o_start_response(req, &s->super);
    if (span_eq(q->method, SPAN("HEAD"))) {
        stream_unlink(s);
        h2o_send(req, NULL, 0, H2O_SEND_STATE_FINAL);
        return;
    }
    stream_feed(s, clock_mono());
}

/* A reader that does not read keeps its connection from ever ending: it is cut. */
static void cut_stuck(struct stream *s, mono_ms now)
{
    if (now - s->since > HTTP_STREAM_STUCK_MS)
        shutdown(h2o_socket_get_fd(s->req->conn->callbacks->get_socket(s->req->conn)), SHUT_RDWR);
}

void http_streams_feed(struct http_loop *loop, mono_ms now)
{
    for (h2o_linklist_t *at = loop->streams.next, *next; at != &loop->streams; at = next) {
        next = at->next;
        struct stream *s = H2O_STRUCT_FROM_MEMBER(struct stream, link, at);
        if (s->writing || s->document) {
            cut_stuck(s, now);
            s->missed = !s->document;
        } else
            stream_feed(s, now);
    }
}

/* A piece each, and never from on_stream_written: what is written at once h2o reports before it looks
 * at anybody else, so that a quick reader would have the loop to itself. */
bool http_documents_feed(struct http_loop *loop)
{
    bool any = false;
    mono_ms now = loop->stream_count[true] != 0 ? clock_mono() : 0;
    for (h2o_linklist_t *at = loop->streams.next, *next; at != &loop->streams; at = next) {
        next = at->next;
        struct stream *s = H2O_STRUCT_FROM_MEMBER(struct stream, link, at);
        if (!s->document || s->writing)
            continue;
        stream_feed(s, now);
        any = true;
    }
    return any;
}

void http_streams_end(struct http_loop *loop)
{
    for (h2o_linklist_t *at = loop->streams.next, *next; at != &loop->streams; at = next) {
        next = at->next;
        struct stream *s = H2O_STRUCT_FROM_MEMBER(struct stream, link, at);
        if (s->writing || s->document)
            continue;
        stream_unlink(s);
        h2o_send(s->req, NULL, 0, H2O_SEND_STATE_FINAL);
    }
}

/* --- one request --- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Begins the stream and is true, or writes into *r why not. */
static bool try_stream(h2o_req_t *req, const struct connection *c, const struct http_request *q, const struct http_route *route,
                       struct http_reply *r)
{
    struct http_loop *loop = (struct http_loop *)req->conn->ctx;
    bool document = route->document != NULL;
    uint32_t most = document ? HTTP_DOCUMENTS_MAX : HTTP_STREAMS_MAX;
    if (loop->stream_count[document] >= most || loop->deadline != 0) {
        http_reply_text(r, 503, "no more than %u %s at once", most,
                        document ? "of these can be under way" : "pages can be open");
        return false;
    }
    if (document && !http_connection_may_stream(c)) {
        http_reply_text(r, 503, "your address has as many of these under way as one may have");
        return false;
    }
    start_stream(req, q, route);
    return true;
}

int http_exchange(h2o_handler_t *self, h2o_req_t *req)
{
    struct http_loop *loop = (struct http_loop *)req->conn->ctx;
    struct http_server *server = loop->server;
    struct http_request q = request_of(req, ((struct listener_handler *)self)->listener);
    struct http_reply r = {.status = 200, .content_type = "application/json", .body = loop->body};
    buf_clear(&r.body);
    pulse_step(clock_mono());
    double begun = seconds_now();
    struct connection *connection = http_connection_answers(req);
    if (atomic_load_explicit(&server->draining, memory_order_relaxed))
        req->http1_is_persistent = 0;
    /* h2o keeps only one Host and one length to itself; the head is where it read it until the reply has gone. */
    const h2o_buffer_t *input = connection->socket->input;
    bool sound = http_head_is_sound((struct span){input->bytes, input->size}, &r);
    const struct http_route *route = sound ? http_find(server->config.table, &q, &r) : NULL;
    bool streams = false;
    if (route != NULL && route->feed != NULL)
        streams = try_stream(req, connection, &q, route, &r);
    else if (route != NULL)
        http_run(route, loop->scratch, &q, &r);
    loop->body = r.body;
    connection->streams = streams;
    if (!streams)
        send_reply(req, &q, &r);
    if (server->config.observer.answered != NULL)
        server->config.observer.answered(server->config.observer.user, &q, route, r.status,
                                         seconds_now() - begun);
    return 0;
}
