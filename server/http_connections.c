/* Who is connected, what they hold of our memory and for how long: bounded for each listener of each loop, so that
 * who floods one takes nothing from the others. Nobody waits for a place: past the bound the one goes who has done
 * nothing for longest, first of those of whom no request was ever answered, so that a probe that comes while
 * thousands idle is served, and those who ask keep their connections. h2o 2.2.5 reads a whole body before it
 * tells of a request; what its buffers hold is looked at after each round, and the largest is cut while
 * there is too much. A round adds no more than what the kernel holds for each (http_listen.c).
 *
 * In all a loop of the extender, and that of the webhook, holds 32 MiB of what comes in, that of the others 12 MiB, and
 * what one round adds. */
#include <sys/socket.h>

#include "base/arena.h"
#include "server/clock.h"
#include "server/http_loop.h"

enum { MIB = 1024 * 1024 };

static const struct {
    uint32_t connections; /* of one loop */
    size_t incoming;      /* bytes that the buffers of what was not answered yet may hold */
} limits[HTTP_LISTENER_COUNT] = {
    /* A few API servers and one scheduler, with a connection for each call under way; the room of two of the
     * largest bodies, since a buffer doubles. */
    [HTTP_WEBHOOK] = {128, 4 * (size_t)HTTP_BODY_MAX},
    [HTTP_EXTENDER] = {128, 4 * (size_t)HTTP_BODY_MAX},
    /* Heads alone. A probe has a connection of its own and must find one. */
    [HTTP_METRICS] = {128, 4 * (size_t)MIB},
    [HTTP_PROBES] = {256, 4 * (size_t)MIB},
    [HTTP_PAGE] = {2 * HTTP_STREAMS_MAX, 4 * (size_t)MIB},
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

static void make_room(struct http_loop *loop, enum http_listener l)
{
    struct listener *at = &loop->listeners[l];
    uint32_t most = loop->server->config.connections;
    if (at->open < (most != 0 ? most : limits[l].connections))
        return;
    for (int s = 0; s < CONNECTION_CUT; s++)
        if (!h2o_linklist_is_empty(&at->connections[s])) {
            cut(connection_at(at->connections[s].next));
            return;
        }
}

void http_connection_new(struct http_loop *loop, enum http_listener l, h2o_socket_t *socket)
{
    make_room(loop, l);
    struct connection *c = mem_new(sizeof(*c));
    c->loop = loop;
    c->listener = l;
    c->socket = socket;
    c->idle = clock_mono();
    enter(c, CONNECTION_NEW);
    loop->listeners[l].open++;
    atomic_fetch_add(&loop->open, 1);
    socket->on_close.cb = on_connection_closed;
    socket->on_close.data = c;
    h2o_accept(&loop->listeners[l].accept, socket);
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
    if (c->state != CONNECTION_CUT)
        enter(c, CONNECTION_ANSWERING);
    return c;
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

/* A handshake or a request that takes too long to come, a reply that nobody takes, a connection that nobody uses. */
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

/* h2o knows of a request, if only of an empty one, once the handshake is done. */
static int note_established(h2o_req_t *req, void *data)
{
    (void)data;
    struct connection *c = req->conn->callbacks->get_socket(req->conn)->on_close.data;
    c->established = true;
    return 0;
}

void http_connections_tick(struct http_loop *loop, mono_ms now)
{
    loop->server->conf.http1.callbacks.foreach_request(&loop->ctx, note_established, NULL);
    for (int l = 0; l < HTTP_LISTENER_COUNT; l++)
        for (int s = 0; s < CONNECTION_CUT; s++) {
            h2o_linklist_t *list = &loop->listeners[l].connections[s];
            for (h2o_linklist_t *i = list->next, *next; i != list; i = next) {
                next = i->next;
                if (is_late(connection_at(i), now))
                    cut(connection_at(i));
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
