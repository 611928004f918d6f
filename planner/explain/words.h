/* words: values of the planner as a person reads them. Everything returned lives in the plan. */
#ifndef PLANNER_EXPLAIN_WORDS_H
#define PLANNER_EXPLAIN_WORDS_H

#include "planner/plan/plan.h"
#include "planner/trial/trial.h"

enum { WORDS_LISTED = 6 }; /* of a list; then "and N more" */

/* "200 CPUs", "64Gi of memory", "2 example.com/gpu" */
struct span words_amount(struct plan *p, uint32_t column, amount value);
/* The same in another arena. */
struct span words_amount_in(const struct world *w, struct arena *a, uint32_t column, amount value);
struct span words_number_in(const struct world *w, struct arena *a, uint32_t column, amount value);
/* The number alone: "200", "64Gi". */
struct span words_number(struct plan *p, uint32_t column, amount value);
struct span words_requirement(struct plan *p, const struct requirement *r);
struct span words_taint(struct plan *p, const struct taint *t);
/* What follows "a pod": " with app=web", " with app in (a, b) and !canary in namespace x"; nothing when it
 * is any; of several terms " with app=a and with tier=b". `ns` is the namespace that goes without saying. */
struct span words_watch(struct plan *p, const struct topology *t, uint32_t watch, sym ns);
/* "a, b and c"; "none" of an empty set. */
struct span words_domains(struct plan *p, const struct topology_key *k, const uint64_t *set);
/* "a 3, b 1": numbers by domain of the set. */
struct span words_counts(struct plan *p, const struct topology_key *k, const uint64_t *set,
                         const uint32_t *counts);
struct span words_key(const struct plan *p, const struct topology_group *g);
/* Takes the text out of the buffer into the plan. */
struct span words_take(struct plan *p, struct buf *b);

#endif
