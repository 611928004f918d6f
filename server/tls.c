/* One SSL_CTX for each way in, made once. What can change, that is certificate, key and the CAs of
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
#include "server/tls_failure.h"
#include "server/tls_suites.h"

struct identity {
    struct shared shared;
    X509 *leaf;
    EVP_PKEY *key;
    STACK_OF(X509) *chain;
    struct client_cas {
        X509_STORE *store;          /* NULL: no client CA */
        STACK_OF(X509_NAME) *names; /* told to clients, so that they choose the right certificate */
    } clients[TLS_DOOR_COUNT];
};

struct door {
    struct tls *tls;
    enum tls_door which;
    SSL_CTX *ctx;
    struct tls_clients clients;
    _Atomic(wall_ms) until;   /* the end of the last certificate that was accepted; 0: none was */
};

struct tls {
    struct share current; /* struct identity */
    struct door doors[TLS_DOOR_COUNT];
    _Atomic(bool) loaded;
};

static void identity_free(struct identity *id)
{
    X509_free(id->leaf);
    EVP_PKEY_free(id->key);
    sk_X509_pop_free(id->chain, X509_free);
    for (int d = 0; d < TLS_DOOR_COUNT; d++) {
        X509_STORE_free(id->clients[d].store);
        sk_X509_NAME_pop_free(id->clients[d].names, X509_NAME_free);
    }
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

static bool read_clients(struct client_cas *out, struct span pem, struct err *err)
{
    if (pem.len == 0)
        return true;
    STACK_OF(X509) *cas = sk_X509_new_null();
    bool any = read_certificates(pem, cas);
    out->store = X509_STORE_new();
    out->names = sk_X509_NAME_new_null();
    for (int i = 0; i < sk_X509_num(cas); i++) {
        X509 *ca = sk_X509_value(cas, i);
        X509_STORE_add_cert(out->store, ca);
        sk_X509_NAME_push(out->names, X509_NAME_dup(X509_get_subject_name(ca)));
    }
    sk_X509_pop_free(cas, X509_free);
    ERR_clear_error();
    return any || err_set(err, ERR_INVALID, "the client CA file holds no PEM certificate");
}

static bool put_identity(SSL *ssl, const struct identity *id, enum tls_door door)
{
    const struct client_cas *clients = &id->clients[door];
    if (SSL_use_cert_and_key(ssl, id->leaf, id->key, id->chain, 1) != 1)
        return false;
    if (clients->store == NULL)
        return true;
    SSL_set_client_CA_list(ssl, SSL_dup_CA_list(clients->names));
    return SSL_set1_verify_cert_store(ssl, clients->store) == 1;
}

/* 0 ends the handshake: better than letting a caller wait for a certificate that is not there yet. */
static int on_certificate(SSL *ssl, void *arg)
{
    struct door *door = arg;
    struct identity *id = (struct identity *)share_take(&door->tls->current);
    bool ok = id != NULL && put_identity(ssl, id, door->which);
    if (id != NULL)
        shared_unref(&id->shared);
    ERR_clear_error();
    if (!ok)
        tls_raise_failure(TLS_NOT_READY, "there is no serving certificate");
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

static wall_ms end_of(const X509 *x)
{
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(x));
    ASN1_TIME_free(epoch);
    return days * (24 * MS_HOUR) + (wall_ms)seconds * MS_SECOND;
}

/* *names gets "CN, DNS:a, …" as far as it was looked at. */
static bool check_listed(const struct tls_clients *c, const X509 *leaf, struct buf *names)
{
    return c->count == 0 || check_common_name(c, leaf, names) || check_other_names(c, leaf, names);
}

static void raise_certificate_failure(int x509_error, const X509 *leaf)
{
    static const struct tls_clients none = {.count = 0};
    struct buf names = {.max = 512}, detail = {.max = 512};
    check_common_name(&none, leaf, &names);
    check_other_names(&none, leaf, &names);
    buf_addf(&detail, "%s, certificate of %.*s", X509_verify_cert_error_string(x509_error), SPAN_ARG(buf_span(&names)));
    tls_raise_failure(tls_certificate_failure(x509_error), buf_span(&detail).ptr);
    buf_release(&names);
    buf_release(&detail);
}

/* OpenSSL's own checks come first; the leaf (depth 0) is the last that it asks about. */
static int on_client(int ok, X509_STORE_CTX *ctx)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct door *d = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    if (ok != 1)
        raise_certificate_failure(X509_STORE_CTX_get_error(ctx), X509_STORE_CTX_get0_cert(ctx));
    if (ok != 1 || X509_STORE_CTX_get_error_depth(ctx) != 0)
        return ok;
    const X509 *leaf = X509_STORE_CTX_get_current_cert(ctx);
    struct buf names = {.max = 512};
    bool listed = check_listed(&d->clients, leaf, &names);
    if (listed) {
        atomic_store(&d->until, end_of(leaf));
    } else {
        tls_raise_failure(TLS_WRONG_NAME, buf_span(&names).ptr);
        X509_STORE_CTX_set_error(ctx, X509_V_ERR_APPLICATION_VERIFICATION);
    }
    buf_release(&names);
    return listed;
}

