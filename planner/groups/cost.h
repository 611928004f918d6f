/* cost: what the machines of node groups cost in an hour, before and after a pass, where the group has a price. */
#ifndef PLANNER_GROUPS_COST_H
#define PLANNER_GROUPS_COST_H

#include "planner/groups/pass.h"

struct buf;
struct json;

struct group_cost {
    double before, after; /* an hour: of all machines that are asked for, by the groups' targets */
    int32_t unpriced;     /* machines after the pass of which nobody knows the price: they are in neither */
    bool known;           /* some group has a price */
};

/* The machines that a group is asked to have once all that the pass decides has been carried out. */
int32_t group_target_after(const struct group_pass *p, uint32_t group);

/* After: as if all that the pass decides had been carried out, what it removes included. */
struct group_cost group_cost_of(const struct group_pass *p);

/* Member "groupCost" of the object that is open; none when no group has a price. */
void group_cost_json(struct json *j, const struct group_pass *p);
void group_cost_table(struct buf *out, const struct group_pass *p); /* a line, or none */

#endif
