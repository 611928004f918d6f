/* several: a growth over several groups, put together pod by pod on nodes that stand from the beginning, so that what could
 * be there counts as there. What nobody came to is not asked for. Between a fork of the snapshot and its revert. */
#ifndef PLANNER_GROUPS_UP_SEVERAL_H
#define PLANNER_GROUPS_UP_SEVERAL_H

#include "planner/groups/up/inner.h"

struct open_group {
    uint32_t group;
    uint32_t last;   /* its newest node */
    bool used;       /* somebody is on that */
    int32_t nodes;   /* that somebody is on */
    int64_t permits; /* how many more of these there may be */
};

struct new_node {
    uint32_t of; /* position of its open_group */
    int32_t at;  /* which of the group's it is, of those that somebody is on; -1: nobody is */
};

struct several {
    struct up *up;
    struct growth *out;
    struct open_group *groups;
    uint32_t count;
    uint32_t first; /* number of the first new node */
    struct new_node *nodes;
    uint32_t node_count, node_capacity;
    int64_t permits; /* over all groups */
};

/* Of the groups in the set those that have room; `most` pods. */
struct several several_begin(struct up *u, const uint64_t *groups, uint32_t most, struct growth *out);
/* One more that is empty. */
void several_open_node(struct several *x, uint32_t of);
bool several_may_use(const struct several *x, uint32_t node);
/* The pod is there. */
void several_note(struct several *x, uint32_t node, const struct pod *p);
/* False: the filters, or limits, say no. */
bool several_seat_at(struct several *x, uint32_t node, const struct pod *p, uint32_t class_id);
/* It comes to nothing: what it took of the limits is given back. */
void several_drop(struct several *x);

#endif
