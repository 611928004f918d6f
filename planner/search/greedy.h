/* greedy: Karpenter's order and outcome (spec provisioning 4.2-4.4): largest pods first, existing
 * nodes by name, then claims with the fewest pods, then a new claim of the first pool that will do. */
#ifndef PLANNER_SEARCH_GREEDY_H
#define PLANNER_SEARCH_GREEDY_H

#include "planner/trial/options.h"
#include "planner/trial/trial.h"

struct greedy;
struct places;

/* Gives those of the queue who have a place on a row, and still fit there, that place; who was sent there
 * has only to have room, and comes first, by a call of its own: he is as good as there. Returns how many of the queue
 * are left, in their order; the places of the others are outcomes. */
uint32_t greedy_seat_sent(struct trial *t, const struct places *places, uint32_t *queue, uint32_t count,
                          uint8_t *outcome_out);
uint32_t greedy_seat(struct trial *t, const struct places *places, uint32_t *queue,
                     uint32_t count, uint8_t *outcome_out);

/* Gives a pod that the scheduler is about to bind to one of the rows the first that has room for it, whatever
 * the rules say of it. Returns its index; count: none has. */
uint32_t greedy_receive(struct trial *t, uint32_t pod, const uint32_t *rows, uint32_t count);

/* With SEARCH_CHEAPEST those who find no place so come once more, measured as in search/measure.h.
 * `queue` are numbers of the trial's pods, in order; outcome_out has one a number. Claims that the trial
 * has already are there to be filled. Pods of removed nodes do not go to rows of the set `closed` (NULL:
 * none). Returns false when stopped before the end. */
bool greedy_run(struct trial *t, const struct plan_options *o, const uint64_t *closed,
                const uint32_t *queue, uint32_t count, uint8_t *outcome_out);

/* Many runs over one trial, from the same ground each time (trial_stand): what rows refuse as they stand there is
 * learned once. Memory lies in the trial's arena as it is now, and goes by attempts and rows; of a run in the trial's
 * arena of then. `o` and `closed` are borrowed. */
struct greedy *greedy_new(struct trial *t, const struct plan_options *o, const uint64_t *closed);
/* As greedy_run, with SEARCH_GREEDY; `keeps_off`: pods of removed nodes do not go to `closed`. */
bool greedy_again(struct greedy *g, bool keeps_off, const uint32_t *queue, uint32_t count, uint8_t *outcome_out);

/* Sorts numbers of the trial's pods: CPU, memory, age, UID. */
void greedy_order(const struct trial *t, struct arena *a, uint32_t *queue, uint32_t count);
/* Below 0: the first comes before. */
int greedy_compare(const struct trial *t, const struct waiting_pod *a, const struct waiting_pod *b);

#endif
