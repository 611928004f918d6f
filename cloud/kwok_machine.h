/* kwok_machine: what provider kwok buys and what the Node looks like that it becomes. Pure. */
#ifndef CLOUD_KWOK_MACHINE_H
#define CLOUD_KWOK_MACHINE_H

#include "base/doc.h"
#include "cloud/kwok.h"

struct kwok_choice {
    const struct instance_type *type;
    const struct offering *offering;
    struct span zone, capacity_type;
};

/* The cheapest offering that a claim admits, without those that `sold_out` (may be NULL) tells; where offerings have
 * overrides, one that holds what the claim requests before any other.
 * Equal prices: the type that comes first by name, then the first of its offerings. `claim_syms` is
 * the table of the claim, `types` and `syms` the catalogue's (syms may be written to). A claim that
 * lists no instance types may become any that its pool is offered. ERR_INVALID: it lists only unknown
 * ones; ERR_CAPACITY: none fits. */
bool kwok_choose(struct arena *a, const struct node_claim *claim, const struct symtab *claim_syms,
                 const struct catalogue *types, struct symtab *syms,
                 bool (*sold_out)(void *user, const struct kwok_choice *c), void *user,
                 struct kwok_choice *out, struct err *err);

/* The machine of a choice, and the JSON of its Node. All in `a`. */
struct machine kwok_machine(struct arena *a, const struct node_claim *claim,
                            const struct symtab *claim_syms, const struct kwok_choice *c,
                            const struct symtab *syms);
struct span kwok_node_body(struct arena *a, const struct machine *m, const struct symtab *syms);

/* The machine that a Node is, read from its JSON; false: it is none of ours. */
bool kwok_machine_of_node(struct arena *a, struct doc_value node, struct symtab *syms,
                          struct machine *out);
struct span kwok_node_name(struct span provider_id); /* absent: not an id of ours */

#endif
