/* supply_warnings: what a NodePool, or a NodeClaim written by hand, asks of instance types and none of a catalogue has, so
 * that nothing ever comes of it. To be told (kube/finding.h) where it is written: at admission, by `plan`, by `check -f`.
 *
 * Whether an offering is available just now does not count: sold out is nobody's mistake. Nothing is said while the
 * catalogue is not known for the pool. Pure. */
#ifndef PLANNER_SUPPLY_SUPPLY_WARNINGS_H
#define PLANNER_SUPPLY_SUPPLY_WARNINGS_H

#include "kube/finding.h"
#include "kube/instance_type.h"
#include "kube/node.h"

/* Whether some type is for those who name this class, where there are several providers and each has its own. */
bool supply_knows_class(const struct catalogue *types, const struct node_class_ref *class);

/* Which requirement, or which together, leave no type; minValues above what those that are left have. It has passed
 * kube/node_asks.h: what contradicts itself needs no types to be empty. Symbols of pool and catalogue are of `syms`. Time:
 * types times requirements, squared for at most 16 of them; nothing more is said once `out` is closed. */
void supply_warnings_of_pool(struct arena *a, const struct node_pool *p, const struct catalogue *types, struct symtab *syms,
                             struct findings *out);
/* The same, and spec.resources.requests for which none of the types left has room. */
void supply_warnings_of_claim(struct arena *a, const struct node_claim *c, const struct catalogue *types, struct symtab *syms,
                              struct findings *out);

#endif
