/* http_server: h2o loops, listeners and the way down.
 *
 * `loops` threads serve the extender, each with a listening socket of its own on the same port (SO_REUSEPORT). One
 * more serves the webhook: any pod in the cluster may send it reviews, which are rare otherwise and may take long, and
 * neither may delay the scheduler. One more serves metrics, probes and the page, so that a busy scheduler
 * cannot starve a probe. HTTP/1.1 only, bodies up to HTTP_BODY_MAX, idle connections kept for two
 * minutes: longer than a Go client keeps them, so that the server never closes under a request. All times go by the
 * monotonic clock: a step of the wall clock neither ends a connection nor prolongs it. Metrics and page are
 * gzipped for who asks for it, streams of events are not. How many
 * connections there are, what their requests hold and how long one takes to come is bounded for each listener. */
#ifndef SERVER_HTTP_SERVER_H
#define SERVER_HTTP_SERVER_H

#include "server/http.h"
#include "server/pulse.h"
#include "server/tls.h"
#include "server/tls_failure.h"

struct http_observer { /* called on the loops; each may be NULL */
    void *user;
    void (*answered)(void *user, const struct http_request *q, const struct http_route *route,
                     int status, double seconds);
    /* A handshake failed: of "10.1.2.3:4567" ("" when that is unknown). */
    void (*handshake_failed)(void *user, enum http_listener l, enum tls_failure why, const char *peer, struct span detail);
};

struct http_scratch { /* working memory of one loop's handlers */
    void *user;
    void *(*make)(void *user);
    void (*tick)(void *scratch); /* once a second on the loop: give back old snapshots, and what was large; may be NULL */
    void (*drop)(void *scratch);
};

struct http_server_config { /* zero: the default in brackets */
    const struct http_table *table;  /* unchanged while the server lives */
    const char *listen[HTTP_LISTENER_COUNT]; /* "host:port", ":port" (every address); NULL or "": not at all. Port 0: any */
    struct tls *tls;                 /* of webhook and extender; NULL: both plain (tests) */
    bool webhook_asks;               /* --webhook-client-ca: a client certificate of the API server */
    bool extender_anyone;            /* --extender-insecure: no client certificate asked */
    uint32_t loops;                  /* of the extender [2] */
    uint32_t connections;            /* at once, of each listener on one loop [http_connections.c] */
    span_ms idle;                    /* [120 s] */
    span_ms request;                 /* that one may take to come, and a handshake [10 s]: whoever asks us waits
                                        for a second at most */
    struct http_scratch scratch;
    struct http_observer observer;
};

struct http_server;

/* Binds every listener; false names the one that could not be bound. */
bool http_server_new(const struct http_server_config *config, struct http_server **out,
                     struct err *err);
void http_server_start(struct http_server *s); /* the threads run */
int http_server_port(const struct http_server *s, enum http_listener l); /* 0: not listening */
/* Returns the most file descriptors that the server can have open at once. Call it before the start. */
uint32_t http_server_descriptors(const struct http_server *s);
uint32_t http_server_connections(const struct http_server *s);
/* Of loop number i, which beats once a second at least; NULL: there is none. Any thread. */
const struct pulse *http_server_pulse(const struct http_server *s, uint32_t i);

/* From now on every reply says Connection: close; everything is served as before. Any thread. */
void http_server_drain(struct http_server *s);
/* The idle connections that a listener has now end within a second: who asks next is to look anew where
 * to. One whose request has begun is let alone. Any thread. */
void http_server_part(struct http_server *s, enum http_listener l);
/* Stops listening, lets what is under way end for at most `patience`, ends the threads. */
void http_server_stop(struct http_server *s, span_ms patience);
void http_server_free(struct http_server *s); /* stops first when need be */

#endif
