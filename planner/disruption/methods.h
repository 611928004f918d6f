/* methods: one decision of each, over what all share. For this folder only. */
#ifndef PLANNER_DISRUPTION_METHODS_H
#define PLANNER_DISRUPTION_METHODS_H

#include "planner/disruption/candidate.h"
#include "planner/disruption/disruption.h"
#include "planner/disruption/simulate.h"

struct candidates {
    struct candidate *items; /* in the order of rows */
    uint32_t count;
};

struct sweep;

struct disrupting {
    const struct world *w;
    const struct disruption_options *o;
    struct disruption *out;
    struct simulator *simulator;
    struct candidate_facts facts;
    struct candidates of_class[DISRUPT_COUNT];
    bool asked[DISRUPT_COUNT]; /* of_class is known */
    uint8_t *told;             /* by row: the last `enum blocked` that has a note */
    struct span *refused;      /* by row: the last text of its notes NOTE_UNCONSOLIDATABLE */
    struct sweep *swept;       /* by MULTI and SINGLE together; NULL: not yet */
    bool stopped;              /* by plan_options.stop: no method is asked any more */
    uint32_t told_reasons;     /* bit by `enum disruption_reason`: pools that it has no allowance in have a note */
    uint32_t command_capacity, note_capacity, plan_capacity;
};

void disrupting_start(struct disrupting *d, const struct world *w, const struct disruption_options *o);
struct disruption *disrupting_end(struct disrupting *d); /* d->out is the caller's */

/* All that may be disrupted by the class; who may not has a note once. The list is the caller's to sort and cut. */
struct candidates candidates_of(struct disrupting *d, enum disruption_class k, enum disruption_method m);
/* Its pool says of the method's reason what the question is about (disruption_options.mode). */
bool candidate_is_asked_about(const struct disrupting *d, const struct candidate *c, enum disruption_method m);
void candidates_sort(struct disrupting *d, struct candidates c); /* candidate_order */
static inline int32_t candidate_pool(const struct disrupting *d, const struct candidate *c)
{
    return world_node_at(d->w, c->row)->pool;
}

/* What the budgets leave to the method; a pool with nodes and a budget that allows none has a note. */
struct allowances allowances_of(struct disrupting *d, enum disruption_method m);
/* Those of a drift: no more than its pools' waves have left. */
struct allowances wave_allowances_of(struct disrupting *d, enum disruption_method m);
/* A budget holds somebody back. */
void constrained_add(struct disrupting *d, enum disruption_method m);

/* Each adds its commands (most at most one) and notes. False: the pass ends here with d->out->error. */
bool repair_decide(struct disrupting *d);
bool emptiness_decide(struct disrupting *d);
bool static_drift_decide(struct disrupting *d);
bool drift_decide(struct disrupting *d);
bool multi_decide(struct disrupting *d);
bool single_decide(struct disrupting *d);

/* --- drift and repair --- */

/* The id of the reservation that it holds an instance of; SYM_NONE: it holds none. */
sym candidate_reservation(const struct disrupting *d, const struct candidate *c);
enum moving {
    MOVING_DECIDED,
    MOVING_LEAVING, /* it leaves already */
    MOVING_BLOCKED, /* its pods have nowhere to go: a note says so */
    MOVING_ENDS,    /* the pass, or the time for it */
};
struct moving_how {
    enum disruption_method method;
    enum removal why;
    bool terminate_first; /* the method's gate */
};
/* What one node of a dynamic pool is replaced by, where its pods would have a place; where they only have one once it
 * is gone, because it holds the reservation that they need, it is terminated first (7.2). */
enum moving move_one(struct disrupting *d, const struct moving_how *how, const struct candidate *c,
                     struct disruption_command *out);

struct static_pool {
    const struct node_pool *pool;
    int64_t active, pending, leaving; /* claims: pending ones are about to be disrupted */
    int64_t room;                     /* nodes that limits.nodes still lets be; INT64_MAX: any number */
    bool usable;                      /* Ready, and not being deleted */
    bool full;                        /* it can buy from reservations alone, and none has an instance left (8.11) */
    const sym *offered;               /* of those the ids that are not broken */
    uint32_t offered_count;
    uint32_t named;                   /* the last ordinal that a replacement was named with */
};
struct static_pool static_pool_of(struct disrupting *d, int32_t pool, bool reservations);
/* Commands for as many of the candidates, all of this pool, as `want`: 1:1 by its template where there is room for one
 * more node, terminated first where there is none and the method's gate is on, else noted as blocked. Returns how many
 * commands: `grace` and the like are the caller's to add. */
uint32_t static_stage(struct disrupting *d, const struct moving_how *how, struct static_pool *p,
                      const struct candidate *c, uint32_t count, uint32_t want);

/* A command about these candidates: rows, cost, and savings as of a delete. */
struct disruption_command command_of(struct disrupting *d, enum disruption_method m, const struct candidate *c,
                                     uint32_t count);
/* What replaces them is all that the answer to `q` buys; without any it is a delete. The command keeps the plan. */
void command_replace(struct disrupting *d, struct disruption_command *c, const struct simulation_question *q);
struct disruption_command *command_add(struct disrupting *d, struct disruption_command c);
/* `row` -1: of the pool alone. */
void note_add(struct disrupting *d, struct disruption_note n);
/* A note on one candidate. That it is not consolidated, for the same reason by several methods, is noted once. */
void note_candidate(struct disrupting *d, enum disruption_method m, enum disruption_note_kind kind,
                    const struct candidate *c, struct span text);
/* Ends the pass, unless something has already. Returns false. */
bool pass_fails(struct disrupting *d, struct span error);
/* A simulation that ends the pass, or was stopped: false, and why is kept. */
bool simulated_whole(struct disrupting *d, const struct simulation *x);

#endif
