/* bound: a price below which no set of machines holds a set of items.
 *
 * A machine is one that exists already, at its price and once, or one that can be bought at its price
 * any number of times. What is sought is the least sum of prices of machines that hold all items, each
 * item on a machine that suits it, no machine over its room in any column. bound_lowest never says more
 * than that least sum, and the same in whatever order machines, items and suits come.
 *
 * How it knows. First, items taken as if they could be cut. Give every machine prices for its columns, so that its whole room is worth no more than
 * the machine. Then what lies on it, however it is packed, is worth no more either. An item is worth
 * what the machine that values it least would give; so all items together are worth no more than any
 * machines that hold them. Of a machine that exists once, the room may be worth more than its price:
 * the excess, paid at most once, is taken off the sum. Every such choice of prices is a bound; the
 * search for a good one may stop anywhere, and does after a fixed amount of work. Then, where nothing exists
 * and kinds of items are few, whole items (bound/whole.c); the higher of the two bounds holds. */
#ifndef PLANNER_BOUND_BOUND_H
#define PLANNER_BOUND_BOUND_H

#include "base/arena.h"
#include "kube/meta.h"

enum { BOUND_SUITS = 64 };

struct bound_machine {
    const amount *room;    /* a value a column; negative: holds nothing */
    const amount *largest; /* no item larger than this; NULL: `room`. For machines counted as one */
    double price;          /* 0 or more */
    uint64_t suits;        /* bit s: items of suit s may lie on it */
    uint32_t there;        /* 0: can be bought; else so many exist, and no more */
};

struct bound_item {
    const amount *size; /* a value a column, 0 or more */
    uint64_t count;
    uint32_t suit; /* below BOUND_SUITS */
};

struct bound_question {
    const struct bound_machine *machines;
    const struct bound_item *items;
    uint32_t machine_count, item_count, columns;
};

/* Items that no machine holds count nothing. Takes its memory from `a`. */
double bound_lowest(struct arena *a, const struct bound_question *q);

/* The prices behind that answer, for who looks for machines: what one of each item is worth at most
 * (0: no machine holds it). False, and nothing is written, when there is nothing to divide a price
 * over. */
bool bound_values(struct arena *a, const struct bound_question *q, double *value_out);

#endif
