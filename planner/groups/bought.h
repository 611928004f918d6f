/* bought: nodes that NodePools buy, as a pass over the groups is to see them: on their way, with the pods for which they are
 * bought on them, and without room for anybody else. Only those on which somebody stands to whom it matters, for a required
 * rule about where pods are (world_is_minded): whoever must be spread, together or apart is so over both.
 *
 * Such a node has the labels that it is sure to have. A zone that is still open is not among them: then a pod counts in
 * none until the machine is there and says. It is no Node of the cluster, and in none of its sums. Nodes are named by their
 * number: their texts in `syms` are the same few ones each time. Of the pods those count that are bound nowhere: others still
 * stand where they have to leave. */
#ifndef PLANNER_GROUPS_BOUGHT_H
#define PLANNER_GROUPS_BOUGHT_H

#include "planner/plan/plan.h"

struct group_bought { /* in an arena; all zero: none */
    const struct node **nodes;
    const struct pod **pods; /* copies, bound to them */
    const struct pod **pods_of; /* of which */
    uint32_t node_count, pod_count;
    uint32_t node_capacity, pod_capacity, pod_of_capacity;
};

/* A world has the same nodes and pods by both, which are of the very same pods. */
bool bought_same(const struct group_bought *x, const struct group_bought *y);

/* One that is on its way already, unless it matters to nobody. `w`: the pools'. */
void bought_add_claim(struct group_bought *b, struct arena *a, struct symtab *syms, const struct world *w,
                      const struct node_claim *c, const struct pod *const *pods, uint32_t count);
/* Of a plan, who has kept a place on one of these included. In `a`. */
struct group_bought bought_of_plan(const struct plan *p, struct symtab *syms, struct arena *a);

#endif
