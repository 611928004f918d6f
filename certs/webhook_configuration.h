/* webhook_configuration: what the API server is told of our webhook. */
#ifndef CERTS_WEBHOOK_CONFIGURATION_H
#define CERTS_WEBHOOK_CONFIGURATION_H

#include "base/arena.h"
#include "base/doc.h"

#define WEBHOOK_CONFIGURATION "stowage"

enum webhook_state {
    WEBHOOK_ABSENT,  /* the object has no webhook of our name */
    WEBHOOK_STALE,   /* it has, with another caBundle or none */
    WEBHOOK_CURRENT,
};

enum webhook_state webhook_state_of(struct arena *a, struct doc_value object, struct span ca,
                                    struct span *uid_out);

/* For server-side apply: our caBundle and nothing else. With the object's uid, so that one that was
 * deleted meanwhile is not made again. */
struct span webhook_bundle_patch(struct arena *a, struct span uid, struct span ca);

#endif
