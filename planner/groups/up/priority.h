/* priority: the ConfigMap of the expander of that name: levels, each with expressions for groups' names. */
#ifndef PLANNER_GROUPS_UP_PRIORITY_H
#define PLANNER_GROUPS_UP_PRIORITY_H

#include "planner/groups/inner.h"

struct group_priorities;

/* NULL: there is none, or it cannot be read: then nothing is filtered. */
const struct group_priorities *groups_priorities(struct group_run *r);
/* The highest level with an expression that is found in the name; false: none has. */
bool group_priority(const struct group_priorities *p, struct span group, int64_t *out);

#endif
