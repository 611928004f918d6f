/* plan_json: a plan as the document of design 5.1 and spec plan-contract 4. Unknown values are
 * absent, not zero. Equal plans give equal bytes. */
#ifndef PLANNER_PLAN_PLAN_JSON_H
#define PLANNER_PLAN_PLAN_JSON_H

#include "base/json.h"
#include "planner/plan/plan.h"

/* `aside` are warnings of whoever read the input (objects set aside); they come before the plan's. */
void plan_json(struct json *j, const struct plan *p, const struct span *aside, size_t aside_count);

#endif
