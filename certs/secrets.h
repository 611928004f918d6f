/* secrets: the two Secrets that carry certificates, between bytes and texts. */
#ifndef CERTS_SECRETS_H
#define CERTS_SECRETS_H

#include "certs/authority.h"
#include "kube/api.h"

#define SECRET_CERTS "stowage-certs"
#define SECRET_CLIENT "stowage-scheduler-client"
#define SECRET_CLIENT_SUBJECT "stowage-scheduler" /* the common name of its certificate */

struct secret_entry {
    const char *key; /* "tls.crt" */
    struct span value;
};

/* The value of a key of a Secret's data, decoded; absent when missing or not base64. */
struct span secret_get(struct arena *a, struct doc_value secret, const char *key);
/* A Secret for CREATE (`version` absent) or a merge patch of its data, locked to a resourceVersion. */
struct span secret_body(struct arena *a, struct span ns, const char *name, struct span version,
                        const struct secret_entry *entries, size_t count);
struct span secret_version(struct arena *a, struct doc_value object); /* metadata.resourceVersion */

#endif
