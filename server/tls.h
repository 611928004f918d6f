/* tls: the identity under which we serve, replaceable while connections come in.
 *
 * Three long-lived contexts share it: one that lets anyone in (webhook; the API server shows no certificate unless it is
 * told to), and two that demand a client certificate, each of a CA and of names of its own. A handshake takes the identity
 * that is current when it begins; before there is one it fails, so that a caller passes us over at
 * once instead of waiting. HTTP/1.1 only. Sessions are not resumed: a handshake costs a third of a
 * millisecond, callers keep their connections, and a resumed one would outlive its client's CA. Why a handshake failed is
 * in tls_failure.h. */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include "base/err.h"
#include "base/span.h"
#include "base/units.h"

struct tls;
struct ssl_ctx_st;

struct tls_pem {
    struct span cert;      /* leaf, then its chain */
    struct span key;
    struct span client_ca; /* who may have signed client certificates of the extender; absent: nobody gets in */
    struct span webhook_client_ca; /* the same of the webhook, where that asks for one */
};

enum tls_door { TLS_ANYONE, TLS_EXTENDER, TLS_WEBHOOK, TLS_DOOR_COUNT };

struct tls_clients { /* of those whom a client CA has signed, who gets in; copied but for the names */
    const char *const *names; /* common names, DNS names or URIs; none: everybody whom it has signed */
    uint32_t count;
};

struct tls_protocol { /* of all doors; zero: TLS 1.2 or newer, and of 1.2 the AEAD suites alone */
    bool only_13;
    const char *const *suites; /* by Kubernetes' names (tls_suites.h) */
    uint32_t suite_count;
};

struct tls *tls_new(const struct tls_clients *extender, const struct tls_clients *webhook); /* NULL: everybody */
/* Before the first handshake. False: ERR_INVALID, a suite is unknown. */
bool tls_set_protocol(struct tls *t, const struct tls_protocol *p, struct err *err);
void tls_free(struct tls *t); /* no handshake may be under way */

/* Checks the whole, then publishes it; on false nothing changes. One thread at a time. */
bool tls_swap(struct tls *t, const struct tls_pem *pem, struct err *err);
bool tls_loaded(const struct tls *t); /* any thread */
/* When the certificate ends that the scheduler showed last, of those that were accepted; 0: none was. Any thread. */
wall_ms tls_shown_until(const struct tls *t);

struct ssl_ctx_st *tls_context(struct tls *t, enum tls_door door);

#endif
