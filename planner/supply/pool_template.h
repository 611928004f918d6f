/* pool_template: what a NodePool's template alone says of a node, and what the cheapest such node costs.
 *
 * Results live in the arena given, symbols in `syms`. */
#ifndef PLANNER_SUPPLY_POOL_TEMPLATE_H
#define PLANNER_SUPPLY_POOL_TEMPLATE_H

#include "kube/instance_type.h"
#include "kube/node.h"

/* Requirements and labels of the template, the pool's name and its node class. */
struct requirements pool_requirements(struct arena *a, struct symtab *syms, const struct node_pool *p);
struct sym_pairs pool_labels(struct arena *a, struct symtab *syms, const struct node_pool *p);

/* The value that a NodeClaim and its node get for a custom label that a requirement leaves open: Karpenter
 * v1.15.0 takes any, we the least, so that equal input gives an equal plan. SYM_NONE: there is none. */
sym pool_label_value(struct arena *a, struct symtab *syms, const struct requirement *r);
/* The labels, and those custom ones that the requirements decide or leave open (pool_label_value); sorted
 * by key's text. */
struct sym_pairs pool_node_labels(struct arena *a, struct symtab *syms, struct syms well_known,
                                  struct sym_pairs labels, const struct requirements *r);

/* Nothing but the pool's own rules: it is not being deleted and Ready, at its present generation; with
 * `ready_when_unstated` also while it has no such condition, of any generation. */
bool pool_is_usable(const struct node_pool *p, bool ready_when_unstated);

/* Price per hour of the cheapest offering that can be launched by these requirements; NAN: none can.
 * Equal prices: the first type by name. `type_out` is set with a price. */
double pool_cheapest(const struct requirements *r, struct span pool, const struct catalogue *types,
                     const struct symtab *syms, const struct instance_type **type_out);

#endif
