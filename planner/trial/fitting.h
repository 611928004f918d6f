/* fitting: in which spec, and on which of its types, a claim takes one pod more. Asks and changes nothing;
 * trial_claim.c makes it so. */
#ifndef PLANNER_TRIAL_FITTING_H
#define PLANNER_TRIAL_FITTING_H

#include "planner/trial/trial.h"

enum obstacle { NO_OBSTACLE, TOO_FEW_VALUES, RESERVATIONS_TAKEN, RESERVATIONS_FULL };

struct fitting { /* of one pod into one claim */
    struct trial *t;
    const struct trial_claim *claim;
    const amount *requests; /* with the pod's */
    const struct pod_class *class;
    const struct attempt *try;
    bool is_new;
    uint32_t witness;
    bool cut; /* t->left holds the types that are left; else the witness held */
    uint32_t choices; /* of domains, that were made again */
    enum obstacle obstacle; /* of the last try that types did not stop */
    const uint32_t *least;
    bool relaxed;
    const uint64_t *held;
};

/* Drops from `set` what does not hold `requests`; the largest by CPU, then memory, becomes the witness.
 * False when nothing is left. */
bool fitting_keep(const struct world *w, const struct spec *s, uint64_t *set,
                  const amount *requests, uint32_t *witness_out);
/* Whether types are left when the pod is there too; `exact`: t->left is worked out in any case. */
bool fitting_types(struct fitting *f, uint32_t spec, bool exact);
/* The spec in which the attempt stands where its volumes are and by its groups, minValues and
 * reservations, or -1. */
int32_t fitting_spec(struct fitting *f, uint32_t spec);

#endif
