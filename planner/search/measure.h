/* measure: spreads measured from what stands.
 *
 * A plan measures a spread from all domains that can be bought, and over hostnames from an empty node, as
 * Karpenter v1.15.0 does: so it holds whatever is bought beside it. kube-scheduler measures it from the
 * domains in which nodes stand that count for the pod. Who finds no place by the first rule may find one by
 * the second, as long as nothing is bought afterwards that lowers the number: a claim counts in every domain
 * in which it may turn out to be, a node also when it is to go. */
#ifndef PLANNER_SEARCH_MEASURE_H
#define PLANNER_SEARCH_MEASURE_H

#include "planner/trial/trial.h"

struct relied { /* placements held with at least so many pods of the group in every domain that stands */
    uint32_t group, least;
    const struct attempt *try;
};

struct measure {
    struct trial *t;
    uint32_t *least; /* by group, of the attempt that is measured; 0: as ever */
    struct relied *relied;
    uint32_t relied_count, relied_capacity;
    uint8_t *admits;              /* scratch, by profile */
    uint64_t **may, **sure, **of; /* scratch, by topology key */
    uint64_t looks;               /* at rows and claims, ever */
};

void measure_init(struct measure *m, struct trial *t);
/* The attempt's spreads are measured so until something moves; those of others as ever. False when it has
 * none, or measures them no other way. */
bool measure_standing(struct measure *m, const struct attempt *try);
/* A pod was placed by the attempt as it is measured. */
void measure_rely(struct measure *m, const struct attempt *try);
/* Whether what was bought since leaves in place who was placed so. */
bool measure_holds(struct measure *m);
/* Claims that leave the label of such a spread open get the value with the most pods that it counts, where
 * that is the plan's to choose: then they stand in one domain, not in any. False when none does. */
bool measure_settle(struct measure *m, const struct attempt *try);
/* As ever again. */
void measure_end(struct measure *m);

#endif
