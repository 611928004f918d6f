/* plan_command: what `plan` reads before it plans, for other commands that plan the same. */
#ifndef SERVER_PLAN_COMMAND_H
#define SERVER_PLAN_COMMAND_H

#include "kube/repair.h"
#include "planner/pods/default_spread.h"
#include "planner/plan/plan.h"
#include "server/input.h"

struct planned_with { /* what is read before the first object */
    struct catalogue catalogue;
    struct default_spread_config spread;
    struct repair_texts repair;
    struct repair_policies repair_policies;
    bool repairs; /* there is a method Repair */
};

struct plan_reading {
    struct planned_with with;
    struct plan_options options;
    span_ms time_budget; /* 0: none */
    struct world *world; /* world_free */
    int64_t decode_ns;
};

/* Reads flags and files; mistakes and warnings go to standard error, a line each. False: nothing may be
 * planned; *err has the closing line. `out` stays where it is: the world points into it. */
bool plan_read(struct input *o, const struct options *options, struct plan_reading *out,
               struct err *err);

/* What a world is built of: all that was read. `out` borrows `world_options`. */
void plan_world_input(const struct input *o, const struct options *options, const struct planned_with *with,
                      struct world_options *world_options, struct world_input *out);

/* plan_solve as `plan` does it: the search is stopped when the time is over, counted from here. */
struct plan *plan_in_time(const struct world *w, const struct plan_options *o, span_ms time_budget);

#endif
