/* certs: keeps the certificates of all replicas, in the API.
 *
 * A step machine on the API thread, as the Lease is. Over and over, as often as rotation.h says: it reads Secret
 * `stowage-certs`, does what is due and writes it back, unless somebody else was first (409): then it reads theirs. Then
 * Secret `stowage-scheduler-client` (tls.crt, tls.key, ca.crt), then, once we serve, the caBundles of
 * ValidatingWebhookConfiguration `stowage` and, where somebody has applied it, MutatingWebhookConfiguration
 * `stowage-shaping`. So one replica renews, and all take it up with their next look.
 *
 * A Secret that is gone or spoilt is written back from what is in use. A set is immutable and handed to `changed`, which
 * publishes it as a whole; one of a CA of which the API server has not heard waits until it has. A stored serving
 * certificate that lacks one of our names (a replica that listens elsewhere) is left alone: such a replica signs its own
 * with the shared CA. */
#ifndef CERTS_CERTS_H
#define CERTS_CERTS_H

#include "certs/authority.h"
#include "kube/api.h"

struct cert_set { /* lives during the callback */
    struct span ca;      /* PEM: who may have signed client certificates */
    struct cert_pair serving;
    wall_ms not_after;   /* of the serving certificate */
};

enum cert_name { CERT_NAME_CA, CERT_NAME_NEXT_CA, CERT_NAME_SCHEDULER, CERT_NAME_COUNT };

struct certs_listener { /* called in certs_step and in completions: on the API thread */
    void *user;
    void (*changed)(void *user, const struct cert_set *set);
    /* A request failed and will be tried again, or what is stored cannot be used; told once as long as the text stays
     * the same. */
    void (*trouble)(void *user, const struct err *err);
};

struct certs_config { /* copied, texts too */
    struct api *api;
    struct span ns;             /* our namespace: Secrets, Service names */
    struct span scheduler_ns;   /* of Secret stowage-scheduler-client; empty: ours */
    const struct span *names;   /* further names and addresses for the serving certificate */
    uint32_t name_count;
    struct cert_pair files;     /* --tls-cert, --tls-key; absent: our own. Then no caBundle is written */
    span_ms leaf_life, ca_life; /* 0: CERTS_LEAF_LIFE, CERTS_CA_LIFE */
    bool register_webhooks;     /* write the whole configuration, not only its caBundle */
    struct span webhook_url;    /* base URL for the API server instead of the Service; absent: Service */
    struct certs_listener listener;
};

struct certs;

struct certs *certs_new(const struct certs_config *config); /* sends nothing yet */
void certs_free(struct certs *c); /* no request may be under way: after the api is gone, or certs_idle */
bool certs_idle(const struct certs *c);

/* Does what is due; returns when to call next at the latest. */
mono_ms certs_step(struct certs *c, mono_ms now, wall_ms wall);
/* We listen with the last set that `changed` told: from now on the API server may be told of it. */
void certs_serving(struct certs *c);
/* Other files than the config's are served now; both had some. */
void certs_use_files(struct certs *c, const struct cert_pair *files);
/* When each ends that is known; 0: none is. */
void certs_ends(const struct certs *c, wall_ms out[CERT_NAME_COUNT]);

/* The ValidatingWebhookConfiguration of manifests/webhooks.yaml as JSON. `ca` may be absent. */
struct span certs_webhook_configuration(struct arena *a, struct span ns, struct span webhook_url,
                                        struct span ca);

#endif
