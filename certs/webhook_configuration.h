/* webhook_configuration: what the API server is told of our webhook. */
#ifndef CERTS_WEBHOOK_CONFIGURATION_H
#define CERTS_WEBHOOK_CONFIGURATION_H

#include "base/arena.h"
#include "base/doc.h"
#include "kube/kind.h"

enum webhook_object { /* manifests/webhooks.yaml, manifests/shaping/webhooks.yaml */
    WEBHOOK_VALIDATING,
    WEBHOOK_MUTATING,
    WEBHOOK_OBJECT_COUNT,
};
enum kind webhook_kind(enum webhook_object which);
const char *webhook_name(enum webhook_object which); /* of the object */
struct span webhook_told(struct arena *a, enum webhook_object which); /* "ValidatingWebhookConfiguration stowage" */

struct webhook_seen { /* in the arena; all absent and false: the object has no webhook of ours (NAME.webhook.stowage.dev) */
    bool there;
    struct span uid, version;  /* of the object */
    const struct span *names;  /* of ours in it */
    uint32_t count;
    struct span bundle;        /* PEM; absent: none that can be read, or not the same in all of ours */
};

struct webhook_seen webhook_look(struct arena *a, struct doc_value object);

/* For server-side apply: the caBundle of those that were seen, and nothing else. With the object's uid and
 * resourceVersion, so that one that was deleted or written meanwhile is left as it is. */
struct span webhook_bundle_patch(struct arena *a, enum webhook_object which, const struct webhook_seen *seen, struct span ca);

#endif
