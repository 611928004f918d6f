/* http: routes, and what a handler sees of a request; no socket here (server/http_server.h).
 *
 * A handler is a small function on a loop's thread: it may not wait, and answers within 5 ms. It
 * finds its per-thread working memory in `scratch`, made once for each loop. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "base/buf.h"
#include "base/units.h"

enum http_listener {
    HTTP_WEBHOOK,
    HTTP_EXTENDER,
    HTTP_METRICS,
    HTTP_PROBES,
    HTTP_PAGE,
    HTTP_LISTENER_COUNT,
};
const char *http_listener_name(enum http_listener l); /* "webhook"… */
const char *http_listener_flag(enum http_listener l); /* that says where it listens: "--webhook-listen" */

/* What a loop keeps of its buffers from one second to the next: as much as the calls of a cluster of some thousand
 * nodes take. What a larger call took is given back. */
enum { HTTP_KEEP_BYTES = 8 * 1024 * 1024 };
enum { HTTP_BODY_MAX = 8 * 1024 * 1024, HTTP_REPLY_MAX = 64 * 1024 * 1024, HTTP_ROUTES_MAX = 64 };

struct http_request { /* lives during the call */
    enum http_listener listener;
    struct span method, path; /* path normalised, without the query */
    struct span query;        /* after "?", or absent */
    struct span content_type, host, authorization, fetch_site; /* headers, or absent */
    struct span body;
};

struct http_reply {
    int status;               /* 200 */
    const char *content_type; /* "application/json"; static storage */
    const char *allow;        /* of a 405 */
    const char *authenticate; /* of a 401 */
    bool last;                /* the connection ends with it: whoever asks next may mean another */
    struct buf body;          /* the loop's, empty; Content-Length comes from it */
};

typedef void http_handler(void *user, void *scratch, const struct http_request *q,
                          struct http_reply *r);

/* A reply that a feed makes. One that goes on (server-sent events) is asked when it begins, when it
 * must write something, and once a second from then on; what it adds to `out` is sent; nothing:
 * nothing is sent. A document is asked for its next piece whenever the one before is on its way, so
 * that a reply of any length takes the memory of one piece and lets the loop's others in between. A
 * reader that takes longer than a minute for all of it is cut off. */
struct http_waker { /* zero: of nobody */
    void (*wake)(void *loop);
    void *loop;
};
struct http_stream {
    uint64_t seen; /* the feed's own memory, zero at first */
    mono_ms told;
    bool begun;
    bool ended;                /* set by a document's feed: this piece is the last */
    void *work;                /* the feed's own */
    void (*drop)(void *work);  /* called at the end of all, however it comes, unless `work` is NULL */
    struct http_waker waker;   /* of its loop */
};
/* Has the loop ask those of its feeds that go on, soon. Any thread, until the loop's scratch is dropped. */
static inline void http_wake(struct http_waker w)
{
    if (w.wake != NULL)
        w.wake(w.loop);
}
enum { HTTP_PIECE = 64 * 1024,  /* bytes after which a document's feed lets go */
       HTTP_DOCUMENTS_MAX = 16 }; /* at once, of one loop: who asks for one more gets 503 */
typedef void http_feed(void *user, void *scratch, struct http_stream *s, mono_ms now,
                       struct buf *out);

struct http_route {
    enum http_listener listener;
    const char *method; /* "GET" answers HEAD too; "POST" takes JSON */
    const char *path;   /* a star as last letter takes everything below */
    http_handler *handler;
    http_feed *feed;    /* instead of `handler` */
    void *user;
    const char *document; /* content type of a feed that ends; NULL: server-sent events */
};

struct http_guard { /* of one listener; zero: everybody is let in */
    bool (*admits)(void *user, const struct http_request *q, struct http_reply *r); /* false: *r says why not */
    void *user;
};

struct http_table {
    struct http_route items[HTTP_ROUTES_MAX];
    uint32_t count;
    struct http_guard guards[HTTP_LISTENER_COUNT]; /* asked before anything is looked for */
};

void http_table_add(struct http_table *t, const struct http_route *route);

/* The route, or NULL with 404, 405, 415 or what the guard says and a sentence in *r. */
const struct http_route *http_find(const struct http_table *t, const struct http_request *q,
                                   struct http_reply *r);
/* Lets the route's handler (not a feed) answer. */
void http_run(const struct http_route *route, void *scratch, const struct http_request *q,
              struct http_reply *r);
/* Whether the head of a request, which `bytes` begins with, says once where it is to go and where its body ends. Two
 * programs on one connection that read it differently would take one request's body for the next request (request
 * smuggling, RFC 9112 11.2). False: 400 and a sentence in *r, and the connection ends. */
bool http_head_is_sound(struct span bytes, struct http_reply *r);
/* Replaces the body by one sentence in plain text. */
void http_reply_text(struct http_reply *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The value of a query parameter, percent-decoded into `a`; absent when missing. */
struct arena;
struct span http_query(struct arena *a, struct span query, const char *name);

#endif
