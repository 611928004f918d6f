/* plan_table_inner: what the parts of a plan's table share. */
#ifndef PLANNER_PLAN_PLAN_TABLE_INNER_H
#define PLANNER_PLAN_PLAN_TABLE_INNER_H

#include "planner/plan/plan_table.h"

/* Of the arena; the buffer is empty afterwards. */
struct span plan_text_take(struct arena *a, struct buf *b);
/* "7.2/7.9 91%" of CPU in millicores, or of bytes. */
struct span plan_text_share(struct arena *a, bool cpu, amount used, amount room);

void plan_table_buy(struct buf *out, struct arena *a, const struct plan *p, const struct plan_table_options *o);

#endif
