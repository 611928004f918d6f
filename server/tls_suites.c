#include "server/tls_suites.h"

#include "base/arena.h"

static const struct suite {
    const char *name, *openssl; /* NULL: of TLS 1.3 */
    bool is_default;            /* an AEAD suite */
} suites[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", true},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", true},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", true},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", true},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305", true},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", true},
    /* Older names of the two, which Kubernetes takes, too. */
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305", false},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", false},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256", false},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256", false},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA", false},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA", false},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA", false},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA", false},
    {"TLS_AES_128_GCM_SHA256", NULL, false},
    {"TLS_AES_256_GCM_SHA384", NULL, false},
    {"TLS_CHACHA20_POLY1305_SHA256", NULL, false},
};

static const struct suite *find_suite(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(suites); i++)
        if (strcmp(suites[i].name, name) == 0)
            return &suites[i];
    return NULL;
}

static bool refuse_suite(const char *name, struct err *err)
{
    struct buf known = {0};
    for (size_t i = 0; i < COUNT_OF(suites); i++)
        buf_addf(&known, "%s%s", i != 0 ? ", " : "", suites[i].name);
    err_set(err, ERR_INVALID, "\"%s\" is not a supported cipher suite; supported are %.*s", name, (int)known.len, known.ptr);
    buf_release(&known);
    return false;
}

static void add_suite(struct buf *out, const struct suite *s)
{
    if (s->openssl != NULL)
        buf_addf(out, "%s%s", out->len != 0 ? ":" : "", s->openssl);
}

bool tls_suites_list(struct buf *out, const char *const *names, uint32_t count, struct err *err)
{
    for (size_t i = 0; count == 0 && i < COUNT_OF(suites); i++)
        if (suites[i].is_default)
            add_suite(out, &suites[i]);
    for (uint32_t i = 0; i < count; i++) {
        const struct suite *s = find_suite(names[i]);
        if (s == NULL)
            return refuse_suite(names[i], err);
        add_suite(out, s);
    }
    return true;
}
