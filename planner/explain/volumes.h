/* volumes: what a pod's volumes say against an option, in words. */
#ifndef PLANNER_EXPLAIN_VOLUMES_H
#define PLANNER_EXPLAIN_VOLUMES_H

#include "planner/explain/group_words.h"

/* "data": the claim with this number among those that several pods use. */
struct span volumes_shared_name(const struct volumes *v, uint32_t number);
/* Whether the option can buy room for the attempt somewhere, with its volumes left aside. False: where
 * those of q->pod are it cannot; that is told. */
bool volumes_near_option(const struct group_question *q, uint32_t option, struct span *sentence_out,
                         struct span *fix_out);

#endif
