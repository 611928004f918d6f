/* fill: what to put on one machine of a product, so that little of its price is wasted.
 *
 * Lots come one after the other, each time the one that brings most value for the share that it takes
 * of what is left; so what is scarce on the machine goes to those who can do nothing with the rest. On a
 * machine of a few pods the last ones waste much so: then one may give way to a better one. It
 * changes nothing: who asks takes what is proposed from the stock, or does not.
 *
 * It looks at families, not at lots, and goes over a family's lots from the most valuable on as they
 * are used up. */
#ifndef PLANNER_PACKING_FILL_H
#define PLANNER_PACKING_FILL_H

#include "planner/packing/stock.h"

struct fill_step { /* so many of a lot */
    uint32_t lot, count;
};

struct fill_lot { /* what holds for one machine */
    uint32_t machine;
    uint32_t taken; /* proposed, and not yet committed */
    bool closed;    /* one of it was refused */
};

struct fill {
    const struct stock *stock;
    double *left, *per;       /* by column: what is left, and its reciprocal */
    uint8_t cap_left[STOCK_CAPS];
    uint64_t full;            /* groups of which the machine can have no more pods */
    uint32_t *open;           /* families that may still fit */
    uint32_t open_count;
    uint32_t *at;             /* by family: lots before this one are of no use to this machine */
    uint32_t *start;          /* by family: lots before this one are used up */
    struct fill_lot *lots;
    uint32_t machine;         /* counts them */
    double bulk;              /* preference for large pods; 0: none */
    uint64_t seed;            /* the first pod is of this group, if one of it fits; 0: any */
    const struct fill_step *script; /* proposed first, as far as it can be had; see fill_follow */
    uint32_t script_count, script_at;
    struct fill_step *took;   /* by this machine, in the order of taking */
    uint32_t took_count, took_capacity;
    double value;
    uint64_t looks;           /* at families and lots, ever */
};

void fill_init(struct fill *f, const struct stock *s);
/* The stock was filled up or ranked anew. */
void fill_restart(struct fill *f);
/* A machine of the product with requests on it already (by column of the world; NULL: none), for which
 * `bulk` and `seed` hold as they are. */
void fill_begin(struct fill *f, const struct product *p, const amount *requests);
/* After fill_begin: the machine is to be filled like one before, with which nothing else fitted. The
 * steps are the caller's. */
void fill_follow(struct fill *f, const struct fill_step *steps, uint32_t count);
/* So many of a lot go on; false when nothing more fits. */
bool fill_next(struct fill *f, uint32_t *lot_out, uint32_t *count_out);
/* Of the last lot proposed so many went on, and no more of it are to be proposed if that is fewer:
 * lots[].next has moved by as much. */
void fill_commit(struct fill *f, uint32_t lot, uint32_t proposed, uint32_t went);
/* The value that the machine would hold; `took` says with what. */
double fill_value(struct fill *f, const struct product *p);
/* After fill_value: one pod at a time goes for a more valuable one, as long as there is one that fits. */
void fill_improve(struct fill *f, const struct product *p);

#endif
