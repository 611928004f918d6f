/* pool_match: whether a NodePool was written for the provider whose catalogue it is planned with.
 *
 * A requirement on a label that nothing in the catalogue has is taken for a label of the pool's own, as the
 * API has it: right for `team`, and not what anybody means by karpenter.k8s.aws/instance-category. Which it
 * is, the label's domain tells: those of providers, and Kubernetes' own of nodes and their place, belong to
 * who makes the nodes and are for nobody else to give. All others are truly custom and pass in silence. */
#ifndef CLOUD_POOL_MATCH_H
#define CLOUD_POOL_MATCH_H

#include "kube/instance_type.h"
#include "kube/node.h"

/* Labels that the pool's requirements name, that only a provider gives, and that nothing in the catalogue
 * has; each once. */
struct syms pool_match_labels(struct arena *a, const struct node_pool *pool,
                              const struct catalogue *catalogue, struct symtab *syms);
/* The pool's node class is of another provider than the catalogue. False also where either is not known. */
bool pool_match_other_class(const struct node_pool *pool, const struct catalogue *catalogue,
                            const struct symtab *syms);

/* What there is to say of the pools, a sentence each: "NodePool general: spec.…: …"; those of which the same
 * is to be said are one. Returns how many. */
struct pool_mismatch {
    const struct node_pool *pool; /* the first of them */
    struct span text;             /* what follows its name */
};
uint32_t pool_match(struct arena *a, const struct node_pool *const *pools, uint32_t count,
                    const struct catalogue *catalogue, struct symtab *syms,
                    const struct pool_mismatch **out);

#endif
