/* disruption_told: what was decided, for a program (`disruption` of the document of spec plan-contract 4) and for a
 * person at a terminal. Equal decisions give equal bytes. */
#ifndef PLANNER_DISRUPTION_DISRUPTION_TOLD_H
#define PLANNER_DISRUPTION_DISRUPTION_TOLD_H

#include "base/json.h"
#include "planner/disruption/disruption.h"

/* "remove a, b -> buy c (underutilized): saves $0.084/h, evicts 3 pods, pays back in 4m0s"; at most five names of each. */
struct span disruption_move_text(struct arena *a, const struct world *w, const struct disruption_command *c);
/* A member `disruption`, and where something is `recommended` only (NULL: nobody was asked) one of that name. */
void disruption_json(struct json *j, const struct world *w, const struct disruption *d, const struct disruption *recommended);
/* A line a command; `verbose`: also why others are left alone. */
void disruption_table(struct buf *out, const struct world *w, const struct disruption *d, uint32_t width, bool verbose);
/* A line each of what is recommended; without any, nothing. */
void disruption_table_recommended(struct buf *out, const struct world *w, const struct disruption *d, uint32_t width);

#endif
