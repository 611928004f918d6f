/* envelope: the AdmissionReview around what is asked and answered (admission.k8s.io/v1).
 *
 * Only the request's head is decoded for every review; objects stay documents, for the rule that is asked. */
#ifndef WEBHOOK_ENVELOPE_H
#define WEBHOOK_ENVELOPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"

/* Kept per thread: parser buffers and an arena, emptied by each review. */
struct webhook_scratch {
    struct doc_parser *parser;
    struct arena arena;
};

struct webhook_request { /* in the arena and the parser, until the next review */
    struct span uid, operation, subresource, ns;
    struct {
        struct span group, version, resource;
    } of;
    bool has_object, has_old, has_options;
    bool dry_run; /* nothing comes of it: nothing may be remembered */
    struct doc_value object, old, options; /* where there are; options: CreateOptions, DeleteOptions… */
};

struct webhook_response {
    struct span refusal; /* empty: it is let through */
    struct span *warnings;
    uint32_t warning_count;
    struct span patch; /* a JSON Patch; empty: nothing is changed. Only where the API server asks for one */
};

enum webhook_answer { /* the metric's label */
    WEBHOOK_ALLOWED,
    WEBHOOK_DENIED,
    WEBHOOK_NOT_OURS, /* allowed: no rule for such an object or operation */
    WEBHOOK_SHAPED,   /* a Pod that was changed as it, or its namespace, asked */
    WEBHOOK_UNCHECKED, /* allowed, since it was over its budget before all was checked (budget.h) */
    WEBHOOK_UNSHAPED, /* one that asked in vain, for a reason that it was warned of */
    WEBHOOK_ANSWER_COUNT,
};
const char *webhook_answer_name(enum webhook_answer a); /* "allowed", "denied", "not-ours", "shaped", "unchecked",
                                                     "unshaped" */

/* False with ERR_INVALID: the bytes are no AdmissionReview with a request and its uid (HTTP 400). Empties the arena. */
bool webhook_read(struct webhook_scratch *s, struct span body, struct webhook_request *out, struct err *err);
bool webhook_is(const struct webhook_request *r, const char *group, const char *version, const char *resource);
void webhook_write(struct buf *reply, const struct webhook_request *r, const struct webhook_response *response);

/* Of an object; absent: it has none, or it is no string. */
struct span webhook_metadata(struct doc_value object, const char *key);

#endif
