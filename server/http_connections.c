/* Who is connected, what they hold of our memory and for how long: bounded for each listener of each loop, so that
 * who floods one takes nothing from the others. Nobody waits for a place: past the bound the one goes who has done
 * nothing for longest, first of those of whom no request was ever answered, so that a probe that comes while
 * thousands idle is served, and those who ask keep their connections. h2o 2.2.5 reads a whole body before it
 * tells of a request; what its buffers hold is looked at after each round, and the largest is cut while
 * there is too much. A round adds no more than what the kernel holds for each (http_listen.c).
 *
 * In all a loop of the extender, and that of the webhook, holds 32 MiB of what comes in, that of the others 12 MiB, and
 * what one round adds. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "server/clock.h"
#include "server/http_loop.h"

enum {
    MIB = 1024 * 1024,
    CUT_MOST = 64, /* of a listener: cut in one round, as many as were accepted in it (ACCEPT_BATCH), and closed in the next;
                      four times that, for those that come in between */
};

static const struct {
    uint32_t connections; /* of one loop */
    size_t incoming;      /* bytes that the buffers of what was not answered yet may hold */
    uint32_t of_address;  /* connections of one address; 0: as many as there are */
    uint32_t documents_of_address; /* replies of many pieces under way; 0: as many as there are */
} limits[HTTP_LISTENER_COUNT] = {
    /* A few API servers and one scheduler, with a connection for each call under way; the room of two of the
     * largest bodies, since a buffer doubles. */
    [HTTP_WEBHOOK] = {.connections = 128, .incoming = 4 * (size_t)HTTP_BODY_MAX},
    [HTTP_EXTENDER] = {.connections = 128, .incoming = 4 * (size_t)HTTP_BODY_MAX},
    /* Heads alone. Any pod may reach it, and a scrape is the only work here that takes long: one neighbour must not take
     * the places of Prometheus. That keeps one connection and reads one document at a time; two Prometheus replicas
     * and a person behind one address still have room. 16 addresses can take all connections, 8 all documents
     * (HTTP_DOCUMENTS_MAX). */
    [HTTP_METRICS] = {.connections = 128, .incoming = 4 * (size_t)MIB, .of_address = 8, .documents_of_address = 2},
    /* A probe has a connection of its own and must find one. */
    [HTTP_PROBES] = {.connections = 256, .incoming = 4 * (size_t)MIB},
    [HTTP_PAGE] = {.connections = 2 * HTTP_STREAMS_MAX, .incoming = 4 * (size_t)MIB},
};

static void enter(struct connection *c, enum connection_state state)
{
    if (h2o_linklist_is_linked(&c->link))
        h2o_linklist_unlink(&c->link);
    h2o_linklist_insert(&c->loop->listeners[c->listener].connections[state], &c->link);
    c->state = state;
}

static struct connection *connection_at(h2o_linklist_t *link)
{
    return H2O_STRUCT_FROM_MEMBER(struct connection, link, link);
}

/* It is closed when h2o notices, in the next round. */
static void cut(struct connection *c)
{
    if (c->state == CONNECTION_CUT)
        return;
    shutdown(h2o_socket_get_fd(c->socket), SHUT_RDWR);
    c->loop->listeners[c->listener].open--;
    enter(c, CONNECTION_CUT);
}

void http_connections_init(struct http_loop *loop)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        for (int s = 0; s < CONNECTION_STATE_COUNT; s++)
            h2o_linklist_init_anchor(&loop->listeners[l].connections[s]);
}

/* --- handshakes --- */

static void set_peer(struct connection *c)
{
    struct sockaddr_storage a = {0};
    socklen_t len = sizeof(a);
    if (getpeername(h2o_socket_get_fd(c->socket), (struct sockaddr *)&a, &len) != 0)
        return;
    if (a.ss_family == AF_INET6) {
        c->peer = ((struct sockaddr_in6 *)&a)->sin6_addr;
        c->peer_port = ntohs(((struct sockaddr_in6 *)&a)->sin6_port);
    } else {
        c->peer.s6_addr[10] = c->peer.s6_addr[11] = 0xff;
        memcpy(&c->peer.s6_addr[12], &((struct sockaddr_in *)&a)->sin_addr, 4);
        c->peer_port = ntohs(((struct sockaddr_in *)&a)->sin_port);
    }
}

