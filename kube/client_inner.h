/* client_inner: what the files of the API client share. Nobody else includes this.
 *
 *   client_io.c        the loop, commands from other threads, numbers
 *   client_auth_io.c   credential files, read again when they change
 *   client_transfer_io.c  one HTTP exchange
 *   client_watch_io.c  LIST and WATCH of one kind (what to do next: kube/resume.h)
 *   client_write_io.c  requests of api_send
 *
 * Handles of libcurl are void * here, as they are in its own header. All on the API thread but
 * where a comment says otherwise. */
#ifndef KUBE_CLIENT_INNER_H
#define KUBE_CLIENT_INNER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/buf.h"
#include "kube/client_io.h"
#include "kube/client_limits.h"
#include "kube/lines.h"
#include "kube/resume.h"

/* One file of ours, or fixed bytes. */
struct secret_file {
    const char *path; /* NULL: fixed */
    struct buf bytes;
    mono_ms looked, read; /* 0: never */
    /* As it was when read: a Secret's files are symlinks that are swapped. */
    uint64_t device, inode;
    int64_t size, changed_ns;
};

/* PEM is given to libcurl as bytes, not as paths: bytes that differ make it open a new connection,
 * while under the same path connections would keep the old identity. */
struct auth {
    struct secret_file ca, cert, key, token;
};

bool auth_init(struct auth *auth, struct arena *a, const struct client_config *config, mono_ms now,
               struct err *err); /* a file that cannot be read now is an error */
void auth_release(struct auth *auth);
/* Looks at the files when it is time, or in any case. What cannot be read keeps its old content. */
void auth_refresh(struct auth *auth, mono_ms now, bool in_any_case);

struct transfer;

struct transfer_end {
    int status; /* 0: the connection failed; `text` says how */
    const char *text;
    bool too_large;
    bool timed_out;
    int32_t retry_after_s; /* -1: none */
};

struct transfer_hooks {
    /* The header of a 2xx answer is complete; NULL: not wanted. */
    void (*on_open)(struct transfer *t);
    /* Bytes of a 2xx body; false ends the transfer as too large. NULL: collected in t->body. */
    bool (*on_data)(struct transfer *t, struct span chunk);
    /* Exactly once, not for transfer_abort. The transfer may be started anew in it. */
    void (*on_end)(struct transfer *t, const struct transfer_end *end);
};

struct transfer_request {
    const char *method;
    const char *url;
    const char *content_type; /* NULL: no body */
    struct span body;         /* lives until the end */
    span_ms timeout_ms;       /* 0: none */
    size_t reply_max;
    bool compressed; /* accept gzip */
    bool fresh;      /* not on a connection that is there: it may be dead */
};

struct transfer {
    struct client *client;
    const struct transfer_hooks *hooks;
    void *user;
    struct buf body;

    /* private */
    void *easy;                 /* NULL: not running */
    void *headers, *connect_to; /* curl_slist */
    struct span send;
    size_t reply_max;
    bool too_large;
    bool opened;
    int32_t retry_after_s;
    char error[256];
    mono_ms heard; /* when the last byte came */
    mono_ms opened_at;
    int method;
};

void transfer_start(struct transfer *t, const struct transfer_request *r);
void transfer_abort(struct transfer *t);                 /* when running; on_end is not called */
void transfer_finish(struct transfer *t, int curl_code); /* called by the loop */
/* Its HTTP/2 connection writes what it still has to write. libcurl (7.88) keeps the reset of another stream that timed
 * out until something else happens there, seconds later on a quiet connection. */
void transfer_stir(struct transfer *t);
void transfer_release(struct transfer *t);

/* Watches. */
struct watch;
void watch_start(struct client *c, enum kind k, const struct api_sink *sink);
void watch_relist(struct client *c, enum kind k);
mono_ms watches_step(struct client *c); /* when to come again */
void watches_stir(struct client *c);    /* all that stream: transfer_stir */
void watches_free(struct client *c);

/* Requests. */
struct call;
enum { CALL_SEND, CALL_CANCEL, CALL_CANCEL_ACTS, CALL_WATCH, CALL_RELIST };
struct command { /* from another thread, in order */
    struct command *next;
    int what;
    struct call *call;    /* CALL_SEND */
    uint64_t id;          /* CALL_CANCEL */
    enum kind kind;       /* CALL_WATCH, CALL_RELIST */
    struct api_sink sink; /* CALL_WATCH */
};
struct call *client_call_new(const struct api_request *r, api_done *done, void *user,
                      uint64_t id); /* any thread */
void calls_add(struct client *c, struct call *call);
void calls_cancel(struct client *c, uint64_t id);
void calls_cancel_acts(struct client *c);
mono_ms calls_step(struct client *c);
void client_calls_free(struct client *c);

struct call_list {
    struct call *first, *last;
    uint32_t count;
};

enum { HTTP_METHODS = 5, HTTP_CODES = 600 };

struct client {
    struct api api; /* first: struct api * is struct client * */
    struct arena texts;
    struct client_config config;
    struct client_policy policy;
    const char *connect_to; /* "host:port:host:port", NULL: connect to the URL's host */
    bool loopback;
    void *multi;
    void *idle[CLIENT_KEEP_HANDLES]; /* easy handles */
    uint32_t idle_count;
    struct auth auth;
    struct doc_parser *parser;
    struct doc_parser *page_parser; /* NULL while nothing is listed: a page takes many times its size */
    struct arena scratch; /* of one step; cleared by whoever uses it */
    uint64_t random;
    mono_ms now;   /* read once a turn of the loop */
    bool happened; /* somebody was called back in this client_poll: do not wait any more */

    struct watch *watches[KIND_COUNT];
    struct call_list waiting; /* Leases, then the others in order of api_send */
    struct call_list delayed; /* until their Retry-After */
    struct call_list running;
    struct bucket bucket;
    mono_ms busy_until; /* nothing but Leases is begun before: the API server is busy */
    uint32_t window;    /* requests under way at most */
    uint32_t answered;  /* since the window was changed */
    bool suspect; /* the last request timed out: the next ones take a connection of their own */

    pthread_mutex_t lock; /* of the commands */
    struct command *first_command, *last_command;

    _Atomic(uint64_t) next_id;
    _Atomic(uint64_t) counts[HTTP_METHODS][HTTP_CODES];
    _Atomic(bool) absent[KIND_STORED_COUNT];
    bool older[KIND_COUNT]; /* it has the kind's older version, not the other: found by its watch */
    _Atomic(uint64_t) resumed[KIND_STORED_COUNT], listed[KIND_STORED_COUNT], bytes;
    _Atomic(uint32_t) waiting_count, running_count, most_count;
};

extern const char *const client_methods[HTTP_METHODS];
void client_count(struct client *c, int method, int status);
/* What an answer says of how busy the API server is slows everything down, and lets it grow faster again. */
void client_heard(struct client *c, int status, int32_t retry_after_s, struct span cause);

#endif
