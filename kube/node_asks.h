/* node_asks: what a NodePool's template, or a NodeClaim, asks of nodes, and what contradicts itself in that. */
#ifndef KUBE_NODE_ASKS_H
#define KUBE_NODE_ASKS_H

#include "kube/finding.h"
#include "kube/node.h"
#include "kube/requirement.h"

struct node_asks {
    struct expressions requirements;
    struct sym_pairs labels; /* of the template; a claim's own are not asked of anybody */
    const char *at;          /* where its spec lies: "spec.template.spec", "spec" */
    const char *whose;       /* "the pool's", "the claim's" */
    const char *undone;      /* "no node is bought for the pool", "no node comes of the claim" */
};
struct node_asks node_asks_of_pool(const struct node_pool *p);
struct node_asks node_asks_of_claim(const struct node_claim *c);

/* Requirements that leave no value, minValues that they cannot meet together, labels that they exclude. Appends findings
 * that do not refuse. `syms` may be written to. */
void node_asks_warnings(struct arena *a, const struct node_asks *asks, struct symtab *syms, struct findings *out);

#endif
