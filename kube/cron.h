/* cron: the schedules of NodePool budgets: five fields or a macro, always UTC (spec api 4.4).
 *
 * A field is a comma list of `*`, `?`, N, A-B, each with an optional /step. Months and weekdays
 * have names; 7 is no weekday. When both day fields are restricted, a day that matches either
 * counts. */
#ifndef KUBE_CRON_H
#define KUBE_CRON_H

#include "base/err.h"
#include "base/span.h"
#include "base/units.h"

struct cron { /* bit n of a field: n is a hit */
    uint64_t minutes;
    uint32_t hours, days, months, weekdays;
    bool any_day, any_weekday; /* the field starts with * or ? and has no step */
};

bool cron_parse(struct span text, struct cron *out, struct err *err);
/* The first hit strictly after a time; false when there is none within five years. */
bool cron_next(const struct cron *c, wall_ms after, wall_ms *out);

#endif
