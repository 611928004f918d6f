/* review: what the API server is told about an object that is being written (admission.k8s.io/v1).
 *
 * Pure: AdmissionReview bytes in, AdmissionReview bytes out. A NodePool that passes the schema and breaks a rule of
 * kube/pool_validate.h is denied with 422 and one sentence a field, unless it broke it before the update (the same
 * sentence, of whatever field); that, and what kube/pool_warnings.h finds, is told in warnings, which kubectl prints: the
 * first 16 of them. Everything else is allowed, unchanged: Pods too, until a rule for them is registered here. Deletions,
 * subresources and what is being deleted are always allowed, so that a finalizer comes off whatever the object looks like.
 *
 * The answer is the same for a dry run, and depends on the review and the rules alone. */
#ifndef WEBHOOK_REVIEW_H
#define WEBHOOK_REVIEW_H

#include "base/buf.h"
#include "kube/requirement.h"

struct webhook_rules { /* immutable, used by all threads at once */
    const struct label_rules *labels;
    bool strict;               /* --strict-admission: what is only a warning is refused, too */
    const struct symtab *syms; /* in which the ids of `labels` hold, made by kube_symtab_new */
};

/* Kept per thread: parser buffers and an arena, emptied by each call. */
struct webhook_scratch {
    struct doc_parser *parser;
    struct arena arena;
};

enum webhook_answer { /* the metric's label */
    WEBHOOK_ALLOWED,
    WEBHOOK_DENIED,
    WEBHOOK_NOT_OURS, /* allowed: no rule for such an object or operation */
    WEBHOOK_ANSWER_COUNT,
};
const char *webhook_answer_name(enum webhook_answer a); /* "allowed", "denied", "not-ours" */

/* False with ERR_INVALID: the bytes are no AdmissionReview with a request and its uid (HTTP 400). */
bool webhook_review(struct webhook_scratch *s, const struct webhook_rules *rules, struct span body,
                    struct buf *reply, enum webhook_answer *answer_out, struct err *err);

#endif
