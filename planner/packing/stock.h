/* stock: pods that wait and machines that can be bought, as numbers to pack by.
 *
 * Pods of a class that are dealt to one cell (deal.h) are a *lot*. What can be bought is a *product*: a type of an
 * option in an offering, such that all pods whose suit it takes may be on one machine of it together, as far
 * as labels, taints and cells go. Of other topology only that is in it by which pods of a node limit one
 * another (`caps`): the rest is found out when a trial is asked.
 *
 * A lot's value is what one of its pods is worth at most (planner/bound): no product, however it is
 * filled, holds more value than its price, and one that comes near is as good as can be had. */
#ifndef PLANNER_PACKING_STOCK_H
#define PLANNER_PACKING_STOCK_H

#include "planner/packing/deal.h"

enum { STOCK_CAPS = 64 };

struct lot {
    uint32_t class_id;
    uint32_t cell;
    const uint32_t *pods; /* the trial's numbers, in the queue's order */
    uint32_t count, next; /* pods before `next` have a place */
    uint32_t suit, family;
    uint64_t caps;      /* groups that limit how many of it are on a node */
    const double *size; /* by column of the stock */
    double value;       /* of one pod; 0: no product takes it */
    double paid;        /* for pods that were put on machines, by their values, summed up */
};

/* Lots of one size and suit. What fits is asked once for all of them, and the most valuable goes first. */
struct family {
    uint32_t first, count; /* its lots, in the stock's order */
    uint32_t suit;
    const double *size;
};

struct product {
    uint32_t option, type;
    double price;
    uint64_t suits;
    const amount *wide; /* while the stock is built: by column of the world, and of what limits pods of a node */
    const double *room; /* by column of the stock */
    /* Other offerings of the type have less room, beside more DaemonSets: only a claim that keeps to a niche of the
     * option has all of `room`, any other has `plain`. -1 and NULL: this is the least. */
    int32_t niche;
    const double *plain;
};

struct stock {
    struct arena *arena;
    struct trial *trial; /* while it is built */
    const struct world *world;
    const struct deal *deal; /* NULL: none was made */
    bool ignore_preferences;
    struct lot *lots;
    uint32_t lot_count;
    struct family *families;
    uint32_t family_count;
    uint32_t *order; /* lots by family, see stock_rank */
    double value_left;            /* of all pods that no product took yet */
    uint64_t in_cap[STOCK_CAPS];  /* those of them who are of the group */
    struct product *products; /* dearest first; none that another one makes needless */
    uint32_t product_count;
    uint32_t column_count;
    const uint32_t *columns;    /* of the world */
    uint8_t cap[STOCK_CAPS];    /* pods of a group on a node */
    uint32_t cap_count;
};

struct stock_source {
    bool ignore_preferences;
    const struct deal *deal; /* NULL: none */
    uint32_t first_option, end_option; /* what can be bought: these options alone */
    const uint32_t *pods; /* the trial's numbers, in the order in which equal ones are to come */
    uint32_t count;
};
/* Takes its memory from `a`. False when there is nothing to buy for any of them. The same stock whatever the order of the input. */
bool stock_build(struct stock *s, struct arena *a, struct trial *t,
                 const struct stock_source *from);

/* Where pods of the lot are to be, by topology key; see struct trial, wish. NULL: anywhere. */
static inline const int32_t *stock_cell(const struct stock *s, const struct lot *l)
{
    return l->cell != CELL_ANY ? s->deal->cells[l->cell] : NULL;
}

/* So many more pods of the lot have a place. */
void stock_take(struct stock *s, struct lot *l, uint32_t count);
/* What is left in all, after lots were filled up or values have changed. */
void stock_count(struct stock *s);
/* Orders the lots of each family by value, after values have changed. */
void stock_rank(struct stock *s);

/* The attempts of a class, in the order of trying. */
static inline const struct attempt *stock_attempts(const struct stock *s, uint32_t class_id,
                                                   uint32_t *count_out)
{
    const struct classes *k = &s->world->classes;
    const struct pod_class *x = &k->items[class_id];
    *count_out = s->ignore_preferences ? x->strict_count : x->attempt_count;
    return &k->attempts[s->ignore_preferences ? x->first_strict : x->first_attempt];
}

#endif
