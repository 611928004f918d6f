/* market: a bound's question without what cannot matter, and what a division of prices is worth on it.
 * For the files of planner/bound alone. */
#ifndef PLANNER_BOUND_MARKET_H
#define PLANNER_BOUND_MARKET_H

#include "planner/bound/bound.h"

/* fmin and fmax are calls, for the sake of NaN, which does not come up here. */
static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Matrices are rows of `columns`. */
struct market {
    struct arena *arena;
    bool whole; /* for whole_value, which needs small machines too */
    uint32_t columns; /* that some item asks for */
    uint32_t machines, items;
    double *room, *largest; /* a row a machine */
    double *price;
    double *there;
    uint64_t *suits;
    double *size; /* a row an item */
    double *count;
    uint32_t *suit;
    const uint32_t *column;     /* of the question, by column here */
    uint32_t *suit_number;      /* by suit of the question: its number here */
};

struct division {
    double *part;  /* a row a machine, sum 1 */
    double *worth; /* of a machine: its price, or more when it exists */
};

/* False when nothing is left to divide a price over: then *least_out is the answer. Else the answer
 * is no less than it: what the machine of some item costs at least. */
bool market_build(struct market *k, struct arena *a, const struct bound_question *q, bool whole,
                  double *least_out);
bool market_holds(const struct market *k, uint32_t machine, uint32_t item);
/* What a machine charges for a unit of each column: a row a machine. */
void market_rates(const struct market *k, const struct division *d, double *rates_out);
double market_charge(const struct market *k, const double *rates, uint32_t machine, uint32_t item);
/* The least that any machine charges for one item of the question; 0 when none holds it. */
double market_least(const struct market *k, const double *rates, const struct bound_item *item);
/* The bound that follows from a division: true for any whose parts are 0 or more and sum to 1, and
 * whose worths are no less than the price, equal to it for what can be bought. `rates` is room for
 * market_rates. */
double market_value(const struct market *k, const struct division *d, double *rates);

/* Whether whole_value can be asked: nothing that exists is in it, and not too much. */
bool whole_suits(const struct market *k);
/* A bound that knows that items are whole, of a market made for it; it starts from worths by item, those of a
 * division. */
double whole_value(const struct market *k, const double *first);

/* The division that the game finds. */
struct division game_divide(const struct market *k);

#endif
