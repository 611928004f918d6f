/* repair: what is to be done about a node that says it is not well (spec disruption 16.1, 16.2): policies of a provider,
 * and which of them a node's conditions meet. Pure. */
#ifndef KUBE_REPAIR_H
#define KUBE_REPAIR_H

#include "base/buf.h"
#include "base/regexp.h"
#include "kube/node.h"

/* A policy as written; a text that is absent has its default, if there is one. */
struct repair_text {
    struct span condition_type, condition_status;
    struct span reason_regex; /* empty: the fallback, one per set */
    struct span toleration;   /* absent: 0 */
    struct span grace;        /* absent: the NodeClaim's own */
    struct span action;
    int64_t priority;
};

struct repair_texts {
    struct repair_text *items;
    uint32_t count;
};

enum repair_action { REPAIR_REBOOT, REPAIR_REPLACE }; /* the more disruptive is the greater */

struct repair_policy {
    struct span condition_type;
    enum condition_status status;
    const struct regexp *reason; /* NULL: the fallback */
    span_ms toleration;
    bool has_grace;
    span_ms grace;
    uint32_t rank; /* of its priority among those of the set, the lowest 0 */
    enum repair_action action;
};

struct repair_policies {
    struct repair_policy *items;
    uint32_t count;
    const struct repair_policy *fallback;
};

/* False: `violations` has a line for each, with the whole policy. In `a`; the texts must outlive it. */
bool repair_policies_make(struct arena *a, const struct repair_texts *texts, struct repair_policies *out,
                          struct buf *violations);

/* Some condition of the node is one that a policy names: it is not well, however long. */
bool repair_is_unhealthy(const struct repair_policies *p, const struct node *n);

struct repair_answer {
    bool due;     /* else only the next is said */
    wall_ms next; /* when it will be, if it goes on so; 0: not by time alone */
    enum repair_action action;
    struct span condition_type, reason; /* that decided */
    bool has_grace;                     /* of all policies that are met and due, the shortest */
    span_ms grace;
    double score; /* rank, and one for each half hour that it has waited: the highest goes first */
};
/* Conditions of the node count from its creation on, and from the end of its last reboot. */
struct repair_answer repair_resolve(const struct repair_policies *p, const struct node *n, const struct node_claim *c,
                                    wall_ms now);

#endif
