/* client_io: the API server behind struct api (kube/api.h), by libcurl.
 *
 * One thread, the API thread, calls client_poll in a loop and runs every callback in it. Over TLS,
 * HTTP/2: few connections carry everything. Watches are resumed and listed again by themselves;
 * what became of them is told to their sink and to the log.
 *
 * Requests leave in the order of api_send, at most policy.rate a second. Leases neither wait in
 * that line nor count in it. A request is sent again only when the server said that it did nothing
 * and when to come back (429 and 5xx with Retry-After, 401 once), and a read also when the
 * connection broke; not an eviction that a budget refuses: that is an answer. A write whose reply was
 * lost ends with status 0.
 *
 * An API server that is busy (429, 503 with Retry-After) is left alone for as long as it asks, a
 * minute at most, by everything but Leases; then half as many requests are under way at once as
 * before, and one more for each round that goes well.
 *
 * Memory is bounded by the largest page or event, see kube/client_limits.h. */
#ifndef KUBE_CLIENT_IO_H
#define KUBE_CLIENT_IO_H

#include "base/log.h"
#include "base/units.h"
#include "kube/api.h"
#include "kube/kubeconfig.h"

struct client_policy {          /* zero: the default in brackets */
    double rate;                /* requests a second [200] (--kube-client-qps) */
    double burst;               /* [300] (--kube-client-burst) */
    span_ms request_timeout_ms; /* of one attempt [35 s: the server gives a write up at 34 s] */
    span_ms lease_timeout_ms;   /* [5 s]; below the Lease's renew deadline */
    span_ms stall_ms;       /* a watch without a byte for so long is dead [90 s; bookmarks come each
                               minute] */
    span_ms retry_first_ms; /* watches: first wait after a failure [800] */
    span_ms retry_max_ms;   /* [30 s] */
    uint32_t page;          /* objects of a LIST page [500] */
    const char *user_agent; /* ["stowage"]; not one that begins with "curl" */
    /* NodePools and what belongs to them may be unknown to the API server, and then there are none; one that was listed
     * once and is unknown later is broken: its objects are not gone for that. */
    bool pools_optional;
    const struct log *log;  /* NULL: silent */
    /* Acts (is_act) leave only before this time of CLOCK_MONOTONIC, asked for each as it leaves; later
     * ones end with ERR_CANCELLED. NULL, INT64_MAX: at any time. API thread. */
    mono_ms (*acts_until)(void *user);
    void *user;
    /* What has left by then is given up so much later, by us and by the API server, which is told
     * so: when our Lease is over, nothing of ours is under way. */
    span_ms acts_grace_ms;
};

struct client;

/* Reads the credentials once; connects to nothing. Texts of both arguments are copied. */
bool client_new(const struct client_config *config, const struct client_policy *policy,
                struct client **out, struct err *err);
/* Nothing may be sent any more. What is pending ends with ERR_CANCELLED. API thread. */
void client_free(struct client *c);
struct api *client_api(struct client *c);

/* Sends, receives, calls back; returns after something happened or `max_wait_ms`. API thread. */
void client_poll(struct client *c, span_ms max_wait_ms);
void client_wakeup(struct client *c); /* client_poll returns soon; any thread */

/* For metrics; any thread. */
struct client_count { /* rest_client_requests_total{method,code} */
    const char *method;
    int code; /* 0: no reply */
    uint64_t count;
};
size_t client_counts(const struct client *c, struct client_count *out,
                     size_t max); /* of all that is not 0 */
struct client_load {
    uint32_t waiting, running;           /* requests */
    uint32_t most;                       /* that may be under way at once: less once the server was busy */
    uint64_t resumed[KIND_STORED_COUNT]; /* watches begun again */
    uint64_t listed[KIND_STORED_COUNT];  /* LISTs completed */
    bool absent[KIND_STORED_COUNT];      /* optional, and the API server does not know it */
    uint64_t bytes;                      /* received, decompressed */
};
struct client_load client_load(const struct client *c);

#endif
