/* volumes: what a pod's volumes say against an option, in words. */
#ifndef PLANNER_EXPLAIN_VOLUMES_H
#define PLANNER_EXPLAIN_VOLUMES_H

#include "planner/explain/words.h"

/* "data": the claim with this number among those that several pods use. */
struct span volumes_shared_name(const struct volumes *v, uint32_t number);
/* Whether the option can buy room for the attempt somewhere, with its volumes left aside. False: where
 * its volumes are it cannot; that is told. */
bool volumes_near_option(struct plan *p, struct trial *t, uint32_t class_id,
                         const struct attempt *try, uint32_t option, struct span *sentence_out,
                         struct span *fix_out);
/* "data is in topology.kubernetes.io/zone In [a]": of the claims of the class's first pod, those that are
 * not everywhere. */
struct span volumes_where(struct plan *p, uint32_t class_id);

#endif
