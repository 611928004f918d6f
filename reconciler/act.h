/* act: the one place from which the reconciler writes to the API. For this folder only.
 *
 * A stage decides and states an action: what, on which object as it was seen, what it rests on, and why. Here it waits for
 * the object's gate, is sent so that it does nothing to an object that it was not decided on, and is told. What the API
 * server answers comes to `done` (reconciler/call.h). */
#ifndef RECONCILER_ACT_H
#define RECONCILER_ACT_H

#include "reconciler/call.h"
#include "reconciler/decision.h"

struct pass;

/* What must still be so when the API server gets it; else it refuses, and a later pass decides anew. */
enum action_rests {
    ACT_ON_VERSION, /* nobody has written the object since it was seen: for lists (finalizers, taints, conditions), which a
                       merge patch replaces as a whole, and for what must not begin on an object that was changed */
    ACT_ON_UID,     /* it is that object, whatever was written to it since */
};

struct action {
    enum api_verb verb; /* API_CREATE, API_MERGE, API_DELETE, API_EVICT */
    enum kind kind;
    const struct meta *object; /* as it was seen; NULL: API_CREATE */
    /* Of the object: while its gate is shut nothing is sent. NULL: the stage paces it by itself. API_CREATE: for `done`. */
    struct memo *memo;
    struct gate *gate; /* API_CREATE: shut while it is under way, or NULL */
    enum action_rests rests;
    struct span subresource; /* "status", or absent */
    struct span body;        /* API_MERGE: the patch, without what it rests on; API_CREATE: the object */
    const int64_t *grace;    /* API_DELETE: seconds; NULL: the object's own */
    bool last; /* the release of a finalizer: the object may be gone with it. Of a deletion it is so anyway, but for pods */
    call_done *done;                /* or NULL */
    struct call_topic topic;        /* for `done`; copied */
    const struct decision *why;     /* told, with its sentence, when it is sent; or NULL: told by `done`, or not at all */
};

/* The object's gate is open: an action on it would be sent now. Else there is a pass when that may have changed. */
bool act_may(struct pass *p, const struct memo *memo, const struct meta *object);
/* False: its gate is shut, and nothing was sent or told. */
bool act(struct pass *p, const struct action *x);

/* The deletion of an object as the process ends by its own will: nobody hears what came of it, and that the Lease goes back
 * does not cancel it. */
void act_last(struct reconciler *r, enum kind k, const struct meta *object);

#endif
