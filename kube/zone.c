#include "kube/zone.h"

#include "kube/meta.h"

#include <string.h>

static bool has_name(const char *names, struct span name)
{
    for (struct span rest = span_of(names); rest.ptr != NULL;)
        if (span_eq(span_cut(rest, ' ', &rest), name))
            return true;
    return false;
}

static bool two_digits(const char *at, int most, int *out)
{
    if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
        return false;
    *out = (at[0] - '0') * 10 + (at[1] - '0');
    return *out <= most;
}

/* "+02:00" */
static bool fixed(struct span name, struct zone *out)
{
    enum { HOURS_MOST = 14, MINUTES_MOST = 59 };
    int hours, minutes;
    if (name.len != 6 || (name.ptr[0] != '+' && name.ptr[0] != '-') || name.ptr[3] != ':' ||
        !two_digits(name.ptr + 1, HOURS_MOST, &hours) || !two_digits(name.ptr + 4, MINUTES_MOST, &minutes))
        return false;
    int offset = (hours * 60 + minutes) * (name.ptr[0] == '-' ? -1 : 1);
    *out = (struct zone){.standard = (int16_t)offset, .summer = (int16_t)offset};
    return true;
}

bool zone_parse(struct span name, struct zone *out)
{
    if (name.len == 0)
        return false;
    for (size_t i = 0; i < zone_row_count; i++)
        if (has_name(zone_rows[i].names, name)) {
            *out = zone_rows[i].rule;
            return true;
        }
    return fixed(name, out);
}

/* Of a year, by the clock. */
static wall_ms turn_in(const struct zone_turn *t, int64_t year)
{
    enum { THURSDAY = 4 }; /* of 1970-01-01 */
    int64_t first = time_days(year, t->month, 1);
    int64_t next = t->month == 12 ? time_days(year + 1, 1, 1) : time_days(year, t->month + 1, 1);
    int64_t weekday = (first % 7 + 7 + THURSDAY) % 7;
    int64_t day = first + (t->weekday - weekday + 7) % 7 + (int64_t)(t->week - 1) * 7;
    while (day >= next)
        day -= 7;
    return day * 24 * MS_HOUR + t->minute * MS_MINUTE;
}

static span_ms minutes(int16_t n)
{
    return n * (span_ms)MS_MINUTE;
}

span_ms zone_offset(const struct zone *z, wall_ms t)
{
    int64_t year, local = t + minutes(z->standard);
    int32_t month, day;
    if (z->standard == z->summer)
        return minutes(z->standard);
    time_date(local / (24 * MS_HOUR) - (local % (24 * MS_HOUR) < 0), &year, &month, &day);
    wall_ms begins = turn_in(&z->begins, year) - minutes(z->standard);
    wall_ms ends = turn_in(&z->ends, year) - minutes(z->summer);
    bool summer = begins < ends ? t >= begins && t < ends : t >= begins || t < ends;
    return minutes(summer ? z->summer : z->standard);
}

wall_ms zone_utc(const struct zone *z, wall_ms local)
{
    span_ms far = minutes(z->summer > z->standard ? z->summer : z->standard);
    span_ms near = minutes(z->summer > z->standard ? z->standard : z->summer);
    return zone_offset(z, local - far) == far ? local - far : local - near;
}
