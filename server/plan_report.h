/* plan_report: a plan as one page of HTML with its style in it and no script: it can be mailed, and opened without a
 * network. Nodes are boxes as wide as their CPUs, filled by whose pods stand there or are to; machines of node groups, too. */
#ifndef SERVER_PLAN_REPORT_H
#define SERVER_PLAN_REPORT_H

#include "planner/groups/pass.h"
#include "planner/plan/plan.h"

enum {
    /* A browser lays out so many without a wait, at some 2 KB each; those that are bought come first, and the others
     * are counted. */
    REPORT_NODES_MAX = 2000,
    REPORT_WORKLOADS_MAX = 500, /* rows of the table, dearest first */
};

/* Of NodePools, of node groups, or of both: one of them may be NULL. */
void plan_report(struct buf *out, const struct plan *p, const struct group_pass *groups);

#endif
