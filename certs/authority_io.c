/* X.509 by way of OpenSSL 3. Extensions are built from their text form, a small language in which a
 * comma begins the next entry: so no name gets in that is not plainly a DNS name or an address. */
#include "certs/authority.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/buf.h"

enum { BACKDATE_S = (int)(ROTATION_BACKDATE / MS_SECOND), SERIAL_BYTES = 16 };

struct pair {
    X509 *cert;
    EVP_PKEY *key;
};

static void pair_release(struct pair *p)
{
    X509_free(p->cert);
    EVP_PKEY_free(p->key);
}

/* What OpenSSL said last, and an empty queue. */
static bool openssl_failed(struct err *err, const char *what)
{
    char text[256];
    ERR_error_string_n(ERR_peek_last_error(), text, sizeof(text));
    ERR_clear_error();
    return err_set(err, ERR_INTERNAL, "%s: %s", what, text);
}

static BIO *bio_of(struct span text)
{
    return BIO_new_mem_buf(text.len != 0 ? text.ptr : "", (int)text.len);
}

static X509 *read_certificate(struct span pem)
{
    BIO *bio = bio_of(pem);
    X509 *x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return x;
}

static EVP_PKEY *read_key(struct span pem)
{
    BIO *bio = bio_of(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"");
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

static bool pair_read(const struct cert_pair *pem, struct pair *out, struct err *err)
{
    out->cert = read_certificate(pem->cert);
    out->key = read_key(pem->key);
    if (out->cert != NULL && out->key != NULL && X509_check_private_key(out->cert, out->key) == 1)
        return true;
    ERR_clear_error();
    bool missing = out->cert == NULL || out->key == NULL;
    pair_release(out);
    *out = (struct pair){NULL, NULL};
    return err_set(err, ERR_INVALID, missing ? "no PEM certificate and key could be read"
                                             : "certificate and key do not belong together");
}

static struct span bio_text(struct arena *a, BIO *bio)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    struct span text = arena_dup(a, (struct span){data, (size_t)len});
    BIO_free(bio);
    return text;
}

static bool pair_write(struct arena *a, const struct pair *p, struct cert_pair *out,
                       struct err *err)
{
    BIO *cert = BIO_new(BIO_s_mem()), *key = BIO_new(BIO_s_mem());
    bool ok = PEM_write_bio_X509(cert, p->cert) == 1 &&
              PEM_write_bio_PKCS8PrivateKey(key, p->key, NULL, NULL, 0, NULL, NULL) == 1;
    struct span cert_text = bio_text(a, cert), key_text = bio_text(a, key);
    if (!ok)
        return openssl_failed(err, "writing a certificate");
    *out = (struct cert_pair){cert_text, key_text};
    return true;
}

static bool set_serial(X509 *x)
{
    unsigned char bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive and of full length */
    BIGNUM *n = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool ok = BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)) != NULL;
    BN_free(n);
    return ok;
}

static bool set_times(X509 *x, wall_ms now, span_ms life)
{
    time_t at = (time_t)(now / MS_SECOND);
    return X509_time_adj_ex(X509_getm_notBefore(x), 0, -BACKDATE_S, &at) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(x), (int)(life / CERTS_DAY),
                            (long)(life % CERTS_DAY / MS_SECOND), &at) != NULL;
}

static bool add_extension(X509 *x, X509V3_CTX *ctx, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, ctx, nid, value);
    bool ok = e != NULL && X509_add_ext(x, e, -1) == 1;
    X509_EXTENSION_free(e);
    return ok;
}

struct extension {
    int nid;
    const char *value;
};

/* In order: an authority's key id is taken from a certificate that has its subject key id already. */
static bool add_extensions(X509 *x, X509 *issuer, const struct extension *list, size_t count)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
    for (size_t i = 0; i < count; i++)
        if (!add_extension(x, &ctx, list[i].nid, list[i].value))
            return false;
    return true;
}

static bool begin(struct pair *p, const char *common_name, wall_ms now, span_ms life)
{
    p->key = EVP_EC_gen("P-256");
    p->cert = X509_new();
    return p->key != NULL && p->cert != NULL &&
           X509_set_version(p->cert, X509_VERSION_3) == 1 && set_serial(p->cert) &&
           set_times(p->cert, now, life) && X509_set_pubkey(p->cert, p->key) == 1 &&
           X509_NAME_add_entry_by_txt(X509_get_subject_name(p->cert), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)common_name, -1, -1, 0) == 1;
}

