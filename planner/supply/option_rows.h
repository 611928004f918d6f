/* option_rows: how much room there is on what an option buys.
 *
 * Room is what is allocatable less the requests of the DaemonSet pods that come (spec provisioning 2.8). Offerings
 * of a type differ by overrides, and by DaemonSets that select what only the offering settles: a zone, a
 * capacity type. Karpenter v1.15.0 counts every DaemonSet of a type wherever it is bought. */
#ifndef PLANNER_SUPPLY_OPTION_ROWS_H
#define PLANNER_SUPPLY_OPTION_ROWS_H

#include "planner/supply/option.h"

/* Fills the option's rows, DaemonSets and rooms from its requirements, types and kinds. Types that no offering
 * leaves usable are dropped: an allocatable that is negative anywhere holds nothing (2.6). */
void option_rows(struct option *o, struct world *w);

#endif
