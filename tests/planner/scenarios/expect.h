/* expect: what a scenario expects of a plan, held against what came. README.md has the words. */
#ifndef TESTS_SCENARIOS_EXPECT_H
#define TESTS_SCENARIOS_EXPECT_H

#include "base/buf.h"
#include "fleet.h"

/* After the fleet has taken the plan in. Adds a line to *out for each thing that does not hold. */
void expect_hold(const json_t *expect, const struct fleet *f, const json_t *plan, struct buf *out);

#endif
