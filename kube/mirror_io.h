/* mirror_io: some kinds of another API server than the one whose cluster we keep, as snapshots of a store of their own, and
 * requests to it. A client and a thread of its own: one that is away holds up nothing else.
 *
 * Memory: the store's and the client's (kube/store.h, kube/client_io.h), for these kinds alone. */
#ifndef KUBE_MIRROR_IO_H
#define KUBE_MIRROR_IO_H

#include "kube/client_io.h"
#include "kube/store.h"

struct mirror_config {
    const struct client_config *cluster; /* copied */
    const struct client_policy *policy;  /* copied; acts_until is asked in the mirror's thread */
    const enum kind *kinds;              /* ends with KIND_NONE */
};

struct mirror;

/* Connects to nothing yet. ERR_INVALID, or a credential's file that cannot be read. */
bool mirror_new(const struct mirror_config *config, struct mirror **out, struct err *err);
struct api *mirror_api(struct mirror *m); /* any thread may send; callbacks run in the mirror's */
/* Publishes struct snapshot; nothing before mirror_start. Its kind_state says of each kind whether it is listed, and
 * whether the API server is away. */
struct share *mirror_snapshots(struct mirror *m);
void mirror_start(struct mirror *m);
/* Ends the thread. Acts that have not left end with ERR_CANCELLED; for the answers of those that have a second is waited. */
void mirror_stop(struct mirror *m);
/* What is pending ends with ERR_CANCELLED, within the call. No reader of snapshots is left. NULL is fine. */
void mirror_free(struct mirror *m);

#endif