static SSL_CTX *context_new(struct door *door)
{
    static const unsigned char session_context[] = "stowage";
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (ctx == NULL)
        abort(); /* out of memory */
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    /* Without it a session that a client offers all the same is dropped with a bare EOF. */
    SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
    SSL_CTX_set_cert_cb(ctx, on_certificate, door);
    if (door->which != TLS_ANYONE)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, on_client);
    SSL_CTX_set_app_data(ctx, door);
    return ctx;
}

struct tls *tls_new(const struct tls_clients *extender, const struct tls_clients *webhook)
{
    const struct tls_clients *clients[TLS_DOOR_COUNT] = {[TLS_EXTENDER] = extender, [TLS_WEBHOOK] = webhook};
    struct tls *t = mem_new(sizeof(*t));
    share_init(&t->current, identity_destroy);
    for (int d = 0; d < TLS_DOOR_COUNT; d++) {
        struct door *door = &t->doors[d];
        door->tls = t;
        door->which = (enum tls_door)d;
        if (clients[d] != NULL)
            door->clients = *clients[d];
        door->ctx = context_new(door);
    }
    struct err err;
    if (!tls_set_protocol(t, &(struct tls_protocol){.suite_count = 0}, &err))
        abort(); /* no default suites: another OpenSSL than the one we were built with */
    return t;
}

bool tls_set_protocol(struct tls *t, const struct tls_protocol *p, struct err *err)
{
    struct buf list = {0};
    bool ok = tls_suites_list(&list, p->suites, p->suite_count, err);
    bool only_13 = p->only_13 || list.len == 0; /* no suite of 1.2 is named: nothing can be agreed on with it */
    for (int d = 0; ok && d < TLS_DOOR_COUNT; d++) {
        SSL_CTX_set_min_proto_version(t->doors[d].ctx, only_13 ? TLS1_3_VERSION : TLS1_2_VERSION);
        if (list.len != 0 && SSL_CTX_set_cipher_list(t->doors[d].ctx, list.ptr) != 1)
            ok = err_set(err, ERR_INTERNAL, "OpenSSL has none of the cipher suites %s", list.ptr);
    }
    buf_release(&list);
    return ok;
}

void tls_free(struct tls *t)
{
    if (t == NULL)
        return;
    for (int d = 0; d < TLS_DOOR_COUNT; d++)
        SSL_CTX_free(t->doors[d].ctx);
    share_release(&t->current);
    free(t);
}

bool tls_swap(struct tls *t, const struct tls_pem *pem, struct err *err)
{
    struct identity *id = mem_new(sizeof(*id));
    if (!read_pair(id, pem, err) || !read_clients(&id->clients[TLS_EXTENDER], pem->client_ca, err) ||
        !read_clients(&id->clients[TLS_WEBHOOK], pem->webhook_client_ca, err)) {
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

wall_ms tls_shown_until(const struct tls *t)
{
    return atomic_load(&t->doors[TLS_EXTENDER].until);
}

SSL_CTX *tls_context(struct tls *t, enum tls_door door)
{
    return t->doors[door].ctx;
}
