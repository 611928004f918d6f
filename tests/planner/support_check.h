/* support_check: whether a plan obeys the rules, worked out from the objects alone, pod by pod and
 * type by type, with nothing of the planner's. Slow and simple on purpose. */
#ifndef TESTS_PLANNER_SUPPORT_CHECK_H
#define TESTS_PLANNER_SUPPORT_CHECK_H

#include "support_cluster.h"

/* False and the first violation: "claim default-1, type x: pod a: …". */
bool check_plan(const struct cluster *c, const struct plan *p, struct err *err);

#endif
