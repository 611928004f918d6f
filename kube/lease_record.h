/* lease_record: what a Lease object says and when that last changed, for lease.c and rivals.c. */
#ifndef KUBE_LEASE_RECORD_H
#define KUBE_LEASE_RECORD_H

#include "kube/api.h"

enum {
    LEASE_TEXT_MAX = 256 /* of holders in messages; longer ones are cut, and compared by hash */
};

struct lease_record {
    uint64_t print;   /* of all that counts as a change: 0 before the first look */
    bool held;        /* holderIdentity is not empty */
    bool mine;        /* it is `identity` */
    span_ms duration; /* leaseDurationSeconds; 15 s when it says nothing of use */
    int64_t transitions;
    mono_ms changed; /* for the holder of the record to set, when a look found a change */
    char holder[LEASE_TEXT_MAX];
    char acquired[64]; /* as it was written */
    char version[128]; /* resourceVersion; "" when too long or missing */
};

/* Reads an object over the record; true when it is not the same as before (or was never seen). */
bool lease_record_read(struct lease_record *r, struct doc_value object, struct span identity);

/* Somebody holds it and is not late yet. */
bool lease_record_live(const struct lease_record *r, mono_ms now);

#endif