static void write_peer(const struct connection *c, char *out, size_t size)
{
    bool is_4 = IN6_IS_ADDR_V4MAPPED(&c->peer);
    char text[INET6_ADDRSTRLEN];
    if (IN6_IS_ADDR_UNSPECIFIED(&c->peer) ||
        inet_ntop(is_4 ? AF_INET : AF_INET6, is_4 ? &c->peer.s6_addr[12] : c->peer.s6_addr, text, sizeof(text)) == NULL)
        *out = '\0';
    else
        snprintf(out, size, is_4 ? "%s:%u" : "[%s]:%u", text, c->peer_port);
}

/* `err` is h2o's text. It says only that the handshake failed, so OpenSSL's error queue gives the reason. */
static enum tls_failure failure_of(const struct connection *c, const char *err, struct buf *detail)
{
    if (c->state == CONNECTION_CUT)
        return c->late ? TLS_TIMED_OUT : TLS_CROWDED_OUT;
    if (err == h2o_socket_error_closed || err == h2o_socket_error_io)
        return TLS_CLOSED;
    return tls_take_failure(detail);
}

static void on_handshake(h2o_socket_t *socket, const char *err)
{
    struct connection *c = socket->on_close.data;
    struct http_loop *loop = c->loop;
    const struct http_observer *observer = &loop->server->config.observer;
    if (err == NULL) {
        c->established = true;
        h2o_http1_accept(&loop->listeners[c->listener].accept, socket, *h2o_get_timestamp(&loop->ctx, NULL, NULL));
        return;
    }
    struct buf detail = {.max = 512};
    enum tls_failure why = failure_of(c, err, &detail);
    char peer[INET6_ADDRSTRLEN + 8];
    write_peer(c, peer, sizeof(peer));
    if (observer->handshake_failed != NULL && loop->deadline == 0) /* what we end on the way down has not failed */
        observer->handshake_failed(observer->user, c->listener, why, peer, buf_span(&detail));
    buf_release(&detail);
    h2o_socket_close(socket);
}

/* --- coming and going --- */

static void on_connection_closed(void *data)
{
    struct connection *c = data;
    struct http_loop *loop = c->loop;
    h2o_linklist_unlink(&c->link);
    if (c->state != CONNECTION_CUT)
        loop->listeners[c->listener].open--;
    free(c);
    atomic_fetch_sub(&loop->open, 1);
}

static uint32_t most_open(const struct http_server *s, enum http_listener l)
{
    return s->config.connections != 0 ? s->config.connections : limits[l].connections;
}

uint32_t http_connections_most(const struct http_server *s, enum http_listener l)
{
    return most_open(s, l) + CUT_MOST;
}

static bool is_of(const struct connection *c, const struct in6_addr *peer)
{
    return peer == NULL || IN6_ARE_ADDR_EQUAL(&c->peer, peer);
}

/* How many are not cut, of one address or, without one, of all; *first_out: the first that goes, or NULL. */
static uint32_t count_open(struct listener *at, const struct in6_addr *peer, struct connection **first_out)
{
    uint32_t count = 0;
    *first_out = NULL;
    for (int s = 0; s < CONNECTION_CUT; s++)
        for (h2o_linklist_t *i = at->connections[s].next; i != &at->connections[s]; i = i->next) {
            if (!is_of(connection_at(i), peer))
                continue;
            if (count++ == 0)
                *first_out = connection_at(i);
        }
    return count;
}

/* Makes room for one more connection: an address that has its full share loses one of its own, not one of another. */
static void make_room(struct http_loop *loop, enum http_listener l, const struct in6_addr *peer)
{
    struct listener *at = &loop->listeners[l];
    struct connection *first;
    uint32_t share = limits[l].of_address;
    if (share != 0 && count_open(at, peer, &first) >= share)
        cut(first);
    if (at->open >= most_open(loop->server, l) && count_open(at, NULL, &first) != 0)
        cut(first);
}

