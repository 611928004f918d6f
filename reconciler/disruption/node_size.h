/* node_size: what a node has room for, or what was wanted of one, as far as purchases are told apart by it: whether a node
 * that went would have done in the stead of one that was bought (loops.h, returns.h). For this folder only. */
#ifndef RECONCILER_DISRUPTION_NODE_SIZE_H
#define RECONCILER_DISRUPTION_NODE_SIZE_H

#include "kube/resources.h"

struct node_size {
    amount cpu, memory, pods;
};

static inline struct node_size node_size_of(struct resources r)
{
    return (struct node_size){resources_get(r, SYM_CPU), resources_get(r, SYM_MEMORY), resources_get(r, SYM_PODS)};
}

static inline bool node_size_holds(const struct node_size *room, const struct node_size *wanted)
{
    return wanted->cpu <= room->cpu && wanted->memory <= room->memory && wanted->pods <= room->pods;
}

#endif