static bool finish(const struct pair *p, X509 *issuer, EVP_PKEY *issuer_key,
                   const struct extension *list, size_t count)
{
    return X509_set_issuer_name(p->cert, X509_get_subject_name(issuer)) == 1 &&
           add_extensions(p->cert, issuer, list, count) &&
           X509_sign(p->cert, issuer_key, EVP_sha256()) > 0;
}

bool authority_new(struct arena *a, wall_ms now, span_ms term, struct cert_pair *out, struct err *err)
{
    static const struct extension list[] = {
        {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
        {NID_key_usage, "critical,keyCertSign,cRLSign"},
        {NID_subject_key_identifier, "hash"},
        {NID_authority_key_identifier, "keyid:always"},
    };
    struct pair p = {NULL, NULL};
    bool ok = begin(&p, "stowage-ca", now, ROTATION_TERMS * term) &&
              finish(&p, p.cert, p.key, list, COUNT_OF(list));
    ok = ok ? pair_write(a, &p, out, err) : openssl_failed(err, "making a CA");
    pair_release(&p);
    return ok;
}

static bool is_address(struct arena *a, struct span name)
{
    unsigned char bytes[16];
    const char *text = arena_cstr(a, name);
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool is_dns_name(struct span name)
{
    if (name.len == 0 || name.len > 253)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool edge = i == 0 || i + 1 == name.len;
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            (edge || (c != '-' && c != '.')))
            return false;
    }
    return true;
}

/* "DNS:a,IP:127.0.0.1"; empty without names. */
static bool put_names(struct arena *a, const struct cert_subject *s, struct buf *out,
                      struct err *err)
{
    for (uint32_t i = 0; i < s->name_count; i++) {
        bool address = is_address(a, s->names[i]);
        if (!address && !is_dns_name(s->names[i]))
            return err_set(err, ERR_INVALID, "\"%.*s\" is neither a DNS name nor an address",
                           SPAN_ARG(s->names[i]));
        buf_addf(out, "%s%s:%.*s", i != 0 ? "," : "", address ? "IP" : "DNS",
                 SPAN_ARG(s->names[i]));
    }
    return true;
}

static bool issue(const struct pair *ca, const struct cert_subject *s, const char *common_name,
                  const char *names, wall_ms now, struct pair *out)
{
    struct extension list[6] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, s->purpose == CERT_SERVER ? "serverAuth" : "clientAuth"},
        {NID_subject_key_identifier, "hash"},
        {NID_authority_key_identifier, "keyid:always"},
    };
    size_t count = 5;
    if (names[0] != '\0')
        list[count++] = (struct extension){NID_subject_alt_name, names};
    return begin(out, common_name, now, s->life != 0 ? s->life : CERTS_LEAF_LIFE) &&
           finish(out, ca->cert, ca->key, list, count);
}

bool authority_issue(struct arena *a, const struct cert_pair *ca, const struct cert_subject *subject,
                     wall_ms now, struct cert_pair *out, struct err *err)
{
    struct buf names = {0};
    struct pair signer = {NULL, NULL}, leaf = {NULL, NULL};
    bool ok = put_names(a, subject, &names, err) && pair_read(ca, &signer, err);
    if (ok) {
        ok = issue(&signer, subject, arena_cstr(a, subject->common_name), buf_span(&names).ptr, now,
                   &leaf);
        ok = ok ? pair_write(a, &leaf, out, err) : openssl_failed(err, "signing a certificate");
    }
    pair_release(&signer);
    pair_release(&leaf);
    buf_release(&names);
    return ok;
}

static wall_ms time_of(const ASN1_TIME *t)
{
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    ASN1_TIME_diff(&days, &seconds, epoch, t);
    ASN1_TIME_free(epoch);
    return days * CERTS_DAY + (wall_ms)seconds * MS_SECOND;
}

static struct rotation_cert described(const X509 *x)
{
    return (struct rotation_cert){.good = true,
                                  .issued = time_of(X509_get0_notBefore(x)) + ROTATION_BACKDATE,
                                  .until = time_of(X509_get0_notAfter(x))};
}

static bool in_time(const struct rotation_cert *c, wall_ms now, struct err *err)
{
    if (now < c->issued - ROTATION_BACKDATE)
        return err_set(err, ERR_INVALID, "it is not valid yet");
    if (now >= c->until)
        return err_set(err, ERR_INVALID, "it has expired");
    return true;
}

/* Used for two thirds of a life, renewed in the last. */
static bool fresh(const struct rotation_cert *c, wall_ms now, struct err *err)
{
    return in_time(c, now, err) && (!rotation_is_due(c, now) || err_set(err, ERR_INVALID, "it ends soon"));
}

