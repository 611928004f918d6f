/* claim_body: the NodeClaim that a planned node is written as (spec api 5.3, provisioning 5.2).
 * Pure. */
#ifndef RECONCILER_PROVISION_CLAIM_BODY_H
#define RECONCILER_PROVISION_CLAIM_BODY_H

#include "planner/plan/plan.h"

/* <pool>-<8 letters of the hash of the pods' UIDs>, and "-<ordinal>" from ordinal 1 on. At most 63
 * bytes, as a label's value: a longer pool name is cut. */
struct span claim_name(struct arena *a, const struct plan_claim *c, uint32_t ordinal);
/* Of a pool with replicas: 8 letters of the hash of its UID and the ordinal. Whoever counts the same
 * claims gives the next one the same name. */
struct span claim_name_fixed(struct arena *a, const struct node_pool *pool, uint32_t ordinal);

struct claim_extra {
    struct span name;
    struct span planned;  /* stowage.dev/planned; absent: none */
    struct span replaces; /* stowage.dev/replaces (kube/replaces.h); absent: nobody */
    struct span decision; /* stowage.dev/decision */
};
struct span claim_body(struct arena *a, const struct plan_claim *c, struct symtab *syms,
                       const struct claim_extra *extra);

#endif
