/* webhook_configuration: what the API server is told of our webhook. */
#ifndef CERTS_WEBHOOK_CONFIGURATION_H
#define CERTS_WEBHOOK_CONFIGURATION_H

#include "base/arena.h"
#include "base/doc.h"

#define WEBHOOK_CONFIGURATION "stowage"

struct webhook_seen { /* in the arena; all absent and false: the object has no webhook of our name */
    bool there;
    struct span uid, version; /* of the object */
    struct span bundle;       /* PEM; absent: none that can be read */
};

struct webhook_seen webhook_look(struct arena *a, struct doc_value object);

/* For server-side apply: our caBundle and nothing else. With the object's uid and resourceVersion, so that one that was
 * deleted or written meanwhile is left as it is. */
struct span webhook_bundle_patch(struct arena *a, const struct webhook_seen *seen, struct span ca);

#endif
