/* measure: spreads measured from what stands.
 *
 * A plan measures a spread from all domains that can be bought, and over hostnames from an empty node, as
 * Karpenter v1.15.0 does: so it holds whatever is bought beside it. kube-scheduler measures it from the
 * domains in which nodes stand that count for the pod. Who finds no place by the first rule may find one by
 * the second, on a node or claim that is there, as long as nothing is bought afterwards: a claim counts in
 * every domain in which it may turn out to be, a node also when it is to go. */
#ifndef PLANNER_SEARCH_MEASURE_H
#define PLANNER_SEARCH_MEASURE_H

#include "planner/search/trial.h"

struct measure {
    struct trial *t;
    uint8_t *admits;              /* scratch, by profile */
    uint64_t **may, **sure, **of; /* scratch, by topology key */
    uint64_t looks;               /* at rows and claims, ever */
};

void measure_init(struct measure *m, struct trial *t);
/* The attempt's spreads are measured so until something moves; those of others as ever. False when it has
 * none, or measures them no other way. */
bool measure_standing(struct measure *m, const struct attempt *try);
/* Claims that leave the label of such a spread open get the value with the most pods that it counts, where
 * that is the plan's to choose: then they stand in one domain, not in any. False when none does. */
bool measure_settle(struct measure *m, const struct attempt *try);
/* As ever again. */
void measure_end(struct measure *m);

#endif
