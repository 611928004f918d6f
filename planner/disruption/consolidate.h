/* consolidate: whether candidates can go all together, for nothing or for one node that costs less (spec disruption
 * 8.6). For this folder only. */
#ifndef PLANNER_DISRUPTION_CONSOLIDATE_H
#define PLANNER_DISRUPTION_CONSOLIDATE_H

#include "planner/disruption/methods.h"

enum consolidating {
    CONSOLIDATE_NOT,
    CONSOLIDATE_DELETE,  /* their pods find room on what stands: whatever that costs */
    CONSOLIDATE_REPLACE,
};

struct consolidation {
    enum consolidating outcome;
    struct simulation simulated;
    bool spot, on_demand; /* the replacement is open to */
    double savings;       /* per hour */
    struct span why;      /* of NOT, of one candidate; several are not told: it may be any of them */
};

/* Of the candidates those that may be consolidated at all (8.4), the highest ratio first; others have a note. */
struct candidates consolidate_whom(struct disrupting *d, struct candidates all, enum disruption_method m);

/* `scratch` is cleared; `why` lives in it. */
struct consolidation consolidate(struct disrupting *d, struct arena *scratch, const struct candidate *c, uint32_t count);

/* Adds the command, which is not CONSOLIDATE_NOT. */
void consolidate_take(struct disrupting *d, enum disruption_method m, const struct candidate *c, uint32_t count,
                      const struct consolidation *x);

#endif
