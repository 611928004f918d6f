/* provider: where machines come from. One interface; kwok first, others beside it.
 *
 * Operations are asynchronous: they return at once, and `done` is called exactly once, on the API
 * thread (or whichever thread the provider documents), also after a cancel. The claim's UID is the
 * token of a create: whatever is called how often, one UID yields at most one machine, for ever. A
 * caller may therefore always create again for a claim that exists, to learn what was made. */
#ifndef CLOUD_PROVIDER_H
#define CLOUD_PROVIDER_H

#include "kube/instance_type.h"
#include "kube/kind.h"
#include "kube/node.h"
#include "kube/repair.h"

struct machine { /* what a provider knows of one machine; spans live during the callback */
    struct span provider_id, node_name, image_id;
    struct span claim_uid, claim_name; /* who it was made for */
    struct plain_labels labels, annotations;
    struct resources capacity, allocatable;
    bool deleting;
};

struct machine_result {
    struct err err; /* ERR_NOT_FOUND (delete: finished), ERR_CAPACITY, ERR_CONFLICT (node class not
                       ready: delete the claim), ERR_RETRY, ERR_INVALID, ERR_CANCELLED */
    const struct machine *machines; /* create, get: one; list: all; delete: none */
    size_t count;
    const struct symtab *syms; /* of the resources' names */
    struct span drift;         /* is_drifted: the reason, a word in CamelCase of at most 63 characters; absent: it is not */
};

typedef void machine_done(void *user, const struct machine_result *result);

struct claim_order { /* what create needs of a NodeClaim; copied */
    const struct node_claim *claim;
    const struct symtab *syms;
};

struct provider;

enum provider_method {
    PROVIDER_CREATE,
    PROVIDER_REMOVE,
    PROVIDER_GET,
    PROVIDER_LIST,
    PROVIDER_IS_DRIFTED,
    PROVIDER_REBOOT,
    PROVIDER_METHOD_COUNT,
};

/* How long its answers are waited for and how many at once; each provider has them in one place, with their reasons.
 * Who does not answer in time is cancelled and asked anew later, as after any failure (ERR_RETRY); what he answers then
 * is not looked at. Until he does, the call is one of those under way: with as many as `calls` he is asked nothing. */
struct provider_limits {
    span_ms patience[PROVIDER_METHOD_COUNT];
    uint32_t calls; /* under way at once; bounds what a provider that hangs holds on to */
};

struct provider_ops {
    const char *name;     /* metrics label; ClusterRole stowage-provider-NAME grants what it needs beside all others */
    struct provider_limits limits;
    enum kind node_class; /* the objects of the class below, listed and watched where it is chosen; each begins as struct node_class does */
    const enum kind *kinds; /* others that it has to have listed and watched; ends with KIND_NONE. NULL: none */
    const char *node_class_group,
        *node_class_kind; /* pools and claims of other classes are not ours */
    /* All types, available or not. It may take its time, but ends by itself: it is asked on a thread that waits for this
     * provider alone (cloud/listings.h), and whoever stops waits for that thread; a server asks once more as it starts, for
     * the labels that its webhook knows. The catalogue is interned into `syms` and lives in `a`. */
    bool (*types)(struct provider *p, struct arena *a, struct symtab *syms, struct catalogue *out,
                  struct err *err);
    /* Moves when types would answer otherwise than before. Any thread, at once, also while types is asked. */
    uint64_t (*generation)(struct provider *p);
    uint64_t (*create)(struct provider *p, const struct claim_order *order, machine_done *done,
                       void *user);
    /* Only the machine that was made for this claim: an id that meanwhile means another is
     * ERR_NOT_FOUND. Asked again until ERR_NOT_FOUND says that the machine is gone. */
    uint64_t (*remove)(struct provider *p, struct span provider_id, struct span claim_uid,
                       machine_done *done, void *user);
    uint64_t (*get)(struct provider *p, struct span provider_id, machine_done *done, void *user);
    uint64_t (*list)(struct provider *p, machine_done *done, void *user);
    uint64_t (*is_drifted)(struct provider *p, const struct claim_order *order, machine_done *done,
                           void *user);
    /* What is done about nodes of its machines that are not well (gate NodeRepair); fixed, lives with the provider. NULL:
     * its policies are not right, *violations_out has a line for each. Any thread. */
    const struct repair_policies *(*repair)(struct provider *p, struct span *violations_out);
    /* Starts the claim's machine anew, where it is: done when that is accepted. Calls of one `operation` are one reboot,
     * where the provider can tell. ERR_NOT_FOUND, ERR_INVALID: asking again is of no use. */
    uint64_t (*reboot)(struct provider *p, const struct claim_order *order, struct span operation, machine_done *done,
                       void *user);
    void (*cancel)(struct provider *p, uint64_t operation);
    /* Does what time has brought; returns when to call next at the latest. The reconciler calls it.
     */
    mono_ms (*step)(struct provider *p, mono_ms now);
    void (*free)(struct provider *p); /* no operation may be under way, or the API client is gone; calls no `done` */
};

struct provider {
    const struct provider_ops *ops;
};

#endif
