/* explain: what a pass says about one group: one sentence, whether it was chosen and why or why not, then its size, its
 * back-off, who waits, who goes, and where each part of its template comes from. */
#ifndef PLANNER_GROUPS_EXPLAIN_H
#define PLANNER_GROUPS_EXPLAIN_H

#include "planner/explain/answer.h"
#include "planner/groups/pass.h"

/* The group's position in the model; -1: there is none of the name. */
int32_t group_find(const struct group_model *m, struct span name);
/* All of the answer is in `a`, and has has_place: the group is healthy, may grow and has a template. */
void group_explain(const struct group_pass *p, const struct group_flags *flags, const struct symtab *syms, uint32_t group,
                   wall_ms now, struct arena *a, struct explanation *out);

#endif
