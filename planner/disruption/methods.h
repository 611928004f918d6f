/* methods: one decision of each, over what all share. For this folder only. */
#ifndef PLANNER_DISRUPTION_METHODS_H
#define PLANNER_DISRUPTION_METHODS_H

#include "planner/disruption/candidate.h"
#include "planner/disruption/disruption.h"
#include "planner/disruption/simulate.h"

struct disrupting {
    const struct world *w;
    const struct disruption_options *o;
    struct disruption *out;
    struct simulator *simulator;
    struct candidate_facts facts;
    uint32_t command_capacity, note_capacity, plan_capacity;
};

struct candidates {
    struct candidate *items; /* in the order of rows */
    uint32_t count;
};

/* All that may be disrupted by the class; who may not has a note once. */
struct candidates candidates_of(struct disrupting *d, enum disruption_class k, enum disruption_method m);

/* Each adds its commands (most at most one) and notes. False: the pass ends here with d->out->error. */
bool repair_decide(struct disrupting *d);
bool emptiness_decide(struct disrupting *d);
bool static_drift_decide(struct disrupting *d);
bool drift_decide(struct disrupting *d);
bool multi_decide(struct disrupting *d);
bool single_decide(struct disrupting *d);

struct disruption_command *command_add(struct disrupting *d, struct disruption_command c);
/* `row` -1: of the pool alone. */
void note_add(struct disrupting *d, struct disruption_note n);

#endif
