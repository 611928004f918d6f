/* claim_warnings: what a NodeClaim that somebody writes by hand says that does not do what its author meant. Upstream has
 * no rule for it beyond the schema (spec api 1.7), so that nothing is ever refused. */
#ifndef KUBE_CLAIM_WARNINGS_H
#define KUBE_CLAIM_WARNINGS_H

#include "kube/finding.h"
#include "kube/node.h"

/* Of the claim alone; of one that is launched not what it asks for. `syms` may be written to. */
void claim_warnings(struct arena *a, const struct node_claim *c, struct symtab *syms, struct findings *out);

struct class_list { /* of the provider's kind, all that there are */
    const struct kwok_node_class *const *items;
    size_t count;
};
/* The claim refers to a node class of the provider's API group that there is not. */
void claim_class_warnings(struct arena *a, const struct node_claim *c, struct class_list classes, struct findings *out);

#endif
