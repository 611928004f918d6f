/* groups: what topology groups say against an attempt, in words. */
#ifndef PLANNER_EXPLAIN_GROUPS_H
#define PLANNER_EXPLAIN_GROUPS_H

#include "planner/explain/group_words.h"

#define GROUPS_TOGETHER UINT32_MAX

/* Those of the attempt and those that keep its class off, in an order that does not depend on that of the
 * input. */
const uint32_t *groups_in_order(const struct group_question *q, uint32_t *count_out);
/* Why a new node of the option will not do, though types, limits and, by themselves, volumes would
 * allow it: the first group that leaves nothing by itself, which is returned, else GROUPS_TOGETHER. */
uint32_t groups_refuse_option(const struct group_question *q, uint32_t option,
                              struct span *sentence_out, struct span *fix_out);
/* Whether the group is an affinity to pods that are nowhere, which no node of any option can meet. */
bool groups_nowhere(const struct group_question *q, uint32_t option, uint32_t group,
                    struct span *sentence_out, struct span *fix_out);
/* By topology key the domains in which the option can buy room for the attempt: within limits, where its
 * volumes are. */
void groups_buys(const struct group_question *q, uint32_t option, uint32_t key, uint64_t *out);

#endif
