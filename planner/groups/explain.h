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

/* How many of the pods for which something grows will be on machines of the group. */
uint32_t group_pods_for(const struct group_pass *p, uint32_t group);
/* Where a pod that asked the groups will be: "a new node of group a", "node n1 of group a, which is not ready yet"; in `a`.
 * Absent: it did not ask, or no group takes it. */
struct span group_place_of(const struct group_pass *p, const struct pod *pod, struct arena *a);
struct span group_reasons_text(struct spans reasons, struct arena *a); /* of a pod_left */
/* Why no group takes a pod that asked: "2 Insufficient cpu, 1 max node group size reached", each with the number of groups; in
 * `a`. Absent: one does, or it did not ask. */
struct span group_refusal_of(const struct group_pass *p, const struct pod *pod, struct arena *a);

#endif
