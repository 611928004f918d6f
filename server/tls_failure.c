#include "server/tls_failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

enum { DETAIL_MAX = 300 }; /* bytes, of what is raised: certificates of strangers have long names */

const char *tls_failure_name(enum tls_failure f)
{
    static const char *const names[TLS_FAILURE_COUNT] = {
        [TLS_NOT_READY] = "not_ready",
        [TLS_NO_CERTIFICATE] = "no_certificate",
        [TLS_WRONG_CA] = "wrong_ca",
        [TLS_EXPIRED] = "expired",
        [TLS_WRONG_NAME] = "wrong_name",
        [TLS_BAD_CERTIFICATE] = "bad_certificate",
        [TLS_WRONG_VERSION] = "wrong_version",
        [TLS_NO_CIPHER] = "no_cipher",
        [TLS_NOT_TLS] = "not_tls",
        [TLS_DISTRUSTED] = "distrusted",
        [TLS_TIMED_OUT] = "timed_out",
        [TLS_CLOSED] = "closed",
        [TLS_CROWDED_OUT] = "crowded_out",
        [TLS_OTHER] = "other",
    };
    return names[f];
}

/* ERR_LIB_USER is the library number that OpenSSL leaves to programs; a reason must not be 0. */
void tls_raise_failure(enum tls_failure f, const char *detail)
{
    ERR_raise_data(ERR_LIB_USER, (int)f + 1, "%.*s", DETAIL_MAX, detail);
}

enum tls_failure tls_certificate_failure(int x509_error)
{
    switch (x509_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return TLS_EXPIRED;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED:
        return TLS_WRONG_CA;
    default:
        return TLS_BAD_CERTIFICATE;
    }
}

static enum tls_failure of_reason(int reason)
{
    if (reason > SSL_AD_REASON_OFFSET) /* an alert that the caller sent */
        return reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ? TLS_WRONG_VERSION : TLS_DISTRUSTED;
    switch (reason) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return TLS_NO_CERTIFICATE;
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_UNKNOWN_PROTOCOL:
        return TLS_WRONG_VERSION;
    case SSL_R_NO_SHARED_CIPHER:
        return TLS_NO_CIPHER;
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_WRONG_VERSION_NUMBER:
        return TLS_NOT_TLS;
    default:
        return TLS_OTHER;
    }
}

static enum tls_failure of_error(unsigned long code)
{
    int lib = ERR_GET_LIB(code), reason = ERR_GET_REASON(code);
    if (lib == ERR_LIB_USER)
        return (enum tls_failure)(reason - 1);
    return lib == ERR_LIB_SSL ? of_reason(reason) : TLS_OTHER;
}

/* The first error that says something: what OpenSSL adds on its way up follows from it. */
enum tls_failure tls_take_failure(struct buf *detail)
{
    enum tls_failure failure = TLS_OTHER;
    const char *data, *words = NULL;
    int flags;
    buf_clear(detail);
    for (unsigned long code; failure == TLS_OTHER && (code = ERR_get_error_all(NULL, NULL, NULL, &data, &flags)) != 0;) {
        failure = of_error(code);
        if (words == NULL || failure != TLS_OTHER)
            words = ERR_reason_error_string(code);
        if (ERR_GET_LIB(code) == ERR_LIB_USER && (flags & ERR_TXT_STRING) != 0)
            words = data;
        buf_clear(detail);
        buf_add(detail, span_of(words));
    }
    ERR_clear_error();
    return failure;
}
