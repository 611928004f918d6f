/* replacement: what a claim may still be bought as when it is to stand in for nodes, so that it costs less than they do
 * whatever is launched (spec disruption 4.3, 8.4, 8.6, 8.7).
 *
 * "Less" is said of the worst launch: of the offerings of a type that can be launched, the dearest of the capacity type
 * that would be taken (reserved before spot before on-demand). What a pool says that its nodes cost beside their price
 * counts on both sides. */
#ifndef PLANNER_DISRUPTION_REPLACEMENT_H
#define PLANNER_DISRUPTION_REPLACEMENT_H

#include "planner/disruption/candidate.h"
#include "planner/plan/plan.h"

/* Options that a spot node's replacement by a spot node needs, and has at most unless minValues ask for more: what is
 * launched is among them, so that the next pass does not replace it again. */
enum { SPOT_OPTIONS = 15 };

enum replacing {
    REPLACING_NOT_CHEAPER, /* nothing left of it is cheaper for sure */
    REPLACING_MIN_VALUES,  /* what is left has too few different values of `key` */
    REPLACING_SPOT_GATE,   /* spot by spot, and the gate SpotToSpotConsolidation is off */
    REPLACING_SPOT_FEW,    /* spot by spot, and only so many `options` are cheaper */
    REPLACING_YES,
};

struct replacement_question {
    const struct candidate *candidates; /* that go */
    uint32_t count;
    const struct plan_claim *claim;     /* as simulated */
    bool spot, on_demand;               /* what it admits (simulation_admits) */
    bool spot_to_spot;                  /* gate */
    double below;                       /* only what costs less than this; 0: than all candidates together */
};

struct replacement {
    enum replacing verdict;
    sym key;                 /* REPLACING_MIN_VALUES */
    uint32_t options;        /* REPLACING_SPOT_FEW */
    struct plan_claim claim; /* REPLACING_YES: cut down, by price; what it does not change is the question's */
    double worst;            /* REPLACING_YES: what one of its types costs at worst, the least of them */
};

/* Of several candidates, also none of a type that one of them has, at its price or more: then that one is to stay
 * (8.4). In `a`. */
struct replacement replacement_find(struct arena *a, const struct world *w, const struct replacement_question *q);

/* What the candidates cost in an hour, 0 where it is not known, and what their pools say that they cost beside. */
double replacement_total(const struct candidate *c, uint32_t count);
/* Spot nodes by a spot node. */
bool replacement_is_spot_to_spot(const struct replacement_question *q);

#endif
