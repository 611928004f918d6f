/* inner: what the parts of scale-down share. Everybody else uses planner/groups/inner.h.
 *
 * Nodes are positions in r->rows, which has them by name. */
#ifndef PLANNER_GROUPS_DOWN_INNER_H
#define PLANNER_GROUPS_DOWN_INNER_H

#include "planner/groups/down/drain.h"
#include "planner/groups/down/leave.h"
#include "planner/groups/inner.h"

enum down_fate { DOWN_STAYS, DOWN_EMPTY, DOWN_DRAINS };

struct down_answer { /* of one node */
    bool has_utilization, unneeded;
    double utilization;
    wall_ms since; /* unneeded */
    enum unremovable unremovable;
    const struct pod *pod; /* that blocks it, or NULL */
    enum drain_block block;
    uint32_t moved; /* unneeded: its pods that need a place elsewhere */
    enum down_fate fate; /* whose removal this pass starts */
};

struct down {
    struct group_run *r;
    struct drain_controllers controllers;
    struct evictions evictions;
    struct drain drain;
    sym gpu_by_label; /* what GPUs are where the label alone speaks of them */
    struct down_answer *answers;
    struct leave_node *unneeded; /* as they were found */
    uint32_t unneeded_count;
};

static inline const struct node *down_node(const struct down *d, uint32_t at)
{
    return world_node_at(d->r->world, d->r->rows[at])->node;
}

static inline const struct group_now *down_group(const struct down *d, uint32_t at)
{
    int32_t group = d->r->owners[d->r->rows[at]];
    return group < 0 ? NULL : &d->r->groups[group];
}

/* gpus.c: the resource that its GPUs are; SYM_NONE: it is no GPU node. */
sym gpus_of(const struct down *d, const struct node *n);
/* How many of the type, which the label says, one node has. False: there is no telling. */
bool gpus_count(const struct down *d, const struct node *n, int32_t group, struct span *type_out, int64_t *count_out);

/* candidates.c: which nodes are looked at for removal (spec node-groups 4.1). Those of groups above their minimum, the
 * ones under way among them: first the empty nodes, of these last those with pods that are to run to their end, then
 * those that were unneeded before, then the rest; by name. Returns how many; `out` has room for all nodes. */
uint32_t candidates_list(const struct down *d, uint32_t *out);
/* Whether it is worth while to ask where its pods could go (4.2); fills in utilization and why not. */
bool candidates_eligible(const struct down *d, uint32_t at, struct down_answer *answer);

/* set.c: d->unneeded and the answers of those that are eligible, which come in the order of candidates_list. Upstream tries
 * them in this order, each when those before it have gone. So does --search greedy; else other orders are tried, too, and
 * what is best is taken: see there. */
void down_find_unneeded(struct down *d, const uint32_t *eligible, uint32_t count);
int down_by_worth(const void *a, const void *b); /* of leave_nodes: the most first, equals by name */
/* Machines of the group whose Node stands in the snapshot. */
uint32_t down_registered(const struct group_run *r, const struct group_now *now);

/* removal.c: where the pods of a node would go (4.5). What one removal takes stays taken for those that follow. */
struct removal_found {
    bool drains, risky, waits; /* see leave.h */
    uint32_t moved;            /* pods that go elsewhere, those included that came from nodes removed before */
    double cost;               /* of their evictions (planner/disruption/candidate.h), each at least 0 */
};
struct node_removal;
/* Pods look first among the nodes of `first` (bits by row), then among all that stay; NULL: among all. */
struct node_removal *removal_begin(struct down *d, const uint64_t *first);
bool removal_try(struct node_removal *x, uint32_t at, struct down_answer *answer, struct removal_found *out);
void removal_end(struct node_removal *x); /* the snapshot is as it was */

/* minima.c: how much the cluster can lose, and what a node of each group is of that. False: there is no telling, and
 * nothing goes. */
bool minima_measure(const struct down *d, struct leave_room *room, struct leave_group *groups);

#endif
