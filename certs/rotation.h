/* rotation: what is due in the certificates that all replicas share.
 *
 * Pure. There are always two CAs: the current one signs, the next one is only announced, that is, it stands
 * in the webhook's caBundle and in the scheduler's CA file. After one *term* of that (a third of what it is
 * valid) it becomes the current one, and another is announced. So a scheduler, which reads its CA file once,
 * trusts us for a term at least, and the API server has had one to hear of a CA before it meets a leaf of it.
 * A CA that no longer signs stays trusted for clients until it ends, another term later, which is longer than
 * anything that it signed lasts.
 *
 * Certificates say themselves how long they last, so that replicas with different options do not undo each other's. */
#ifndef CERTS_ROTATION_H
#define CERTS_ROTATION_H

#include <stdbool.h>

#include "base/units.h"

/* Clocks of a cluster differ: a certificate is valid so long before it is issued. */
#define ROTATION_BACKDATE (5 * (span_ms)MS_MINUTE)
enum { ROTATION_TERMS = 3 }; /* of a CA: announced, current, trusted for what it signed */

struct rotation_cert {
    bool good; /* it is there and can be read, its key belongs to it, and for the leaf: the current CA signed it */
    wall_ms issued, until;
};

struct rotation_state {
    struct rotation_cert current, next, leaf;
    struct rotation_cert old; /* the CA before; it needs no key */
    bool announced;           /* the next CA stands in the caBundle, or no caBundle is ours to write */
};

enum rotation_step {
    ROTATION_NONE,
    ROTATION_WAIT,       /* the current CA begins in the future: a clock is wrong, and nothing is thrown away for that */
    ROTATION_NEW_CA,     /* no CA can sign: a current and a next one anew, and a leaf; nobody trusts them yet */
    ROTATION_ISSUE_NEXT,
    ROTATION_PROMOTE,    /* current becomes old, next becomes current; a next one and a leaf are due at once */
    ROTATION_RENEW_LEAF,
    ROTATION_DROP_OLD,
};

/* The first thing that is due. Doing all of them, one after another, ends after a handful; what came of it is written in
 * one piece, so that a crash leaves the state of before or of after. */
enum rotation_step rotation_next(const struct rotation_state *s, wall_ms now);
const char *rotation_step_name(enum rotation_step step); /* "promote"…; static storage */

/* Whether the CA before belongs into the caBundle: some replica may serve its leaf still. */
bool rotation_trusts_old(const struct rotation_state *s, wall_ms now);
/* How often replicas look at what they share: at least 20 times in a leaf's life, and twice a minute. */
span_ms rotation_pause(const struct rotation_cert *leaf);
/* From announcing a CA to using it at the least, and from using the next to dropping it: all have looked. */
span_ms rotation_settling(const struct rotation_cert *next);

/* Whether it is good, has begun and has not ended. */
bool rotation_is_usable(const struct rotation_cert *c, wall_ms now);
/* Whether a leaf has used up two thirds of its life. */
bool rotation_is_due(const struct rotation_cert *leaf, wall_ms now);

#endif
