/* authority: a small certificate authority of our own (P-256, PEM in memory).
 *
 * One CA signs the serving certificate of webhook and extender and the client certificate that
 * kube-scheduler shows. Time is an argument. What comes out lives in the arena; whoever holds a
 * pair's key may sign with it, so it goes into a Secret and nowhere else. */
#ifndef CERTS_AUTHORITY_H
#define CERTS_AUTHORITY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/units.h"

#define CERTS_DAY ((span_ms)24 * MS_HOUR)
#define CERTS_CA_LIFE (3650 * CERTS_DAY)
#define CERTS_LEAF_LIFE (365 * CERTS_DAY)

struct cert_pair { /* PEM; the key is PKCS#8 */
    struct span cert, key;
};

enum cert_purpose { CERT_SERVER, CERT_CLIENT };

struct cert_subject {
    struct span common_name;
    enum cert_purpose purpose;
    const struct span *names; /* DNS names and IP addresses, told apart by their shape */
    uint32_t name_count;
};

bool authority_new(struct arena *a, wall_ms now, struct cert_pair *out, struct err *err);
/* ERR_INVALID: a name is neither a DNS name nor an address, or the CA cannot be read. */
bool authority_issue(struct arena *a, const struct cert_pair *ca, const struct cert_subject *subject,
                     wall_ms now, struct cert_pair *out, struct err *err);

/* Whether a CA can sign now and for a third of its life more; err says why not. */
bool authority_usable(const struct cert_pair *ca, wall_ms now, struct err *err);
/* Whether the pair can be used now and for a third of its life more: key and certificate belong
 * together, `ca_cert` signed it for this purpose, and it carries each of the names. */
bool authority_check(struct span ca_cert, const struct cert_pair *pair,
                     const struct cert_subject *subject, wall_ms now, struct err *err);

/* The end of the first certificate in a PEM text; false: there is none. */
bool cert_not_after(struct span pem, wall_ms *out);

#endif
