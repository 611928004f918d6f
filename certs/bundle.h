/* bundle: the caBundle of a webhook, or the CAs of the scheduler, as a set of certificates. Whoever reads one adds what it lacks and takes out what is
 * known to be over; only who has just made the change of a CA takes out the rest. So two that mean different things do not
 * overwrite each other again and again. */
#ifndef CERTS_BUNDLE_H
#define CERTS_BUNDLE_H

#include "base/arena.h"
#include "base/units.h"

enum { BUNDLE_MAX = 16 }; /* certificates; others' beyond that go */

struct bundle_change { /* PEM texts, of one or several certificates */
    struct span want; /* has to be in it */
    struct span drop; /* need not be any more */
    bool exact;       /* nothing but `want` */
};

/* What `have` (PEM) is to become; absent: it will do as it is. */
struct span bundle_next(struct arena *a, struct span have, const struct bundle_change *change, wall_ms now);
/* Whether each certificate of `certs` is in it. */
bool bundle_has(struct span bundle, struct span certs);

#endif
