/* http_loop: one h2o loop, for the files of the server alone. */
#ifndef SERVER_HTTP_LOOP_H
#define SERVER_HTTP_LOOP_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include <h2o.h>

#include "base/err.h"
#include "server/http_server.h"

enum { HTTP_STREAMS_MAX = 64, HTTP_STREAM_STUCK_MS = 60 * MS_SECOND };

struct http_loop {
    h2o_context_t ctx; /* first: a request's context is its loop */
    struct http_server *server;
    pthread_t thread;
    sem_t ready; /* the thread has made the rest */
    int fds[HTTP_LISTENER_COUNT]; /* listening; -1: not here, or h2o's already */
    struct {
        h2o_accept_ctx_t accept;
        h2o_socket_t *socket; /* NULL: not here */
    } listeners[HTTP_LISTENER_COUNT];
    h2o_multithread_receiver_t control;
    h2o_multithread_message_t stop; /* the only message there is, sent once */
    span_ms patience;               /* of the stop; written before it is sent */
    h2o_timeout_entry_t tick;
    h2o_linklist_t connections, streams;
    uint32_t stream_count[2]; /* by struct stream.document */
    _Atomic(uint32_t) open;
    struct pulse pulse;
    char name[64], thread_name[16]; /* of the pulse */
    int spare; /* a descriptor kept back, to turn callers away when there is no other */
    bool paused;
    mono_ms deadline; /* of stopping; 0: serving */
    void *scratch;
    struct buf body; /* of the reply being made */
};

struct http_server {
    struct http_server_config config;
    h2o_globalconf_t conf;
    h2o_hostconf_t *hosts[HTTP_LISTENER_COUNT][2]; /* NULL-terminated lists of one */
    int ports[HTTP_LISTENER_COUNT];
    struct http_loop **loops; /* the last one is for metrics, probes and the page */
    uint32_t loop_count;
    _Atomic(bool) draining;
    bool started, stopped;
};

/* http_exchange.c */
int http_exchange(h2o_handler_t *self, h2o_req_t *req); /* h2o's on_req */
h2o_handler_t *http_exchange_handler(h2o_pathconf_t *path, enum http_listener l);
void http_streams_feed(struct http_loop *loop, mono_ms now);
/* The next piece of each document whose reader has taken the last; false: none waits for one. */
bool http_documents_feed(struct http_loop *loop);
void http_streams_end(struct http_loop *loop); /* those that can be ended now */

/* http_listen.c */
/* A listening socket; `shared` lets other loops listen on the same port. *port_out is the real one. */
bool http_listen(const char *address, int port, bool shared, int *fd_out, int *port_out,
                 struct err *err);

#endif
