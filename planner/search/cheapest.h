/* cheapest: greedy's plan, made cheaper.
 *
 * Plans are compared in this order: pods placed, from the highest priority down; then, for the same
 * pods, how many of them spread over fewer domains than can be bought (search/measure.h); price, where 0.1 % above the
 * cheapest plan seen is no difference; then how many of their preferences are given up; then the number of machines;
 * then the rest of the price. The first is greedy's; another takes its place only when it is better, and for the same
 * pods and spreads no dearer at all. Every plan is made by asking a trial, as greedy does: no rule is broken for a
 * price.
 *
 * Others that are tried:
 * - greedy's order with the highest priority first, when greedy has left pods out;
 * - groups of which it has left some out, seated whole first (search/whole.h): if that places more, it
 *   holds for all plans that follow;
 * - pods that greedy put on nodes stay there; of the rest those that spread are dealt to their domains
 *   (packing/deal.h), and machines are bought one at a time, over and over with what was learned
 *   (packing/packer.h).
 *
 * Bounded by steps, never by the clock: questions to trials, and lots that were looked at. Which plans
 * are tried, and in which order, does not depend on the bound: more effort tries more of them, and is
 * never worse; if it is dearer, then by 0.1 % at most, and it gives up fewer preferences or has fewer machines.
 * Greedy's plan does not count against it; when that leaves pods out, the first two of the others count and are made
 * to their end all the same. */
#ifndef PLANNER_SEARCH_CHEAPEST_H
#define PLANNER_SEARCH_CHEAPEST_H

#include "planner/trial/options.h"
#include "planner/trial/trial.h"

struct cheapest {
    struct arena *arena; /* of the plan */
    struct symtab *syms;
    const struct plan_options *options;
    const uint64_t *closed; /* see greedy_run */
    const uint32_t *queue;  /* numbers of the trial's pods, in greedy's order */
    uint32_t count;
    const uint32_t *admitted; /* the queue, and those who have places from before; in the same order */
    uint32_t admitted_count;
    /* A new trial, in an arena of its own, as greedy's was before its first pod of the queue; without those
     * of the set `unseated`, by number, who had a place from before (NULL: all have theirs). */
    void (*start)(void *user, struct arena *a, const uint64_t *unseated, struct trial *out);
    void *user;
    uint64_t steps; /* of all plans that were tried */
    struct arena *trial_arena; /* of the best, which its caller releases; NULL: nothing was tried */
};

/* `t` is as `start` makes one; in the end it and outcome_out (see greedy_run) are of the best plan.
 * Returns false when the search was cut short: by effort, or stopped. */
bool cheapest_run(struct cheapest *c, struct trial *t, uint8_t *outcome_out);

#endif
