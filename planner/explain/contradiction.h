/* contradiction: what a pod asks of one label that no node can have at once. */
#ifndef PLANNER_EXPLAIN_CONTRADICTION_H
#define PLANNER_EXPLAIN_CONTRADICTION_H

#include "planner/explain/group_words.h"

/* "zone In [a] in its node selector and zone In [b] in its node affinity"; *count_out things. Absent: it
 * cannot be told. q->try contradicts itself. */
struct span contradiction_text(const struct group_question *q, uint32_t *count_out);

#endif
