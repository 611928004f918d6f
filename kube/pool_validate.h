/* pool_validate: what is wrong with a NodePool that the API server's schema let through (spec api
 * 2: V1-V10). The webhook refuses with them, the reconciler writes them into ValidationSucceeded, `plan` sets the pool
 * aside with them. */
#ifndef KUBE_POOL_VALIDATE_H
#define KUBE_POOL_VALIDATE_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/requirement.h"

/* Appends findings that refuse, in the order of the checks: labels, taints, requirements, durations. `syms` may be
 * written to (names of aliases). */
void pool_validate(struct arena *a, const struct node_pool *p, const struct label_rules *rules, struct symtab *syms,
                   struct findings *out);

#endif
