/* plan_table: a plan for a person at a terminal: the answer first, then what to buy, what to use and
 * what has no place and why. No colour; no line is wider than `width` unless one word is. What somebody
 * has to tell apart is whole: only names of pools and nodes are cut, and only for a terminal. */
#ifndef PLANNER_PLAN_PLAN_TABLE_H
#define PLANNER_PLAN_PLAN_TABLE_H

#include "planner/plan/plan.h"

struct plan_table_options {
    uint32_t width; /* columns of the terminal; 0: there is none, text is wrapped at 80 and tables are not cut */
    bool wide;      /* each node on a row of its own, with whose pods go there */
    bool verbose;   /* also runner-up types, steps and the chain of each reason */
    struct span left_out; /* a sentence, without its full stop, about pods that were not asked about; or absent */
};

void plan_table(struct buf *out, const struct plan *p, const struct plan_table_options *o);

#endif
