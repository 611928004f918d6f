/* Times and durations as the API writes them. No clock here: these are texts. */
#include "kube/meta.h"

enum { DAY_S = 86400, YEAR_ZERO_DAYS = 719468 /* 0000-03-01 … 1970-01-01 */, ERA_DAYS = 146097 };

/* Days since 1970 of a proleptic Gregorian date, years counted from March so that the leap day
 * comes last. */
int64_t time_days(int64_t year, int32_t month, int32_t day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - YEAR_ZERO_DAYS;
}

void time_date(int64_t days, int64_t *year_out, int32_t *month_out, int32_t *day_out)
{
    int64_t z = days + YEAR_ZERO_DAYS;
    int64_t era = (z >= 0 ? z : z - (ERA_DAYS - 1)) / ERA_DAYS;
    int64_t of_era = z - era * ERA_DAYS;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t m = (5 * of_year + 2) / 153; /* 0: March */
    *day_out = (int32_t)(of_year - (153 * m + 2) / 5 + 1);
    *month_out = (int32_t)(m < 10 ? m + 3 : m - 9);
    *year_out = year + era * 400 + (*month_out <= 2);
}

static bool number_at(struct span s, size_t at, size_t digits, int64_t *out)
{
    *out = 0;
    for (size_t i = at; i < at + digits; i++) {
        if (i >= s.len || s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        *out = *out * 10 + (s.ptr[i] - '0');
    }
    return true;
}

static bool char_at(struct span s, size_t at, char c)
{
    return at < s.len && s.ptr[at] == c;
}

/* "Z" or "+01:30" from `at` to the end; the result in minutes. */
static bool zone_at(struct span s, size_t at, int64_t *minutes_out)
{
    int64_t h, m;
    if (char_at(s, at, 'Z')) {
        *minutes_out = 0;
        return at + 1 == s.len;
    }
    if (!char_at(s, at, '+') && !char_at(s, at, '-'))
        return false;
    if (!number_at(s, at + 1, 2, &h) || !char_at(s, at + 3, ':') || !number_at(s, at + 4, 2, &m) ||
        at + 6 != s.len || h > 23 || m > 59)
        return false;
    *minutes_out = (h * 60 + m) * (s.ptr[at] == '-' ? -1 : 1);
    return true;
}

bool time_parse(struct span s, wall_ms *out)
{
    static const uint8_t month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t y, mo, d, h, mi, sec, zone, ms = 0;
    if (!number_at(s, 0, 4, &y) || !char_at(s, 4, '-') || !number_at(s, 5, 2, &mo) ||
        !char_at(s, 7, '-') || !number_at(s, 8, 2, &d) || !char_at(s, 10, 'T') ||
        !number_at(s, 11, 2, &h) || !char_at(s, 13, ':') || !number_at(s, 14, 2, &mi) ||
        !char_at(s, 16, ':') || !number_at(s, 17, 2, &sec))
        return false;
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    if (mo < 1 || mo > 12 || d < 1 || d > month_days[mo - 1] || (mo == 2 && d == 29 && !leap) ||
        h > 23 || mi > 59 || sec > 59)
        return false;
    size_t at = 19;
    if (char_at(s, at, '.')) {
        size_t from = ++at;
        for (int64_t unit = 100; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++) {
            ms += (s.ptr[at] - '0') * unit;
            unit /= 10;
        }
        if (at == from)
            return false;
    }
    if (!zone_at(s, at, &zone))
        return false;
    *out = ((time_days(y, (int32_t)mo, (int32_t)d) * DAY_S + h * 3600 + (mi - zone) * 60 + sec) *
            MS_SECOND) +
           ms;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static struct span text_of(struct arena *a, wall_ms t, bool micro)
{
    int64_t seconds = floor_div(t, MS_SECOND);
    int64_t days = floor_div(seconds, DAY_S);
    int32_t of_day = (int32_t)(seconds - days * DAY_S);
    int64_t y;
    int32_t m, d;
    time_date(days, &y, &m, &d);
    struct span s = arena_printf(a, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)y, (int)m, (int)d,
                                 (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60));
    return micro ? arena_printf(a, "%.*s.%03d000Z", SPAN_ARG(s), (int)(t - seconds * MS_SECOND))
                 : arena_printf(a, "%.*sZ", SPAN_ARG(s));
}

struct span time_text(struct arena *a, wall_ms t)
{
    return text_of(a, t, false);
}

struct span time_micro_text(struct arena *a, wall_ms t)
{
    return text_of(a, t, true);
}

enum { NS_MS = 1000000 };

/* Two bytes each, but for m and s and h, which are one. */
static bool unit_at(struct span s, size_t *at, int64_t *ns_out)
{
    static const struct {
        struct span text;
        int64_t ns;
    } units[] = {
        /* "ms" before "m" */
        {SPAN_INIT("ns"), 1},
        {SPAN_INIT("us"), 1000},
        {SPAN_INIT("\xc2\xb5s"), 1000}, /* micro sign */
        {SPAN_INIT("\xce\xbcs"), 1000}, /* Greek mu */
        {SPAN_INIT("ms"), NS_MS},
        {SPAN_INIT("s"), 1000LL * NS_MS},
        {SPAN_INIT("m"), 60000LL * NS_MS},
        {SPAN_INIT("h"), 3600000LL * NS_MS},
    };
    struct span rest = {s.ptr + *at, s.len - *at};
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (span_has_prefix(rest, units[i].text)) {
            *at += units[i].text.len;
            *ns_out = units[i].ns;
            return true;
        }
    }
    return false;
}

