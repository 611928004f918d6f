/* zone: time zones by name: how far local time is from UTC. Pure: the rule by which each zone goes now is compiled in
 * (zone_table.c), so that a plan is the same on every machine. What a zone did before, or does in some years only
 * (Morocco's Ramadan), is not known. */
#ifndef KUBE_ZONE_H
#define KUBE_ZONE_H

#include "base/span.h"
#include "base/units.h"

struct zone_turn { /* of the clocks, as POSIX' TZ has it: "M3.5.0/2" */
    int8_t month, week, weekday; /* week 5: the month's last; Sunday is 0 */
    int16_t minute;              /* of the day, by the clock as it is before; may lie outside of the day */
};
struct zone {                     /* zero is UTC */
    int16_t standard, summer;     /* minutes before UTC; the same: clocks do not turn */
    struct zone_turn begins, ends; /* of summer time */
};

/* "Europe/Berlin", "UTC", or hours and minutes such as "+05:30". False: it is none that is known. */
bool zone_parse(struct span name, struct zone *out);
/* Local time less UTC. */
span_ms zone_offset(const struct zone *z, wall_ms t);
/* When clocks show that (local as if it were UTC): of two such times the first, and of what they leave out as late after
 * their turn as it would be. */
wall_ms zone_utc(const struct zone *z, wall_ms local);

struct zone_row {
    struct zone rule;
    const char *names; /* between blanks */
};
extern const struct zone_row zone_rows[];
extern const size_t zone_row_count;

#endif
