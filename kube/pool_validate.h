/* pool_validate: what is wrong with a NodePool that the API server's schema let through (spec api
 * 2: V1-V10). One sentence a field. The webhook refuses with them, the reconciler writes them into
 * ValidationSucceeded, `plan` sets the pool aside with them: the same words everywhere. */
#ifndef KUBE_POOL_VALIDATE_H
#define KUBE_POOL_VALIDATE_H

#include "kube/node.h"
#include "kube/requirement.h"

struct pool_fault {
    struct span path; /* spec.template.spec.requirements[2].key */
    struct span text; /* one sentence without a full stop */
};

struct pool_faults { /* in the order of the checks: labels, taints, requirements, durations, limits */
    struct pool_fault *items;
    uint32_t count;
};

/* `syms` may be written to (names of aliases). */
struct pool_faults pool_validate(struct arena *a, const struct node_pool *p,
                                 const struct label_rules *rules, struct symtab *syms);
/* What does not make a pool unusable: budgets that cannot be read, for as long as nothing of the
 * pool may be disrupted (api 4.4). */
struct pool_faults pool_warnings(struct arena *a, const struct node_pool *p);
/* "path: text; path: text", for a condition's message. */
struct span pool_faults_text(struct arena *a, struct pool_faults faults);

#endif
