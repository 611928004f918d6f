/* lifecycle: what a NodeClaim needs next, from its creation to an initialised node (spec disruption
 * 12, api 5.2, 5.5). Pure: facts in, one step out. Each step is either a write to the claim's
 * metadata, or one to its Node, or the claim's status, in this order; the next snapshot asks again.
 */
#ifndef RECONCILER_LIFECYCLE_LIFECYCLE_H
#define RECONCILER_LIFECYCLE_LIFECYCLE_H

#include "kube/condition_set.h"
#include "kube/instance_type.h"
#include "kube/node.h"
#include "reconciler/call.h"
#include "reconciler/clock_jump.h"

enum {
    LAUNCH_TIMEOUT_MS = 5 * MS_MINUTE,
    POD_EVENT_MS = 10 * MS_SECOND,
    TYPE_KNOWN_MS = MS_HOUR, /* so long a type that is not listed any more is taken for listed: lists come late */
};

struct lifecycle_facts {
    const struct node_claim *claim;
    const struct node_pool *pool;         /* or NULL */
    const struct node *node;              /* the one with its provider id, or NULL */
    uint32_t nodes;                       /* with its provider id */
    const struct called_machine *machine; /* what create answered, or NULL */
    bool labels_written;                  /* the machine's are on the claim */
    const struct err *launch_error;       /* of the last create, or NULL */
    wall_ms pod_event;                    /* 0: none that is not written */
    const struct clock_jump *jump; /* NULL: the clock has not stepped */
    wall_ms blind_until; /* until then our view of the cluster was partial; 0: never */
    const struct catalogue *types; /* what can be bought now; NULL: nobody knows */
    bool drift_known;        /* its provider has said whether it is drifted */
    struct span drift;       /* and why it is; absent: it is not */
    struct symtab *syms;
    wall_ms now;
};

enum lifecycle_end { /* the claim is to be deleted */
                     LIFECYCLE_GOES_ON,
                     LIFECYCLE_NO_CAPACITY,
                     LIFECYCLE_CLASS_NOT_READY,
                     LIFECYCLE_LAUNCH_TIMEOUT,
                     LIFECYCLE_REGISTRATION_TIMEOUT,
                     LIFECYCLE_END_COUNT,
};
const char *lifecycle_end_name(enum lifecycle_end e); /* metrics: "launch_timeout"… */

struct lifecycle_step {
    enum lifecycle_end end;
    bool launch;             /* create a machine; also to learn what an earlier leader created */
    struct span claim_patch; /* of metadata; absent: none */
    bool claim_patch_labels; /* it carries the machine's labels */
    struct span node_patch;
    bool node_registers, node_initializes; /* what the Node's patch means */
    bool taint_missing;                    /* the Node joined without the unregistered taint */
    struct condition_set conditions;
    struct span status_patch; /* absent: nothing changed */
    struct span shortfall;    /* of what the machine was to have; absent: none */
    wall_ms due;              /* when time alone changes the answer; 0: never */
};

void lifecycle_step(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *out);

/* The parts, in their order. Each may set conditions and ask for a write. */
void lifecycle_launch(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s);
void lifecycle_register(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s);
void lifecycle_initialize(struct arena *a, const struct lifecycle_facts *f,
                          struct lifecycle_step *s);
void lifecycle_check_consistency(struct arena *a, const struct lifecycle_facts *f,
                                 struct lifecycle_step *s);
void lifecycle_drift(struct arena *a, const struct lifecycle_facts *f, struct lifecycle_step *s);
/* Whether a reason of the condition is what is seen of pool, labels and types, and not a provider's. */
bool lifecycle_drift_is_seen(struct span reason);
void lifecycle_consolidatable(const struct lifecycle_facts *f, struct lifecycle_step *s);
void lifecycle_liveness(const struct lifecycle_facts *f, struct lifecycle_step *s);

/* A pod's coming or going at `at` is worth a write: the last was a while ago, or the clock was set back since. */
bool lifecycle_pod_event_is_new(const struct node_claim *c, wall_ms at);

/* A condition of the set being changed. */
enum condition_status lifecycle_status(const struct lifecycle_step *s, struct span type);
/* From when on a claim may be consolidated; 0: never (no consolidateAfter, or not initialised). */
wall_ms lifecycle_consolidatable_at(const struct node_claim *c, const struct node_pool *pool);

#endif
