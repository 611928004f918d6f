/* tls_failure: why a TLS handshake failed, as far as a server can know. OpenSSL keeps the reasons of a handshake in the
 * error queue of the thread that runs it; the callbacks of tls.c add theirs to it, and tls_take_failure reads it. */
#ifndef SERVER_TLS_FAILURE_H
#define SERVER_TLS_FAILURE_H

#include "base/buf.h"

enum tls_failure {
    TLS_NOT_READY,       /* there is no serving certificate yet */
    TLS_NO_CERTIFICATE,  /* the caller showed none, and must */
    TLS_WRONG_CA,        /* a CA that we do not know signed the caller's certificate */
    TLS_EXPIRED,         /* its certificate has ended, or has not begun */
    TLS_WRONG_NAME,      /* its certificate has no name that is let in */
    TLS_BAD_CERTIFICATE, /* its certificate has another fault */
    TLS_WRONG_VERSION,   /* it has no version of TLS that we take */
    TLS_NO_CIPHER,       /* it has no cipher suite that we take */
    TLS_NOT_TLS,         /* it speaks something else, such as plain HTTP */
    TLS_DISTRUSTED,      /* it refused our certificate, or something else of ours, with an alert */
    TLS_TIMED_OUT,       /* the handshake took longer than one may take */
    TLS_CLOSED,          /* it closed the connection first: a port check, or a peer that gave up */
    TLS_CROWDED_OUT,     /* we closed the connection, because there were too many */
    TLS_OTHER,
    TLS_FAILURE_COUNT,
};
const char *tls_failure_name(enum tls_failure f); /* "no_certificate": a label's value */

/* Adds a failure of ours to this thread's error queue. `detail`: more of it, for people; its first bytes are kept. */
void tls_raise_failure(enum tls_failure f, const char *detail);
/* The failure for an X509_V_ERR_… of the caller's certificate. */
enum tls_failure tls_certificate_failure(int x509_error);

/* Why the last handshake of this thread failed: call it as soon as SSL_accept says so. Empties the error queue. *detail
 * gets what was raised with the failure, or OpenSSL's words. */
enum tls_failure tls_take_failure(struct buf *detail);

#endif
