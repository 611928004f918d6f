/* pool_warnings: what a NodePool says that does not do what its author meant, though the pool is valid: what cannot be read
 * (budgets, spec api 4.4; our annotations, docs/annotations.md), what contradicts itself, what has no effect. What each
 * annotation means is where it is used.
 *
 * Of the pool alone: what depends on other objects is not told here. */
#ifndef KUBE_POOL_WARNINGS_H
#define KUBE_POOL_WARNINGS_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/requirement.h"

/* Appends findings that do not refuse. `syms` may be written to. */
void pool_warnings(struct arena *a, const struct node_pool *p, struct symtab *syms, struct findings *out);

struct span pool_limit_path(struct arena *a, struct span resource); /* "spec.limits.cpu", "spec.limits[example.com/gpu]" */

#endif
