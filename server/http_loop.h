/* http_loop: one h2o loop, for the files of the server alone. */
#ifndef SERVER_HTTP_LOOP_H
#define SERVER_HTTP_LOOP_H

#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include <h2o.h>
#include <h2o/http1.h>

#include "base/err.h"
#include "server/http_server.h"

enum { HTTP_STREAMS_MAX = 64, HTTP_STREAM_STUCK_MS = 60 * MS_SECOND };

enum connection_state { /* in the order in which they go when there are too many */
    CONNECTION_NEW,         /* nothing of it was answered yet */
    CONNECTION_KNOWN,       /* its last request was answered */
    CONNECTION_ANSWERING,   /* a reply is on its way */
    CONNECTION_CUT,         /* and about to be closed */
    CONNECTION_STATE_COUNT,
};

struct connection { /* from accept to close, handshake included */
    h2o_linklist_t link; /* of its loop and listener, by its state */
    struct http_loop *loop;
    h2o_socket_t *socket;
    enum http_listener listener;
    enum connection_state state;
    mono_ms asking;    /* since when a part of a request has been there; 0: none is, or not seen by a tick */
    mono_ms answering; /* since when, in that state */
    mono_ms idle;      /* since when no reply is on its way: accept, or the end of the last one */
    bool established;  /* the handshake is done, or there is none */
    bool late;         /* cut, since it took too long */
    struct in6_addr peer; /* IPv4 mapped; zero: unknown */
    uint16_t peer_port;
    bool streams;      /* the reply is one that takes care of its own time */
};

struct http_loop {
    h2o_context_t ctx; /* first: a request's context is its loop */
    struct http_server *server;
    pthread_t thread;
    sem_t ready; /* the thread has made the rest */
    int fds[HTTP_LISTENER_COUNT]; /* listening; -1: not here, or h2o's already */
    struct listener {
        h2o_accept_ctx_t accept;
        h2o_socket_t *socket; /* NULL: not here */
        h2o_linklist_t connections[CONNECTION_STATE_COUNT]; /* who has been in it longest first */
        uint32_t open;                                      /* but for those cut */
    } listeners[HTTP_LISTENER_COUNT];
    h2o_multithread_receiver_t control;
    h2o_multithread_message_t stop; /* the only message there is, sent once */
    span_ms patience;               /* of the stop; written before it is sent */
    mono_ms next_tick;
    h2o_linklist_t parked_timers; /* h2o's, which never come due */
    uint32_t parted[HTTP_LISTENER_COUNT]; /* of the server's, seen by the last tick */
    h2o_linklist_t streams;
    _Atomic(bool) woken; /* streams are to be fed before the next tick */
    uint32_t stream_count[2]; /* by struct stream.document */
    _Atomic(uint32_t) open; /* connections, those cut included */
    struct pulse pulse;
    char name[64], thread_name[20]; /* of the pulse; no more than 15 letters are used, since there are at most 64 loops */
    int spare; /* a descriptor kept back, to turn callers away when there is no other */
    mono_ms deadline; /* of stopping; 0: serving */
    void *scratch;
    struct buf body; /* of the reply being made */
};

struct http_server {
    struct http_server_config config;
    h2o_globalconf_t conf;
    h2o_hostconf_t *hosts[HTTP_LISTENER_COUNT][2]; /* NULL-terminated lists of one */
    int ports[HTTP_LISTENER_COUNT];
    struct http_loop **loops; /* those of the extender, that of the webhook, that of metrics, probes and the page */
    uint32_t loop_count;
    _Atomic(bool) draining;
    _Atomic(uint32_t) parted[HTTP_LISTENER_COUNT]; /* how often all connections were to end */
    bool started, stopped;
};

/* http_exchange.c */
int http_exchange(h2o_handler_t *self, h2o_req_t *req); /* h2o's on_req */
h2o_handler_t *http_exchange_handler(h2o_pathconf_t *path, enum http_listener l);
void http_streams_feed(struct http_loop *loop, mono_ms now);
void http_loop_wake(void *loop); /* struct http_waker */
/* The next piece of each document whose reader has taken the last; false: none waits for one. */
bool http_documents_feed(struct http_loop *loop);
void http_streams_end(struct http_loop *loop); /* those that can be ended now */

/* http_connections.c */
void http_connections_init(struct http_loop *loop);
/* How many of a listener there are at once on one loop at most, those included that were cut and are not closed yet. */
uint32_t http_connections_most(const struct http_server *s, enum http_listener l);
/* Takes the socket; somebody else goes when there are too many. */
void http_connection_new(struct http_loop *loop, enum http_listener l, h2o_socket_t *socket);
/* A reply to the request is begun; the end of it is noticed. */
struct connection *http_connection_answers(h2o_req_t *req);
/* Whether its address has room for another reply of many pieces. */
bool http_connection_may_stream(const struct connection *c);
void http_connections_weigh(struct http_loop *loop);             /* once a round */
void http_connections_tick(struct http_loop *loop, mono_ms now); /* once a second */
void http_connections_cut(struct http_loop *loop);               /* all of them */

/* http_listen.c */
/* A listening socket; `shared` lets other loops listen on the same port. *port_out is the real one. */
bool http_listen(const char *address, int port, bool shared, int *fd_out, int *port_out,
                 struct err *err);

#endif
