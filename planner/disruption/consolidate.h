/* consolidate: whether candidates can go all together, for nothing or for one node that costs less (spec disruption
 * 8.6), and where the search is not Karpenter's also for several nodes that cost less together. For this folder only. */
#ifndef PLANNER_DISRUPTION_CONSOLIDATE_H
#define PLANNER_DISRUPTION_CONSOLIDATE_H

#include "planner/disruption/methods.h"

enum consolidating {
    CONSOLIDATE_NOT,
    CONSOLIDATE_DELETE,  /* their pods find room on what stands: whatever that costs */
    CONSOLIDATE_REPLACE, /* by what costs less, whatever is launched */
};

enum { MOST_REPLACEMENTS = 16 }; /* of one command, where there may be several: each is waited for before anybody goes */

struct consolidation {
    enum consolidating outcome;
    struct simulation simulated;
    double savings;       /* per hour */
    struct move_price price;
    bool cheaper;         /* by the claims of consolidate_cheaper */
    struct span why;      /* of NOT, of one candidate; several are not told: it may be any of them */
};

/* Of the candidates those that may be consolidated at all (8.4), the highest ratio first; others have a note. */
struct candidates consolidate_whom(struct disrupting *d, struct candidates all, enum disruption_method m);

/* `scratch` is cleared; `why` lives in it. A replacement is to save more than `above` an hour (0: anything). */
struct consolidation consolidate(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count,
                                 double above);
/* The same, but also for claims that are cheaper than those that greedy makes: with a whole plan for each question. */
struct consolidation consolidate_cheaper(struct disrupting *d, struct arena *scratch, const struct candidate *c,
                                         uint32_t count, double above);
/* Less is none: sums of prices differ by it in their last places. */
#define PRICE_DIFFERENCE 1e-9

/* Adds the command, which is not CONSOLIDATE_NOT. */
void consolidate_take(struct disrupting *d, enum disruption_method m, const struct candidate *c, uint32_t count,
                      const struct consolidation *x);

#endif
