/* crop: which of the nodes that may go do so in this pass (spec node-groups 4.7). Pure arithmetic over budgets. */
#ifndef PLANNER_GROUPS_DOWN_CROP_H
#define PLANNER_GROUPS_DOWN_CROP_H

#include <stdbool.h>
#include <stdint.h>

struct crop_node {
    uint32_t node, group;
    bool drains; /* has pods that need a place elsewhere */
    bool taken;  /* the answer */
};

struct crop_group {
    bool zero_or_max; /* goes as a whole, or not at all */
    int32_t target;
    uint32_t registered; /* machines of it that have a Node */
};

struct crop_budget { /* what is left of them; below 0 when more are on their way than the flags allow */
    int32_t parallel; /* --max-scale-down-parallelism */
    int32_t drains;   /* --max-drain-parallelism, a part of the first */
};

/* Nodes come in the order in which they are to go; groups, which nodes name by position, in that of their first
 * node. */
void crop_nodes(struct crop_node *nodes, uint32_t count, const struct crop_group *groups, struct crop_budget budget);

#endif
