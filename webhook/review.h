/* review: what the API server is told about an object that is being written (admission.k8s.io/v1).
 *
 * Pure: AdmissionReview bytes in, AdmissionReview bytes out. A NodePool that passes the schema and breaks a rule of
 * kube/pool_validate.h is denied with 422 and one sentence a field, unless it broke it before the update (the same
 * sentence, of whatever field); that, and what kube/pool_warnings.h finds, is told in warnings, which kubectl prints: the
 * first 16 of them. Everything else is allowed. Deletions,
 * subresources and what is being deleted are always allowed, so that a finalizer comes off whatever the object looks like.
 *
 * The answer is the same for a dry run, and depends on the review and the rules alone. */
#ifndef WEBHOOK_REVIEW_H
#define WEBHOOK_REVIEW_H

#include "kube/requirement.h"
#include "webhook/envelope.h"

struct webhook_rules { /* immutable, used by all threads at once */
    const struct label_rules *labels;
    bool strict;               /* --strict-admission: what is only a warning is refused, too */
    const struct symtab *syms; /* in which the ids of `labels` hold, made by kube_symtab_new */
};

/* False with ERR_INVALID: the bytes are no AdmissionReview with a request and its uid (HTTP 400). */
bool webhook_review(struct webhook_scratch *s, const struct webhook_rules *rules, struct span body,
                    struct buf *reply, enum webhook_answer *answer_out, struct err *err);

#endif
