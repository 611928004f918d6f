/* planner_run: asks a planner for a plan, by files and flags as a user would: our own in this
 * process, or any program with the same command line named by STOWAGE_PLANNER. */
#ifndef TESTS_SCENARIOS_PLANNER_RUN_H
#define TESTS_SCENARIOS_PLANNER_RUN_H

#include "fleet.h"

bool planner_is_foreign(void);
bool planner_is_cheapest(void); /* our own, and its search is cheapest */

/* Plans the fleet as it is. The files stay in STOWAGE_KEEP/<id>.<batch>/ when that is set. NULL and
 * *why_out when there is no plan. */
json_t *planner_run(const struct fleet *f, const json_t *flags, const char *id, size_t batch,
                    const char **why_out);

#endif
