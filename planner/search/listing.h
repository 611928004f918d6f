/* listing: the types that a claim of a finished trial names, and its price: the cheapest that can be launched, at
 * most so many (spec provisioning 5.1). What claims have in common is worked out once. */
#ifndef PLANNER_SEARCH_LISTING_H
#define PLANNER_SEARCH_LISTING_H

#include "planner/trial/options.h"
#include "planner/trial/trial.h"

/* What claims of one spec with equal types have in common: it is worked out once. */
struct listing {
    const struct instance_type **types;
    const uint32_t *indexes;
    uint32_t count;
    double price;
    struct requirement names;    /* the types' */
    struct requirement capacity; /* capacity types that can be launched; no values: none can */
    const amount *overhead;      /* of DaemonSets, the least of any type and offering */
};

struct listings {
    struct arena *arena;
    struct symtab *syms;
    const struct plan_options *options;
    struct price_list **prices; /* by spec; NULL: not asked for yet */
    uint32_t *by_sym;           /* types in the order of their names' symbols */
    struct intern known;
    struct listing *items;
    uint32_t count, capacity;
};
void listings_init(struct listings *lists, struct arena *a, struct symtab *syms,
                   const struct plan_options *o, const struct trial *t);

/* How many types a claim lists at most. */
uint32_t listing_most_types(const struct plan_options *o);
/* Valid until the next one is asked for. */
const struct listing *listing_of(struct listings *lists, struct trial *t, uint32_t claim);
/* False: it is cut so short that minValues do not hold, and the claim is not to be made. */
bool listing_holds(struct trial *t, uint32_t claim, const struct listing *l);
/* The claim's price alone, NAN when nothing can be launched; false likewise. */
bool listing_price(struct listings *lists, struct trial *t, uint32_t claim, double *price_out);
/* A requirement of these values, which are sorted and each kept once. */
struct requirement listing_one_of(sym key, sym *values, uint32_t count);

#endif
