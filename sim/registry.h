/* registry: what the API server does with one request: checks, defaults, locks, and the rules about
 * deletion. Pure but for the objects given; the clock is theirs. */
#ifndef SIM_REGISTRY_H
#define SIM_REGISTRY_H

#include "sim/objects.h"

struct reply {
    int status;
    json_t *body; /* owned: the object, or a Status */
    struct span reason, message, cause; /* of a failure, inside body */
    int32_t retry_after_s; /* -1: none */
};

void registry_do(struct objects *o, const struct api_request *r, struct reply *out);
void reply_release(struct reply *r);

/* Puts an object as it is, status included; what is missing of its metadata is made up. */
void registry_import(struct objects *o, enum kind k, json_t *object);

/* ---- for the registry's own files and the stand-ins ---- */

/* Always false, so that `return reply_fail(…)` reads as one step. */
bool reply_fail(struct reply *r, int status, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void reply_cause(struct reply *r, const char *reason, const char *message);
void reply_object(struct reply *r, int status, const json_t *object);
void reply_success(struct reply *r, int status);

/* `nodeclaims.karpenter.sh "x"`, for messages. */
const char *registry_label(char out[OBJECTS_KEY_MAX], enum kind k, struct span name);
bool registry_not_found(struct reply *r, enum kind k, struct span name);

/* Replaces `old` by `fresh` (taken) under all rules of an update. */
bool registry_store(struct objects *o, enum kind k, const json_t *old, json_t *fresh,
                    struct span subresource, struct reply *out);
bool registry_create(struct objects *o, const struct api_request *r, json_t *object /* taken */,
                     struct reply *out);
/* metadata.managedFields after a write of a Pod's status, in so far as somebody reads it: who nominated it. */
void registry_keep_writer(const struct objects *o, const json_t *old, json_t *fresh);
bool registry_apply(struct objects *o, const struct api_request *r, json_t *body /* taken */,
                    struct reply *out);
/* options: DeleteOptions or NULL. */
bool registry_delete(struct objects *o, enum kind k, const json_t *object, const json_t *options,
                     struct reply *out);
/* GET and merge patch of a scale. */
bool registry_scale(struct objects *o, const struct api_request *r, const json_t *old, const json_t *patch,
                    struct reply *out);
bool registry_evict(struct objects *o, const struct api_request *r, const json_t *eviction,
                    struct reply *out);

/* Schema defaults of an object about to be stored (spec api 3.4, and Kubernetes' own where
 * scheduling sees them). */
void defaults_fill(enum kind k, json_t *object);
/* What only a creation adds: admission's tolerations of pods and taint of nodes, first status. */
void defaults_create(enum kind k, json_t *object);

/* For the stand-ins: one write, its outcome thrown away but for success. */
bool registry_put_status(struct objects *o, enum kind k, const json_t *old, json_t *fresh);

#endif
