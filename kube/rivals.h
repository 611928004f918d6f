/* rivals: is another autoscaler at work in this cluster?
 *
 * Lists Leases of given names in all namespaces every 10 s. One is live when its holder is not
 * empty and its record changed within its own leaseDurationSeconds on our clock; the first sight
 * counts as a change, so that a Lease left behind holds us up for one duration and no longer. A
 * Lease held by our own identity is no rival. API thread. */
#ifndef KUBE_RIVALS_H
#define KUBE_RIVALS_H

#include "kube/api.h"

enum rivals_verdict {
    RIVALS_UNKNOWN, /* not every name has been looked up yet: do not act */
    RIVALS_LIVE,
    RIVALS_NONE,
};

enum {
    RIVALS_PERIOD_MS = 10 * MS_SECOND,
    RIVALS_MAX = 16 /* Leases kept in mind; more are counted live */
};

/* Leases of the autoscalers that we know of: Karpenter's and Cluster Autoscaler's. */
enum { RIVALS_KNOWN = 2 };
extern const struct span rivals_known[RIVALS_KNOWN];

struct rivals;

/* Names, e.g. karpenter-leader-election and cluster-autoscaler; copied. */
struct rivals *rivals_new(struct api *api, const struct span *names, size_t count,
                          struct span identity);
void rivals_free(struct rivals *r); /* no request may be under way */

mono_ms rivals_step(struct rivals *r, mono_ms now); /* as lease_step */
enum rivals_verdict rivals_verdict(const struct rivals *r);
/* "karpenter/karpenter-leader-election, held by karpenter-7f9"; absent unless RIVALS_LIVE. Until
 * the next step. */
struct span rivals_text(const struct rivals *r);
const struct err *rivals_error(const struct rivals *r); /* of the last look-up */

#endif
