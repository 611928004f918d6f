/* authority: a small certificate authority of our own (P-256, PEM in memory).
 *
 * One CA signs the serving certificate of webhook and extender and the client certificate that
 * kube-scheduler shows. Time is an argument. What comes out lives in the arena; whoever holds a
 * pair's key may sign with it, so it goes into a Secret and nowhere else. */
#ifndef CERTS_AUTHORITY_H
#define CERTS_AUTHORITY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"
#include "certs/rotation.h"

#define CERTS_DAY ((span_ms)24 * MS_HOUR)
#define CERTS_CA_LIFE (3650 * CERTS_DAY) /* a term: how long a CA signs */
#define CERTS_LEAF_LIFE (365 * CERTS_DAY)
/* A life that is shorter leaves no time for all replicas to look. */
#define CERTS_LEAF_LIFE_MIN (5 * MS_SECOND)
#define CERTS_LIFE_MAX (36500 * CERTS_DAY)
/* Of leaf lives in a term, so that a CA outlasts what it signs. */
enum { CERTS_LEAVES_IN_A_TERM = 2 };

struct cert_pair { /* PEM; the key is PKCS#8 */
    struct span cert, key;
};

enum cert_purpose { CERT_SERVER, CERT_CLIENT };

struct cert_subject {
    struct span common_name;
    enum cert_purpose purpose;
    const struct span *names; /* DNS names and IP addresses, told apart by their shape */
    uint32_t name_count;
    span_ms life; /* 0: CERTS_LEAF_LIFE */
};

/* Valid for ROTATION_TERMS times `term`. */
bool authority_new(struct arena *a, wall_ms now, span_ms term, struct cert_pair *out, struct err *err);
/* ERR_INVALID: a name is neither a DNS name nor an address, or the CA cannot be read. */
bool authority_issue(struct arena *a, const struct cert_pair *ca, const struct cert_subject *subject,
                     wall_ms now, struct cert_pair *out, struct err *err);

/* What a CA says of itself, whatever the time; false: it cannot sign, and err says why. */
bool authority_describe(const struct cert_pair *ca, struct rotation_cert *out, struct err *err);
/* A leaf's: key and certificate belong together, and one of `cas` (PEM) signed it for this purpose. */
bool authority_describe_leaf(struct span cas, const struct cert_pair *pair, enum cert_purpose purpose,
                             struct rotation_cert *out, struct err *err);
/* Whether one of `cas` (PEM) signed a certificate for this purpose, whatever the time. */
bool authority_signed(struct span cas, struct span cert, enum cert_purpose purpose, struct err *err);
/* Whether a certificate carries each of the subject's names. */
bool authority_names(struct span cert, const struct cert_subject *subject, struct err *err);
/* All of it: whether the pair can be used now and for a third of its life more. */
bool authority_check(struct span cas, const struct cert_pair *pair, const struct cert_subject *subject,
                     wall_ms now, struct err *err);

/* Whether a pair of whatever CA can be used now. */
bool cert_pair_usable(const struct cert_pair *pair, wall_ms now, struct err *err);
/* The end of the first certificate in a PEM text; false: there is none. */
bool cert_not_after(struct span pem, wall_ms *out);

#endif
