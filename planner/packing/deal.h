/* deal: which domains pods that spread go to, decided before anything is packed.
 *
 * A machine can only be filled well when a workload's pods may come to it in any number. Pods that spread
 * may not, one after the other: each waits for the others to be elsewhere. So they are dealt out first, by
 * their numbers alone and as the rules of spreading have it one after the other: to the domain where they cost
 * least of those that are open, then to the one with the fewest of them. Where they go is their *cell*:
 * a domain in each key by which they spread. Each cell is packed for itself then, and since all of it comes to
 * stand, spreads are measured by what every domain has in the end (tally_measure).
 *
 * Zones, capacity types, labels of pools or types: any key but hostname, of which every node is a domain (struct
 * stock, caps). */
#ifndef PLANNER_PACKING_DEAL_H
#define PLANNER_PACKING_DEAL_H

#include "planner/trial/trial.h"

enum { CELL_ANY = 0 }; /* that of pods that do not spread */
/* No domain was open: nothing is bought for the pod by this deal. */
static const uint32_t CELL_NONE = UINT32_MAX;

struct dealt_group { /* a spread, and how it is measured */
    uint32_t group;
    const struct attempt *try; /* one that it binds */
    uint32_t least; /* pods that each domain has in the end */
};

struct deal {
    struct arena *arena;
    uint32_t *cell_of;      /* by the trial's number of a pod */
    const int32_t **cells;  /* by topology key a domain; below 0: any */
    uint32_t cell_count, cell_capacity;
    struct intern known;    /* cells */
    struct dealt_group *groups;
    uint32_t group_count, group_capacity;
};

/* Finds the spreads of the pods; without any there is nothing to be dealt. */
void deal_init(struct deal *d, struct arena *a, const struct trial *t, const uint32_t *pods,
               uint32_t count);

struct deal_question {
    uint64_t limit; /* of the trial's questions */
    const uint32_t *pods;
    uint32_t count;
};
/* Gives each of the pods its cell, beside those who have places in the trial, which is as before in the end. False
 * when it was cut short by the limit or stopped: the deal is of no use. */
bool deal_make(struct deal *d, struct trial *t, const struct deal_question *q);

/* From now on the trial measures the spreads by what is to come of the deal, or by what has come in `made`. */
void deal_measure(const struct deal *d, struct trial *t);
void deal_measure_as(const struct deal *d, const struct trial *made, struct trial *t);
/* How many pods are too many where they are, beside those who stood there, when the spreads are measured from all
 * domains that can be bought. Above 0 not all came of what was dealt; or pods were placed by what stands alone
 * (search/measure.h), and some domain is left out. */
uint64_t deal_excess(const struct deal *d, const struct trial *t);

#endif