bool authority_describe(const struct cert_pair *ca, struct rotation_cert *out, struct err *err)
{
    struct pair p = {NULL, NULL};
    bool ok = pair_read(ca, &p, err);
    if (ok && X509_check_ca(p.cert) == 0)
        ok = err_set(err, ERR_INVALID, "it is not a CA");
    if (ok)
        *out = described(p.cert);
    pair_release(&p);
    return ok;
}

static bool has_name(struct arena *a, X509 *x, struct span name)
{
    const char *text = arena_cstr(a, name);
    return is_address(a, name) ? X509_check_ip_asc(x, text, 0) == 1
                               : X509_check_host(x, text, 0, 0, NULL) == 1;
}

/* All of a PEM text; a new reference each. */
static X509_STORE *store_of(struct span pem, int *count_out)
{
    X509_STORE *store = X509_STORE_new();
    BIO *bio = bio_of(pem);
    *count_out = 0;
    for (X509 *x; (x = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL; X509_free(x))
        *count_out += X509_STORE_add_cert(store, x);
    BIO_free(bio);
    ERR_clear_error();
    return store;
}

static bool signed_by(struct span cas, X509 *x, enum cert_purpose purpose, struct err *err)
{
    int count;
    X509_STORE *store = store_of(cas, &count);
    if (count == 0) {
        X509_STORE_free(store);
        return err_set(err, ERR_INVALID, "its CA cannot be read");
    }
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509_STORE_CTX_init(ctx, store, x, NULL);
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_purpose(param, purpose == CERT_SERVER ? X509_PURPOSE_SSL_SERVER
                                                                : X509_PURPOSE_SSL_CLIENT);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_NO_CHECK_TIME); /* rotation.c's business */
    bool ok = X509_verify_cert(ctx) == 1;
    if (!ok)
        err_set(err, ERR_INVALID, "%s",
                X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    ERR_clear_error();
    return ok;
}

bool authority_signed(struct span cas, struct span cert, enum cert_purpose purpose, struct err *err)
{
    X509 *x = read_certificate(cert);
    bool ok = x != NULL ? signed_by(cas, x, purpose, err) : err_set(err, ERR_INVALID, "it cannot be read");
    X509_free(x);
    return ok;
}

static bool describe_leaf(struct span cas, const struct pair *p, enum cert_purpose purpose, struct rotation_cert *out,
                          struct err *err)
{
    bool ok = signed_by(cas, p->cert, purpose, err);
    if (ok)
        *out = described(p->cert);
    return ok;
}

bool authority_describe_leaf(struct span cas, const struct cert_pair *pair, enum cert_purpose purpose,
                             struct rotation_cert *out, struct err *err)
{
    struct pair p = {NULL, NULL};
    if (!pair_read(pair, &p, err))
        return false;
    bool ok = describe_leaf(cas, &p, purpose, out, err);
    pair_release(&p);
    return ok;
}

static bool names_are_in(X509 *x, const struct cert_subject *s, struct err *err)
{
    struct arena a;
    arena_init(&a, 0);
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->name_count; i++)
        if (!has_name(&a, x, s->names[i]))
            ok = err_set(err, ERR_INVALID, "it does not name %.*s", SPAN_ARG(s->names[i]));
    arena_release(&a);
    return ok;
}

bool authority_names(struct span cert, const struct cert_subject *s, struct err *err)
{
    X509 *x = read_certificate(cert);
    bool ok = x != NULL ? names_are_in(x, s, err) : err_set(err, ERR_INVALID, "it cannot be read");
    X509_free(x);
    return ok;
}

bool authority_check(struct span cas, const struct cert_pair *pair, const struct cert_subject *subject,
                     wall_ms now, struct err *err)
{
    struct rotation_cert c;
    struct pair p = {NULL, NULL};
    bool ok = pair_read(pair, &p, err) && describe_leaf(cas, &p, subject->purpose, &c, err) && fresh(&c, now, err) &&
              names_are_in(p.cert, subject, err);
    pair_release(&p);
    return ok;
}

bool cert_pair_usable(const struct cert_pair *pair, wall_ms now, struct err *err)
{
    struct pair p = {NULL, NULL};
    if (!pair_read(pair, &p, err))
        return false;
    struct rotation_cert c = described(p.cert);
    pair_release(&p);
    return in_time(&c, now, err);
}

bool cert_not_after(struct span pem, wall_ms *out)
{
    X509 *x = read_certificate(pem);
    if (x == NULL)
        return false;
    *out = time_of(X509_get0_notAfter(x));
    X509_free(x);
    return true;
}
