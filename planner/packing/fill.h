/* fill: what to put on one machine of a product, so that little of its price is wasted.
 *
 * Lots come one after the other, each time the one that brings most value for the share that it takes
 * of what is left; so what is scarce on the machine goes to those who can do nothing with the rest. It
 * changes nothing: who asks takes what is proposed from the stock, or does not. */
#ifndef PLANNER_PACKING_FILL_H
#define PLANNER_PACKING_FILL_H

#include "planner/packing/stock.h"

struct fill {
    const struct stock *stock;
    double *left, *per;       /* by column: what is left, and its reciprocal */
    uint8_t cap_left[STOCK_CAPS];
    uint64_t full;            /* groups of which the machine can have no more pods */
    uint32_t *open;           /* lots that may still fit */
    uint32_t open_count;
    uint32_t *taken;          /* by lot: proposed, and not yet committed */
    double bulk;              /* preference for large pods; 0: none */
    uint64_t seed;            /* the first pod is of this group, if one of it fits; 0: any */
    double value;
    uint64_t looks;           /* lots looked at, ever */
};

void fill_init(struct fill *f, const struct stock *s);
/* A machine of the product with requests on it already (by column of the world; NULL: none), for which
 * `bulk` and `seed` hold as they are. */
void fill_begin(struct fill *f, const struct product *p, const amount *requests);
/* So many of a lot go on; false when nothing more fits. */
bool fill_next(struct fill *f, uint32_t *lot_out, uint32_t *count_out);
/* Of the last lot proposed so many went on, and no more of it are to be proposed if that is fewer:
 * lots[].next has moved by as much. */
void fill_commit(struct fill *f, uint32_t lot, uint32_t proposed, uint32_t went);
/* The value that the machine would hold. */
double fill_value(struct fill *f, const struct product *p);

#endif
