/* plan_json: a plan as the document of design 5.1 and spec plan-contract 4. Unknown values are
 * absent, not zero. Equal plans give equal bytes. */
#ifndef PLANNER_PLAN_PLAN_JSON_H
#define PLANNER_PLAN_PLAN_JSON_H

#include "base/json.h"
#include "planner/plan/plan.h"

/* `aside` are warnings of whoever read the input (objects set aside); they come before the plan's. */
void plan_json(struct json *j, const struct plan *p, const struct span *aside, size_t aside_count);
/* The same in two halves: what is put between them are further members of the document. `p` NULL: there is no plan, and
 * they are all but the warnings. */
void plan_json_open(struct json *j, const struct plan *p);
void plan_json_close(struct json *j, const struct plan *p, const struct span *aside, size_t aside_count);

/* A claim, as the plan lists them; `syms` are its own. */
void plan_json_claim(struct json *j, const struct world *w, struct symtab *syms, const struct plan_claim *c);

#endif