void http_connection_new(struct http_loop *loop, enum http_listener l, h2o_socket_t *socket)
{
    struct connection *c = mem_new(sizeof(*c));
    c->loop = loop;
    c->listener = l;
    c->socket = socket;
    c->idle = clock_mono();
    set_peer(c);
    make_room(loop, l, &c->peer);
    enter(c, CONNECTION_NEW);
    loop->listeners[l].open++;
    atomic_fetch_add(&loop->open, 1);
    socket->on_close.cb = on_connection_closed;
    socket->on_close.data = c;
    h2o_accept_ctx_t *accept = &loop->listeners[l].accept;
    c->established = accept->ssl_ctx == NULL;
    if (c->established)
        h2o_accept(accept, socket);
    else /* as h2o_accept does it, but that we learn how it ends */
        h2o_socket_ssl_handshake(socket, accept->ssl_ctx, NULL, on_handshake);
}

/* --- answering --- */

struct answer { /* in the request's pool: goes when the reply has gone */
    struct connection *connection;
};

static void on_answer_gone(void *object)
{
    struct connection *c = ((struct answer *)object)->connection;
    c->asking = 0;
    c->idle = clock_mono();
    if (c->state != CONNECTION_CUT)
        enter(c, CONNECTION_KNOWN);
}

struct connection *http_connection_answers(h2o_req_t *req)
{
    struct connection *c = req->conn->callbacks->get_socket(req->conn)->on_close.data;
    struct answer *a = h2o_mem_alloc_shared(&req->pool, sizeof(*a), on_answer_gone);
    a->connection = c;
    c->answering = clock_mono();
    c->streams = false;
    if (c->state != CONNECTION_CUT)
        enter(c, CONNECTION_ANSWERING);
    return c;
}

bool http_connection_may_stream(const struct connection *c)
{
    uint32_t share = limits[c->listener].documents_of_address, count = 0;
    const h2o_linklist_t *list = &c->loop->listeners[c->listener].connections[CONNECTION_ANSWERING];
    for (h2o_linklist_t *i = list->next; i != list; i = i->next)
        count += connection_at(i)->streams && is_of(connection_at(i), &c->peer);
    return share == 0 || count < share;
}

/* --- the bounds --- */

static size_t holds(const struct connection *c)
{
    const h2o_buffer_t *in = c->socket->input;
    return in->bytes != NULL ? in->capacity : 0; /* else it is the prototype */
}

/* The sum over all that are not cut; *largest_out is NULL when it is 0. */
static size_t weigh(struct listener *at, struct connection **largest_out)
{
    size_t sum = 0, most = 0;
    *largest_out = NULL;
    for (int s = 0; s < CONNECTION_CUT; s++)
        for (h2o_linklist_t *i = at->connections[s].next; i != &at->connections[s]; i = i->next) {
            struct connection *c = connection_at(i);
            size_t held = holds(c);
            sum += held;
            if (held > most) {
                most = held;
                *largest_out = c;
            }
        }
    return sum;
}

void http_connections_weigh(struct http_loop *loop)
{
    struct connection *largest;
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        while (weigh(&loop->listeners[l], &largest) > limits[l].incoming)
            cut(largest);
}

/* Whether a handshake or request takes too long to arrive, a reply is not read, or the connection is idle too long. */
static bool is_late(struct connection *c, mono_ms now)
{
    const struct http_server_config *config = &c->loop->server->config;
    if (c->state == CONNECTION_ANSWERING)
        return now - c->answering > HTTP_STREAM_STUCK_MS && !c->streams;
    if (c->socket->input->size == 0) /* room alone is none: TLS keeps some for a record that has begun */
        c->asking = 0;
    else if (c->asking == 0)
        c->asking = now;
    return (c->asking != 0 && now - c->asking > config->request) ||
           now - c->idle > (c->established ? config->idle : config->request);
}

void http_connections_tick(struct http_loop *loop, mono_ms now)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        for (int s = 0; s < CONNECTION_CUT; s++) {
            h2o_linklist_t *list = &loop->listeners[l].connections[s];
            for (h2o_linklist_t *i = list->next, *next; i != list; i = next) {
                next = i->next;
                if (is_late(connection_at(i), now)) {
                    connection_at(i)->late = true;
                    cut(connection_at(i));
                }
            }
        }
}

void http_connections_cut(struct http_loop *loop)
{
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        for (int s = 0; s < CONNECTION_CUT; s++) {
            h2o_linklist_t *list = &loop->listeners[l].connections[s];
            while (!h2o_linklist_is_empty(list))
                cut(connection_at(list->next));
        }
}