/* digits [. digits] unit, added to *total. Digits behind the point that a double could not hold are
 * less than a nanosecond of an hour. */
static bool part_at(struct span s, size_t *at, int64_t *total)
{
    int64_t whole = 0, unit;
    double fraction = 0, weight = 1;
    bool any = false;
    for (; *at < s.len && s.ptr[*at] >= '0' && s.ptr[*at] <= '9'; (*at)++, any = true)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, s.ptr[*at] - '0', &whole))
            return false;
    if (char_at(s, *at, '.'))
        for (++*at; *at < s.len && s.ptr[*at] >= '0' && s.ptr[*at] <= '9'; (*at)++, any = true)
            fraction += (weight /= 10) * (s.ptr[*at] - '0');
    if (!any || !unit_at(s, at, &unit))
        return false;
    return !__builtin_mul_overflow(whole, unit, &whole) &&
           !__builtin_add_overflow(*total, whole, total) &&
           !__builtin_add_overflow(*total, (int64_t)(fraction * (double)unit), total);
}

bool duration_parse(struct span s, span_ms *out)
{
    size_t at = 0;
    int64_t ns = 0;
    bool negative = false;
    if (s.len != 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
        negative = s.ptr[at++] == '-';
    if (s.len - at == 1 && s.ptr[at] == '0') {
        *out = 0;
        return true;
    }
    if (at == s.len)
        return false;
    while (at < s.len)
        if (!part_at(s, &at, &ns))
            return false;
    /* away from zero: a duration above 0 stays above 0 */
    *out = (ns / NS_MS + (ns % NS_MS != 0)) * (negative ? -1 : 1);
    return true;
}

struct span duration_text(struct arena *a, span_ms d)
{
    const char *sign = d < 0 ? "-" : "";
    uint64_t ms = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
    if (ms == 0)
        return arena_dup(a, SPAN("0s"));
    if (ms < MS_SECOND)
        return arena_printf(a, "%s%dms", sign, (int)ms);
    unsigned long long h = ms / MS_HOUR, m = ms / MS_MINUTE % 60, s = ms / MS_SECOND % 60;
    int fraction = (int)(ms % MS_SECOND);
    struct span text = h != 0   ? arena_printf(a, "%s%lluh%llum%llu", sign, h, m, s)
                       : m != 0 ? arena_printf(a, "%s%llum%llu", sign, m, s)
                                : arena_printf(a, "%s%llu", sign, s);
    if (fraction == 0)
        return arena_printf(a, "%.*ss", SPAN_ARG(text));
    int digits = 3;
    for (; fraction % 10 == 0; fraction /= 10)
        digits--;
    return arena_printf(a, "%.*s.%0*ds", SPAN_ARG(text), digits, fraction);
}
