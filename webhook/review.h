/* review: what the API server is told about an object that is being written (admission.k8s.io/v1).
 *
 * Pure: AdmissionReview bytes in, AdmissionReview bytes out. A NodePool that passes the schema and breaks a rule of
 * kube/pool_validate.h is denied with 422 and one sentence a field, unless it broke it before the update (the same
 * sentence, of whatever field); that, and what kube/pool_warnings.h finds, is told in warnings, which kubectl prints: the
 * first 16 of them. NodeOverlays in the same way, by kube/overlay.h; of NodeClaims (kube/claim_warnings.h) and KWOKNodeClasses
 * (kube/class_warnings.h) nothing but warnings. While all that it takes is listed, so is what other objects make of it
 * (neighbours.h), which never refuses anything, and of a pool that is deleted what goes with it.
 * Everything else is allowed: subresources and what is being deleted always, so that a finalizer comes off whatever the
 * object looks like.
 *
 * What is over its budget (budget.h) is allowed, with a warning that it was not fully checked.
 *
 * The answer is the same for a dry run, and depends on the review, the rules, the snapshot and the
 * budget alone. */
#ifndef WEBHOOK_REVIEW_H
#define WEBHOOK_REVIEW_H

#include "kube/requirement.h"
#include "kube/store.h"
#include "webhook/budget.h"
#include "webhook/envelope.h"

struct webhook_rules { /* immutable, used by all threads at once */
    const struct label_rules *labels;
    bool strict;               /* --strict-admission: what is only a warning is refused, too */
    bool overlays;             /* the gate NodeOverlay */
    const struct symtab *syms; /* in which the ids of `labels` hold, made by kube_symtab_new */
};

struct review_sources {
    const struct webhook_rules *rules;
    const struct snapshot *snapshot; /* NULL before all was listed */
    struct review_budget budget;
};

/* False with ERR_INVALID: the bytes are no AdmissionReview with a request and its uid (HTTP 400). */
bool webhook_review(struct webhook_scratch *s, const struct review_sources *from, struct span body, struct buf *reply,
                    enum webhook_answer *answer_out, struct err *err);

#endif
