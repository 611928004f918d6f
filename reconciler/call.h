/* call: a request to the API or the provider that is under way, and what it came back with.
 *
 * A call is made and sent on the reconciler's thread; its answer is copied on the thread that
 * brings it, put into the inbox, and handed to `done` by the next step. `gate`, if given, is closed
 * meanwhile and then as the answer says: a success waits for the snapshot to show it, a failure
 * backs off. */
#ifndef RECONCILER_CALL_H
#define RECONCILER_CALL_H

#include "cloud/provider.h"
#include "kube/api.h"
#include "reconciler/memo.h"

struct measure;
struct reconciler;
struct call;

typedef void call_done(struct reconciler *r, struct call *c);

struct called_machine { /* a machine as text, free of any symbol table */
    struct span provider_id, node_name, image_id, claim_uid, claim_name;
    struct plain_labels labels, annotations;
    struct span capacity, allocatable; /* JSON objects */
    bool deleting;
};

struct call {
    struct call *next, **link; /* of those under way */
    struct call *later;        /* in the inbox */
    struct reconciler *reconciler;
    call_done *done;   /* may be NULL */
    struct gate *gate; /* or NULL; its memo stays while the call is under way */
    struct arena arena;
    /* what it is about; the caller's, before it is sent */
    struct span ns, name, uid, text;
    struct span node, node_uid; /* on which the pod is */
    int64_t number;
    bool last; /* a deletion, or the release of a finalizer: the object may be gone with it */
    struct memo *memo;  /* kept until `done` has returned; set by call_about */
    const char *method; /* of a provider's call, for metrics */
    struct span pool;   /* and the NodePool that it is for; absent: none */
    const struct measure *also; /* counted when it has been done; or NULL */
    mono_ms sent;
    uint64_t id; /* of a provider's operation, to cancel it */
    /* the answer */
    int status;
    struct err err;
    struct span reason, cause, uid_now;
    uint64_t version; /* resourceVersion of the reply; 0: none */
    int32_t retry_after_s;
    const struct called_machine *machines;
    size_t machine_count;
};

struct call *call_new(struct reconciler *r, struct gate *gate, call_done *done);
/* The call is about this object: `done` finds the memo in c->memo. */
void call_about(struct call *c, struct memo *memo);
/* Sends an act; `call` must not be touched any more until `done`. */
void call_send(struct call *c, const struct api_request *request);
/* For the provider's operations: gate closed, method counted, under the pool's name; then `call_machine_done` with the
 * call as user is what the operation calls. */
void call_begin(struct call *c, const char *method, struct span pool);
void call_machine_done(void *user, const struct machine_result *result);

/* Hands what came back to its `done`, oldest first. */
void calls_deliver(struct reconciler *r);
void calls_free(struct reconciler *r); /* all that are under way, without calling anything */

#endif
