/* sold: what the whole catalogue has, whatever pools may buy of it: a fix names nothing that is not there. */
#ifndef PLANNER_EXPLAIN_SOLD_H
#define PLANNER_EXPLAIN_SOLD_H

#include "planner/plan/plan.h"
#include "planner/columns.h"

/* The types that meet the requirements, all of them in one offering. */
uint64_t *sold_types(struct plan *p, const struct requirements *asked);
bool sold_any(struct plan *p, const struct requirements *asked);
/* One of those, empty, holds the requests. */
bool sold_large(struct plan *p, const struct requirements *asked, const amount *requests);

#endif
