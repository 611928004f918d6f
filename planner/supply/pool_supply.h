/* pool_supply: what a NodePool asks of instance types and none of a catalogue has, so that nothing is ever bought for it. To
 * be told as warnings (kube/finding.h) where the pool is written: at admission, by `plan` and by `check -f`.
 *
 * Whether an offering is available just now does not count: sold out is nobody's mistake. Nothing is said while the
 * catalogue is not known for the pool. Pure. */
#ifndef PLANNER_SUPPLY_POOL_SUPPLY_H
#define PLANNER_SUPPLY_POOL_SUPPLY_H

#include "kube/finding.h"
#include "kube/instance_type.h"
#include "kube/node.h"

/* Which requirement, or which together, leave no type; minValues above what those that are left have. The pool has passed
 * kube/pool_warnings.h: a pool that contradicts itself needs no types to be empty. Symbols of pool and catalogue are of
 * `syms`. Time: types times requirements, squared for at most 16 of them. */
void pool_supply_warnings(struct arena *a, const struct node_pool *p, const struct catalogue *types, struct symtab *syms,
                          struct findings *out);

#endif
