/* views: Nodes and NodeClaims side by side, claims with their Nodes by provider id, Nodes with their rows of the world;
 * from pass to pass. What stages ask of everybody in each pass stands here, so that they need not look into objects
 * and memories that are as they were: while no Node and NodeClaim comes or goes, a pass touches those that changed.
 *
 * Sorted by name, so that equal snapshots give equal decisions. Some 120 bytes a node and its claim. */
#ifndef RECONCILER_VIEWS_VIEWS_H
#define RECONCILER_VIEWS_VIEWS_H

#include "reconciler/views/roll.h"
#include "reconciler/views/turns.h"

struct node;
struct node_claim;
struct node_pool;
struct pass;
struct provider;

struct claim_view {
    const struct node_claim *claim;
    struct claim_memo *memo;
    const struct node_pool *pool; /* or NULL */
    uint32_t nodes;               /* Nodes with its provider id */
    int32_t node;                 /* the one, or the first, of them; -1 */
    wall_ms expires;              /* INT64_MAX: never */
    struct provider *provider;    /* of its node class; NULL: it is somebody else's */
    bool leaving;                 /* it is being deleted */
    bool identified;              /* it has a provider id */
    bool registered, terminating, rebooting; /* conditions Registered, InstanceTerminating, Rebooting are true */
    bool unpaired;                /* it has no Node, or had none when emptiness looked last */
};

struct node_view {
    const struct node *node;
    struct node_memo *memo;
    uint32_t claims; /* with its provider id */
    int32_t claim;   /* the one of them; -1: none or several */
    int32_t row;     /* of the world; -1 */
    bool leaving, ready, initialized;
    bool disrupted; /* it has the taint karpenter.sh/disrupted:NoSchedule */
};

struct views { /* zero: to be made */
    struct claim_view *claims;
    struct node_view *nodes;
    uint32_t claim_count, node_count, claim_capacity, node_capacity;
    struct roll claim_roll, node_roll;
    uint32_t *node_of_row; /* position + 1; 0: a claim's alone */
    uint32_t row_count, row_capacity;
    uint32_t made;         /* how often all was looked at anew: as long as it is the same, so are nodes' pools and room */
    struct turns lifecycle, emptiness; /* of claims, of nodes */
    wall_ms blind_until;   /* as lifecycle knew it last */
};

/* Brings them up to the pass's snapshot. Calls whom a change concerns, in all stages. */
void views_look(struct pass *p);
/* All is looked at anew by the next pass. */
void views_forget(struct views *v);
void views_release(struct views *v);

#endif
