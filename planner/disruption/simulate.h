/* simulate: what if these nodes were gone (spec disruption 7)?
 *
 * A simulator lies on one world and answers one question after another. It undoes each before the next, so what an
 * answer points to is valid until the next question, and equal questions have equal answers whatever was asked
 * between them. Nothing grows with the number of questions. What a question costs goes by what it touches: answers
 * are short, and what a plan would list and explain is made for who asks for it (simulation_claim, simulation_plan).
 *
 * Pending pods and those of leaving nodes are part of every question, as upstream has it; they are planned anew in each,
 * and equal ones that have no place cost as much as one.
 *
 * Answers, and the plans that they are of, are greedy's, whichever search the options name: outcome, claims and places as
 * plan_solve has them with SEARCH_GREEDY. A command is carried out as it was judged: who judges it by another plan
 * (`cheaper`) asks for that.
 *
 * Memory: by row, by attempt of a class (bits of rows), by topology group (its domains), and 16 MiB of what claims
 * become with pods on them, which is forgotten then; of a question what its pods take. */
#ifndef PLANNER_DISRUPTION_SIMULATE_H
#define PLANNER_DISRUPTION_SIMULATE_H

#include "planner/plan/plan.h"

struct simulator;

/* `o` as for a plan: policies, who is barred or put off, now, stop. What it says of the search, removals, reservations, places
 * and arrivals is not read. Borrows both. */
struct simulator *simulator_new(const struct world *w, const struct plan_options *o);
void simulator_free(struct simulator *s); /* NULL is fine */

struct simulation_question {
    const uint32_t *rows; /* the candidates, each once */
    uint32_t count;
    enum removal why;     /* consolidation also asks that who moves keeps off nodes within their consolidateAfter */
    /* The second look of 7.2: who could use a reserved offering waits for one, and one more instance of this
     * reservation is free. Absent: reservations that are full are done without. */
    struct span credit;
    bool cheaper; /* simulation_plan: by the search `cheapest`, with less effort than a plan of its own. Answers are greedy's */
};

enum simulated {
    SIMULATED_PLACED,   /* every pod but such as were pending has a place, none of them (but of a leaving node) on a node
                         * that is not initialised */
    SIMULATED_UNPLACED, /* some would have none: simulation_unplaced */
    SIMULATED_LEAVING,  /* a candidate is leaving already */
    SIMULATED_NO_POOLS, /* no pool is ready and dynamic: upstream asks nobody then, existing nodes neither */
    SIMULATED_STOPPED,  /* plan_options.stop */
};

struct simulation {
    enum simulated outcome;
    uint32_t claims;   /* to be bought, those of pending pods included; without meaning unless PLACED */
    uint32_t unplaced; /* pods that are not pending */
    uint64_t steps;
};

struct simulation simulate(struct simulator *s, const struct simulation_question *q);

/* Of the last question. The least price at which claim i can be had, INFINITY: at none; and all of it, its symbols
 * read with simulation_syms. */
double simulation_least_price(struct simulator *s, uint32_t claim);
const struct plan_claim *simulation_claim(struct simulator *s, uint32_t claim);
const struct symtab *simulation_syms(struct simulator *s);

/* Where pods go that need no claim, pending ones included, in the order of rows and of a row in that in which the
 * scheduler can bind them. */
struct simulation_place {
    const struct pod *pod;
    uint32_t row;
};
const struct simulation_place *simulation_places(struct simulator *s, uint32_t *count_out);

/* Whether what is asked of claim i leaves the capacity type open, be it one that nothing left of it can be launched
 * as, which the claim's own requirement does not name any more. One that holds reservations is reserved. */
bool simulation_admits(struct simulator *s, uint32_t claim, sym capacity_type);
/* Why, of at most five pods as upstream lists them: "not all pods would schedule, ns/name => …; …". In `a`. */
struct span simulation_unplaced(struct simulator *s, struct arena *a);
/* The plan that the answer is of, or the cheaper one that was asked for, told (explain/tell.h has to be asked for): the caller's to free. */
struct plan *simulation_plan(const struct simulator *s, const struct simulation_question *q);

/* Who would have to go elsewhere if the row were gone (leavers.h). */
struct row_leavers;
const struct row_leavers *simulation_leavers(struct simulator *s, uint32_t row);

/* Bytes that it holds. */
size_t simulator_memory(const struct simulator *s);

#endif
