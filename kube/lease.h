/* lease: leader election on a Lease (spec contracts 4.12), as a step function on a given clock.
 *
 * All functions on the API thread, but lease_leads_until. Expiry is measured on our own clock from
 * the moment at which a change of the record was seen; only the rate of clocks matters. We lead
 * from the moment at which the request of the last successful renewal was *sent*, until
 * renew_deadline later, whatever else happens: a thread that is about to act asks
 * lease_leads_until. */
#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include <stdatomic.h>

#include "kube/api.h"

struct lease_config {               /* texts are copied */
    struct span ns, name, identity; /* identity: unique to the process, "<hostname>_<uuid>" */
    span_ms duration;               /* 0: 15 s. Whole seconds, at least 1 */
    span_ms renew_deadline;         /* 0: two thirds of the duration (10 s) */
    span_ms retry;                  /* 0: two fifteenths of the duration (2 s) */
    uint64_t seed;                  /* of the jitter */
};

struct lease_listener {
    void *user;
    /* In lease_step. On loss, api->cancel_acts was called before. `holder` is who leads now,
     * absent: nobody. */
    void (*changed)(void *user, bool leading, struct span holder);
};

struct lease;

bool lease_new(const struct lease_config *config, struct api *api,
               const struct lease_listener *listener, struct lease **out,
               struct err *err); /* refuses durations that cannot work */
void lease_free(
    struct lease *l); /* no request may be under way: after the api is gone, or when idle */

/* Does what is due; call after every poll. Returns when to call next at the latest. */
mono_ms lease_step(struct lease *l, mono_ms now, wall_ms wall);
/* Stops leading and hands the Lease back (holderIdentity ""); keep stepping until lease_released.
 * All of the leader's work has ended before. */
void lease_release(struct lease *l);
bool lease_released(const struct lease *l);

/* Any thread: we lead while the monotonic clock is before this; 0: not. */
mono_ms lease_leads_until(const struct lease *l);
struct span lease_holder(const struct lease *l); /* absent: nobody, or not known yet */
const struct err *
lease_error(const struct lease *l); /* of the last request, kind ERR_NONE: it went well */

#endif
