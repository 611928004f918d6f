/* types: the catalogue as columns.
 *
 * What a claim may still become is a bitset over types. Which types meet a requirement on one key is
 * asked once a distinct value set of that key (a facet), not once a type; which offerings do is asked
 * once a distinct requirement set of offerings (a kind: 8 on AWS, not 13,792).
 *
 * Offerings with overrides give a type several allocatables: its groups. Group 0 has no override. */
#ifndef PLANNER_SUPPLY_TYPES_H
#define PLANNER_SUPPLY_TYPES_H

#include "kube/instance_type.h"
#include "planner/bits.h"
#include "planner/pods/classes.h"

struct facet {
    sym key;
    uint32_t count;
    const struct requirement **sets; /* distinct */
    uint32_t *of_type;               /* index + 1 into sets; 0: the type does not say */
};

struct type_offer { /* an available offering */
    uint32_t kind, group;
    double price;
    bool launchable, reserved;
    uint32_t reservation; /* of a reserved one: which */
};

struct reservation {
    sym id;         /* value of the catalogue's label; SYM_NONE: of one offering alone */
    int64_t left;   /* instances; the least that any offering says */
};

struct types {
    const struct catalogue *catalogue;
    uint32_t count, words;
    uint32_t column_count;
    uint32_t *first_group; /* count + 1 */
    amount *allocatable;   /* a row a group */
    amount *capacity;      /* a row a type: elementwise greatest over its groups */
    uint32_t *first_offer; /* count + 1 */
    struct type_offer *offers;
    const struct requirements **kinds;
    uint32_t kind_count, kind_words;
    uint64_t *kinds_of; /* kind_words a type */
    struct reservation *reservations;
    uint32_t reservation_count, reservation_capacity;
    sym reservation_key; /* SYM_NONE: none */
    uint64_t **kinds_held; /* by reservation: the kinds that are of it */
    struct facet *facets;
    uint32_t facet_count, facet_capacity;
    struct intern kind_ids;
};

void types_build(struct types *t, struct arena *a, struct symtab *syms, const struct classes *columns,
                 const struct catalogue *catalogue, bool reserved_gate);

static inline const struct instance_type *types_at(const struct types *t, uint32_t type)
{
    return &t->catalogue->items[type];
}

/* Drops from `set` the types whose own requirements do not intersect `r` (spec provisioning 4.7 req). */
void types_cut(const struct types *t, uint64_t *set, const struct requirement *r,
               const struct symtab *syms);
/* Kinds of offering that a claim with these requirements may take. */
void types_kinds(const struct types *t, uint64_t *kinds_out, const struct requirements *claim,
                 const struct symtab *syms);
/* Drops types none of whose offerings is of these kinds. */
void types_cut_kinds(const struct types *t, uint64_t *set, const uint64_t *kinds);
/* The domains of the key that a node of these types, bought as one of these kinds, may have. */
void types_domains(const struct types *t, const uint64_t *set, const uint64_t *kinds,
                   const struct requirements *claim, const struct topology_key *key,
                   const struct symtab *syms, uint64_t *out);
/* Cheapest launchable offering of these kinds, or INFINITY. */
double types_price(const struct types *t, uint32_t type, const uint64_t *kinds);

#endif
