/* One SSL_CTX for each way in, made once. What can change, that is certificate, key and the CA of
 * clients, is one immutable object; the certificate callback puts the current one into each new
 * connection, which keeps its own references. So a swap needs no message to the loops, and nothing
 * is freed under a handshake. */
#include "server/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/share.h"
#include "server/clock.h"

struct identity {
    struct shared shared;
    X509 *leaf;
    EVP_PKEY *key;
    STACK_OF(X509) *chain;
    X509_STORE *clients;              /* NULL: no client CA */
    STACK_OF(X509_NAME) *client_names; /* told to clients, so that they choose the right certificate */
};

struct tls {
    struct share current; /* struct identity */
    SSL_CTX *anyone, *mutual;
    struct tls_clients clients;
    _Atomic(bool) loaded;
    _Atomic(mono_ms) refused; /* when it was told last; 0: never */
};

static void identity_free(struct identity *id)
{
    X509_free(id->leaf);
    EVP_PKEY_free(id->key);
    sk_X509_pop_free(id->chain, X509_free);
    X509_STORE_free(id->clients);
    sk_X509_NAME_pop_free(id->client_names, X509_NAME_free);
    free(id);
}

static void identity_destroy(struct shared *object)
{
    identity_free((struct identity *)object);
}

static BIO *bio_of(struct span text)
{
    return BIO_new_mem_buf(text.len != 0 ? text.ptr : "", (int)text.len);
}

/* The end of a PEM text shows as an error in OpenSSL's queue, which is nobody's business. */
static bool read_certificates(struct span pem, STACK_OF(X509) *into)
{
    BIO *bio = bio_of(pem);
    for (X509 *x; (x = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL;) {
        X509_check_purpose(x, -1, 0); /* works out its extensions now, before threads share it */
        sk_X509_push(into, x);
    }
    BIO_free(bio);
    ERR_clear_error();
    return sk_X509_num(into) > 0;
}

static bool read_pair(struct identity *id, const struct tls_pem *pem, struct err *err)
{
    id->chain = sk_X509_new_null();
    if (!read_certificates(pem->cert, id->chain))
        return err_set(err, ERR_INVALID, "the certificate file holds no PEM certificate");
    id->leaf = sk_X509_shift(id->chain);
    BIO *bio = bio_of(pem->key);
    id->key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"");
    BIO_free(bio);
    ERR_clear_error();
    if (id->key == NULL)
        return err_set(err, ERR_INVALID,
                       "the key file holds no PEM private key without a passphrase");
    bool match = X509_check_private_key(id->leaf, id->key) == 1;
    ERR_clear_error();
    return match || err_set(err, ERR_INVALID, "certificate and key do not belong together");
}

static bool read_clients(struct identity *id, struct span pem, struct err *err)
{
    if (pem.len == 0)
        return true;
    STACK_OF(X509) *cas = sk_X509_new_null();
    bool any = read_certificates(pem, cas);
    id->clients = X509_STORE_new();
    id->client_names = sk_X509_NAME_new_null();
    for (int i = 0; i < sk_X509_num(cas); i++) {
        X509 *ca = sk_X509_value(cas, i);
        X509_STORE_add_cert(id->clients, ca);
        sk_X509_NAME_push(id->client_names, X509_NAME_dup(X509_get_subject_name(ca)));
    }
    sk_X509_pop_free(cas, X509_free);
    ERR_clear_error();
    return any || err_set(err, ERR_INVALID, "the client CA file holds no PEM certificate");
}

static bool put_identity(SSL *ssl, const struct identity *id)
{
    if (SSL_use_cert_and_key(ssl, id->leaf, id->key, id->chain, 1) != 1)
        return false;
    if (id->clients == NULL)
        return true;
    SSL_set_client_CA_list(ssl, SSL_dup_CA_list(id->client_names));
    return SSL_set1_verify_cert_store(ssl, id->clients) == 1;
}

/* 0 ends the handshake: better than letting a caller wait for a certificate that is not there yet. */
static int on_certificate(SSL *ssl, void *arg)
{
    struct tls *t = arg;
    struct identity *id = (struct identity *)share_take(&t->current);
    if (id == NULL)
        return 0;
    bool ok = put_identity(ssl, id);
    shared_unref(&id->shared);
    ERR_clear_error();
    return ok ? 1 : 0;
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *outlen,
                   const unsigned char *in, unsigned int inlen, void *arg)
{
    (void)ssl;
    (void)arg;
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, outlen, ours, sizeof(ours) - 1, in, inlen) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* --- whose certificates --- */

