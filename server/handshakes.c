#include "server/handshakes.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"

static const enum http_listener listeners[] = {HTTP_WEBHOOK, HTTP_EXTENDER}; /* that speak TLS */

struct handshakes {
    const struct log *log;
    struct metric_series *series[HTTP_LISTENER_COUNT][TLS_FAILURE_COUNT];
    pthread_mutex_t lock;
    struct line { /* guarded by the lock */
        mono_ms last; /* 0: never */
        uint64_t since;
    } lines[HTTP_LISTENER_COUNT];
};

struct handshakes *handshakes_new(struct metrics *m, const struct log *log)
{
    static const struct metric_info info = {.name = "stowage_tls_handshake_failures_total",
                                            .help = "TLS handshakes that failed, by listener and reason",
                                            .type = METRIC_COUNTER,
                                            .labels = {"listener", "reason"}};
    struct handshakes *h = mem_new(sizeof(*h));
    uint32_t id = metrics_register(m, &info);
    h->log = log;
    pthread_mutex_init(&h->lock, NULL);
    for (size_t i = 0; i < COUNT_OF(listeners); i++)
        for (int f = 0; f < TLS_FAILURE_COUNT; f++) {
            const struct span labels[] = {span_of(http_listener_name(listeners[i])), span_of(tls_failure_name((enum tls_failure)f))};
            h->series[listeners[i]][f] = metrics_series(m, id, labels);
        }
    return h;
}

void handshakes_free(struct handshakes *h)
{
    if (h == NULL)
        return;
    pthread_mutex_destroy(&h->lock);
    free(h);
}

struct advice {
    const char *what, *fix; /* of the extender's caller, kube-scheduler */
    const char *webhook_fix; /* of the webhook's, the API server; NULL: the same */
};

static const struct advice advice[TLS_FAILURE_COUNT] = {
    [TLS_NOT_READY] = {"Stowage has no serving certificate yet", "it is there once the API server has been reached", NULL},
    [TLS_NO_CERTIFICATE] = {"the caller showed no client certificate",
                            "give kube-scheduler's extender tlsConfig certFile and keyFile, of Secret stowage-scheduler-client",
                            "give the API server's webhook client a certificate that --webhook-client-ca has signed"},
    [TLS_WRONG_CA] = {"an unknown CA signed the caller's certificate",
                      "copy the files of Secret stowage-scheduler-client to the scheduler anew, or name its CA: --extender-client-ca",
                      "name the CA of the API server's certificate: --webhook-client-ca"},
    [TLS_EXPIRED] = {"the caller's certificate has ended, or has not begun",
                     "copy the files of Secret stowage-scheduler-client to the scheduler anew; compare both clocks",
                     "renew the API server's certificate; compare both clocks"},
    [TLS_WRONG_NAME] = {"the caller's certificate is of another name", "if it is to be let in, add one of its names to --extender-client-names",
                        "if it is to be let in, add one of its names to --webhook-client-names"},
    [TLS_BAD_CERTIFICATE] = {"the caller's certificate cannot be used", "give it one for client authentication", NULL},
    [TLS_WRONG_VERSION] = {"the caller has no version of TLS that is accepted", "see --tls-min-version", NULL},
    [TLS_NO_CIPHER] = {"the caller has no cipher suite that is accepted", "see --tls-cipher-suites", NULL},
    [TLS_NOT_TLS] = {"the caller does not speak TLS", "its URL must begin with https://; a probe belongs on --health-probe-port", NULL},
    [TLS_DISTRUSTED] = {"the caller refused Stowage's certificate",
                        "kube-scheduler's tlsConfig.caFile must be ca.crt of Secret stowage-scheduler-client, and its urlPrefix a name of the certificate",
                        "caBundle of the webhook configurations must have the CA of Stowage's certificate, and its URL or Service a name of it"},
    [TLS_TIMED_OUT] = {"the caller did not go on in time", "look for a peer that only connects, or a network that loses packets", NULL},
    [TLS_CLOSED] = {"the caller closed the connection", "a check of the port does so", NULL},
    [TLS_CROWDED_OUT] = {"there were too many connections", "find the client that opens them; the network policy keeps pods out", NULL},
    [TLS_OTHER] = {"the handshake went wrong", "try `openssl s_client` from where the caller is", NULL},
};

/* Returns the number of failures since the last line, this one included; 0: it is too early for another line. */
static uint64_t take_count(struct handshakes *h, enum http_listener l, mono_ms now)
{
    uint64_t count = 0;
    pthread_mutex_lock(&h->lock);
    struct line *line = &h->lines[l];
    line->since++;
    if (line->last == 0 || now - line->last >= HANDSHAKES_LOG_MS) {
        count = line->since;
        *line = (struct line){.last = now};
    }
    pthread_mutex_unlock(&h->lock);
    return count;
}

void handshakes_failed(struct handshakes *h, enum http_listener l, enum tls_failure why, const char *peer, struct span detail,
                       mono_ms now)
{
    metric_add(h->series[l][why], 1);
    if (h->log == NULL || why == TLS_CLOSED) /* load balancers check ports so, every few seconds */
        return;
    uint64_t count = take_count(h, l, now);
    if (count == 0)
        return;
    const struct advice *a = &advice[why];
    const char *fix = l == HTTP_WEBHOOK && a->webhook_fix != NULL ? a->webhook_fix : a->fix;
    log_warn(h->log, "tls", "%llu failed TLS handshake%s on the %s listener, the last from %s: %s%s%.*s%s; %s (docs/operate.md, TLS handshakes)",
             (unsigned long long)count, count == 1 ? "" : "s", http_listener_name(l), *peer != '\0' ? peer : "an unknown address",
             a->what, detail.len != 0 ? " (" : "", SPAN_ARG(detail), detail.len != 0 ? ")" : "", fix);
}
