/* call: a request to the API or the provider that is under way, and what it came back with.
 *
 * A call is made and sent on the reconciler's thread; its answer is copied on the thread that
 * brings it, put into the inbox, and handed to `done` by the next step. `gate`, if given, is closed
 * meanwhile and then as the answer says: a success waits for the snapshot to show it, a failure
 * backs off.
 *
 * A provider's call has an end: who has not answered by then is cancelled and counts as having failed, so that a provider
 * that hangs holds up what is its own and for no longer than it says itself (struct provider_limits). */
#ifndef RECONCILER_CALL_H
#define RECONCILER_CALL_H

#include "cloud/group_provider.h"
#include "cloud/providers.h"
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

struct call_topic { /* what a call is about, for its `done` */
    struct span ns, name, uid, text;
    struct span node, node_uid; /* on which the pod is */
    struct provider *whose;     /* the machine is */
    int64_t number;
    const struct measure *counted; /* when it has been done */
    uint32_t counted_count;
};

struct call {
    struct call *next, **link; /* of those under way */
    struct call *later;        /* in the inbox */
    struct reconciler *reconciler;
    call_done *done;   /* may be NULL */
    struct gate *gate; /* or NULL; its memo stays while the call is under way */
    struct arena arena;
    struct call_topic topic; /* the caller's, before it is sent */
    bool last; /* a deletion, or the release of a finalizer: the object may be gone with it */
    struct memo *memo;  /* kept until `done` has returned; set by call_about */
    struct provider *provider; /* that was called; NULL: the API was */
    enum provider_method method;
    struct group_provider *groups; /* that was called instead of a provider of machines; or NULL */
    enum group_method group_method;
    struct span pool;   /* the NodePool that it is for; absent: none */
    mono_ms due;        /* when it is given up */
    enum {
        CALL_ASKED,
        CALL_ANSWERED, /* what follows is being written, or was */
        CALL_GIVEN_UP, /* `done` was called without an answer; nothing more is made of it */
    } state;           /* under the lock */
    mono_ms sent;
    uint64_t id; /* of a provider's operation, to cancel it */
    /* the answer */
    int status;
    struct err err;
    struct span reason, cause, uid_now;
    const char *wants; /* a key of `data`, of a ConfigMap; set before it is sent */
    struct span data;  /* its text; absent: there is none */
    uint64_t version; /* resourceVersion of the reply; 0: none */
    int32_t retry_after_s;
    struct span drift; /* of is_drifted */
    const struct called_machine *machines;
    size_t machine_count;
};

struct call *call_new(struct reconciler *r, struct gate *gate, call_done *done);
/* The call is about this object: `done` finds the memo in c->memo. */
void call_about(struct call *c, struct memo *memo);
void call_topic(struct call *c, const struct call_topic *t); /* copied */
/* Sends it as long as we lead; `call` must not be touched any more until `done`. For act() (reconciler/act.h), from which
 * all writes come, and for reads: */
void call_send(struct call *c, const struct api_request *request);
/* Asks the API server for an object; `ns` absent: of a kind that has none. */
void call_get(struct call *c, enum kind k, struct span ns, struct span name);
/* Whether the provider may be asked for anything now; else its answers bring the next pass. */
bool call_may_begin(const struct reconciler *r, const struct provider *p);
/* Or for what nobody waits for: half of its calls are left to machines that come and go. */
bool call_may_wonder(const struct reconciler *r, const struct provider *p);
/* It has owed an answer for longer than machines are found in: CALLS_STALL_MS. */
enum { CALLS_STALL_MS = 10 * MS_SECOND }; /* as long as a batch is open at most: nobody waits longer for others' pods either */
bool calls_stall(const struct reconciler *r, const struct provider *p);
/* For the provider's operations: the gate is closed, the method counted, under the pool's name; then `call_machine_done`
 * with the call as user is what the operation calls. */
void call_begin(struct call *c, struct provider *p, enum provider_method method, struct span pool);
void call_machine_done(void *user, const struct machine_result *result);
/* The same of a provider of node groups, whose operation then calls `call_group_done`. */
void call_begin_group(struct call *c, struct group_provider *p, enum group_method method);
void call_group_done(void *user, const struct err *err);

/* Hands what came back to its `done`, oldest first. */
void calls_deliver(struct reconciler *r);
/* Gives up the providers' calls that are overdue. Returns when the next one will be. */
mono_ms calls_expire(struct reconciler *r);
void calls_give_up(struct reconciler *r); /* gives up all of them: ERR_CANCELLED */
void calls_free(struct reconciler *r); /* all that are under way, without calling anything */

#endif