static struct span span_of_string(const ASN1_STRING *s)
{
    return (struct span){(const char *)ASN1_STRING_get0_data(s), (size_t)ASN1_STRING_length(s)};
}

static bool is_listed(const struct tls_clients *c, struct span name)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (span_eq(span_of(c->names[i]), name))
            return true;
    return false;
}

/* Looks at one name, and notes it in *who. */
static bool check_name(const struct tls_clients *c, const char *kind, const ASN1_STRING *s, struct buf *who)
{
    struct span name = span_of_string(s);
    buf_addf(who, "%s%s%.*s", who->len != 0 ? ", " : "", kind, SPAN_ARG(name));
    return is_listed(c, name);
}

static bool check_common_name(const struct tls_clients *c, const X509 *x, struct buf *who)
{
    const X509_NAME *subject = X509_get_subject_name(x);
    int at = X509_NAME_get_index_by_NID((X509_NAME *)(uintptr_t)subject, NID_commonName, -1);
    return at >= 0 &&
           check_name(c, "", X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), who);
}

static bool check_other_names(const struct tls_clients *c, const X509 *x, struct buf *who)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
    bool found = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !found; i++) {
        const GENERAL_NAME *n = sk_GENERAL_NAME_value(names, i);
        if (n->type == GEN_DNS)
            found = check_name(c, "DNS:", n->d.dNSName, who);
        else if (n->type == GEN_URI)
            found = check_name(c, "URI:", n->d.uniformResourceIdentifier, who);
    }
    GENERAL_NAMES_free(names);
    return found;
}

/* Who is turned away comes again and again: a line each time would fill the log. */
static void tell_refused(struct tls *t, struct span who)
{
    mono_ms now = clock_mono(), last = atomic_load(&t->refused);
    if (t->clients.refused != NULL && (last == 0 || now - last >= TLS_REFUSED_MS) &&
        atomic_compare_exchange_strong(&t->refused, &last, now))
        t->clients.refused(t->clients.user, who);
}

/* OpenSSL's own checks come first; the leaf (depth 0) is the last that it asks about. */
static int on_client(int ok, X509_STORE_CTX *ctx)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *t = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    if (ok != 1 || X509_STORE_CTX_get_error_depth(ctx) != 0 || t->clients.count == 0)
        return ok;
    const X509 *leaf = X509_STORE_CTX_get_current_cert(ctx);
    struct buf who = {.max = 512};
    bool listed = check_common_name(&t->clients, leaf, &who) || check_other_names(&t->clients, leaf, &who);
    if (!listed) {
        X509_STORE_CTX_set_error(ctx, X509_V_ERR_APPLICATION_VERIFICATION);
        tell_refused(t, buf_span(&who));
    }
    buf_release(&who);
    return listed;
}

static SSL_CTX *context_new(struct tls *t, bool client_certificate)
{
    static const unsigned char session_context[] = "stowage";
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (ctx == NULL)
        abort(); /* out of memory */
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    /* Without it a session that a client offers all the same is dropped with a bare EOF. */
    SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
    SSL_CTX_set_cert_cb(ctx, on_certificate, t);
    if (client_certificate)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, on_client);
    SSL_CTX_set_app_data(ctx, t);
    return ctx;
}

struct tls *tls_new(const struct tls_clients *clients)
{
    struct tls *t = mem_new(sizeof(*t));
    if (clients != NULL)
        t->clients = *clients;
    share_init(&t->current, identity_destroy);
    t->anyone = context_new(t, false);
    t->mutual = context_new(t, true);
    return t;
}

void tls_free(struct tls *t)
{
    if (t == NULL)
        return;
    SSL_CTX_free(t->anyone);
    SSL_CTX_free(t->mutual);
    share_release(&t->current);
    free(t);
}

bool tls_swap(struct tls *t, const struct tls_pem *pem, struct err *err)
{
    struct identity *id = mem_new(sizeof(*id));
    if (!read_pair(id, pem, err) || !read_clients(id, pem->client_ca, err)) {
        identity_free(id);
        return false;
    }
    share_publish(&t->current, &id->shared);
    share_reap(&t->current);
    atomic_store(&t->loaded, true);
    return true;
}

bool tls_loaded(const struct tls *t)
{
    return atomic_load(&t->loaded);
}

SSL_CTX *tls_context(struct tls *t, bool client_certificate)
{
    return client_certificate ? t->mutual : t->anyone;
}
