/* pass_json: the answer about node groups, as the Plan has it (spec groups-contract 4). */
#ifndef PLANNER_GROUPS_PASS_JSON_H
#define PLANNER_GROUPS_PASS_JSON_H

#include "base/json.h"
#include "planner/groups/pass.h"

/* Members of the object that is open. */
void group_pass_json(struct json *j, const struct group_pass *p);
/* Sentences and a table for people; `width` in columns. */
void group_pass_table(struct buf *out, const struct group_pass *p);

#endif
