/* keyring: what Secret stowage-certs holds, and what rotation.h finds due done to it. No I/O: time is an argument. */
#ifndef CERTS_KEYRING_H
#define CERTS_KEYRING_H

#include "base/doc.h"
#include "certs/authority.h"
#include "certs/secrets.h"

enum { KEYRING_ENTRIES = 7 };

struct keyring { /* PEM; what is absent or cannot be read is what rotation.h calls not good */
    struct cert_pair current, next, leaf;
    struct span old; /* the CA before, or empty */
    struct rotation_state state; /* what keyring_describe made of them: reading keys takes milliseconds */
};

struct keyring_policy {
    struct cert_subject serving; /* of the leaf */
    span_ms term;                /* --ca-life */
    bool announced;              /* as in struct rotation_state */
};

struct keyring keyring_read(struct arena *a, struct doc_value secret); /* not described yet */
void keyring_entries(const struct keyring *k, struct secret_entry out[KEYRING_ENTRIES]);
struct keyring keyring_dup(struct arena *a, const struct keyring *k);

/* Sets `state`, in which `announced` is false. err: what is wrong with the first that is; ERR_NONE: nothing, but for what is
 * not there. */
void keyring_describe(struct keyring *k, struct err *err);

/* Both are described, before and after. What cannot be used any more, and can in what we `hold`, is taken from there, so that
 * a Secret that is deleted or spoilt costs nobody anything. True: something was, and err, which says what keyring_describe
 * found wrong, says why. */
bool keyring_salvage(struct arena *a, struct keyring *k, const struct keyring *hold, wall_ms now, struct err *err);
/* Does all that is due in what is described, before and after. *renewed_out: something was; *ca_out: another CA signs now. */
bool keyring_settle(struct arena *a, struct keyring *k, const struct keyring_policy *policy, wall_ms now,
                    bool *renewed_out, bool *ca_out, struct err *err);

/* PEM texts, one after another. */
struct span keyring_announced(struct arena *a, const struct keyring *k); /* current and next: what a scheduler reads */
struct span keyring_clients(struct arena *a, const struct keyring *k);   /* and the old one: who may have signed a client's */

#endif
