/* tls: the identity under which we serve, replaceable while connections come in.
 *
 * Two long-lived contexts share it: one that lets anyone in (webhook; the API server shows no
 * certificate) and one that demands a client certificate (extender). A handshake takes the identity
 * that is current when it begins; before there is one it fails, so that a caller passes us over at
 * once instead of waiting. HTTP/1.1 only. Sessions are not resumed: a handshake costs a third of a
 * millisecond, callers keep their connections, and a resumed one would outlive its client's CA. */
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
    struct span client_ca; /* who may have signed client certificates; absent: nobody gets in */
};

struct tls_clients { /* of those whom the client CA has signed, who gets in; copied but for the names */
    const char *const *names; /* common names, DNS names or URIs; none: everybody */
    uint32_t count;
    void *user;
    /* Somebody else came: "CN, DNS:a, …" of the certificate. Any thread; at most once in TLS_REFUSED_MS. */
    void (*refused)(void *user, struct span who);
};
enum { TLS_REFUSED_MS = 10 * MS_SECOND };

struct tls *tls_new(const struct tls_clients *clients); /* NULL: everybody */
void tls_free(struct tls *t); /* no handshake may be under way */

/* Checks the whole, then publishes it; on false nothing changes. One thread at a time. */
bool tls_swap(struct tls *t, const struct tls_pem *pem, struct err *err);
bool tls_loaded(const struct tls *t); /* any thread */

struct ssl_ctx_st *tls_context(struct tls *t, bool client_certificate);

#endif
