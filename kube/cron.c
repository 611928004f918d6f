#include "kube/cron.h"

#include "kube/meta.h"

#include <strings.h>

enum { DAY_MINUTES = 24 * 60, SEARCH_YEARS = 5 };

struct range {
    const char *name;         /* for messages */
    const char *const *names; /* of least, least + 1… or NULL */
    uint8_t name_count, least, most;
};

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELD_COUNT };

static const struct range ranges[FIELD_COUNT] = {
    [MINUTE] = {"minute", NULL, 0, 0, 59},
    [HOUR] = {"hour", NULL, 0, 0, 23},
    [DAY] = {"day of month", NULL, 0, 1, 31},
    [MONTH] = {"month", month_names, COUNT_OF(month_names), 1, 12},
    [WEEKDAY] = {"day of week", weekday_names, COUNT_OF(weekday_names), 0, 6},
};

struct field_bits {
    uint64_t bits;
    bool any;
};

static bool number_of(struct span s, const struct range *r, int64_t *out)
{
    for (uint8_t i = 0; i < r->name_count; i++) {
        if (s.len == 3 && strncasecmp(s.ptr, r->names[i], s.len) == 0) {
            *out = r->least + i;
            return true;
        }
    }
    return s.len != 0 && s.ptr[0] >= '0' && s.ptr[0] <= '9' && span_int64(s, out);
}

/* One of the comma list: `*`, `?`, N or A-B, with an optional /step. */
static bool parse_item(struct span item, const struct range *r, struct field_bits *f)
{
    struct span step_text, high_text;
    struct span span = span_cut(item, '/', &step_text);
    int64_t low, high, step = 1;
    bool any = span_eq(span, SPAN("*")) || span_eq(span, SPAN("?"));
    if (step_text.ptr != NULL &&
        (!span_int64(step_text, &step) || step < 1 || step_text.ptr[0] == '+'))
        return false;
    if (any) {
        low = r->least;
        high = r->most;
        f->any |= step == 1;
    } else {
        struct span low_text = span_cut(span, '-', &high_text);
        if (!number_of(low_text, r, &low))
            return false;
        high = step_text.ptr != NULL ? r->most : low;
        if (high_text.ptr != NULL && !number_of(high_text, r, &high))
            return false;
    }
    if (low < r->least || high > r->most || low > high)
        return false;
    for (int64_t n = low; n <= high; n += step)
        f->bits |= 1ull << n;
    return true;
}

static bool parse_field(struct span text, const struct range *r, struct field_bits *out)
{
    *out = (struct field_bits){0};
    for (struct span rest = text; rest.ptr != NULL;) {
        struct span item = span_cut(rest, ',', &rest);
        if (!parse_item(item, r, out))
            return false;
    }
    return true;
}

static struct span macro_of(struct span text)
{
    static const struct {
        struct span name, fields;
    } macros[] = {
        {SPAN_INIT("@yearly"), SPAN_INIT("0 0 1 1 *")},
        {SPAN_INIT("@annually"), SPAN_INIT("0 0 1 1 *")},
        {SPAN_INIT("@monthly"), SPAN_INIT("0 0 1 * *")},
        {SPAN_INIT("@weekly"), SPAN_INIT("0 0 * * 0")},
        {SPAN_INIT("@daily"), SPAN_INIT("0 0 * * *")},
        {SPAN_INIT("@midnight"), SPAN_INIT("0 0 * * *")},
        {SPAN_INIT("@hourly"), SPAN_INIT("0 * * * *")},
    };
    for (size_t i = 0; i < COUNT_OF(macros); i++)
        if (span_eq(text, macros[i].name))
            return macros[i].fields;
    return text;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t split(struct span text, struct span out[FIELD_COUNT + 1])
{
    size_t count = 0;
    for (size_t at = 0; at < text.len && count <= FIELD_COUNT;) {
        if (is_blank(text.ptr[at])) {
            at++;
            continue;
        }
        size_t from = at;
        while (at < text.len && !is_blank(text.ptr[at]))
            at++;
        out[count++] = (struct span){text.ptr + from, at - from};
    }
    return count;
}

bool cron_parse(struct span text, struct cron *out, struct err *err)
{
    struct span part[FIELD_COUNT + 1];
    struct field_bits f[FIELD_COUNT];
    if (span_has_prefix(text, SPAN("TZ=")) || span_has_prefix(text, SPAN("CRON_TZ=")))
        return err_set(err, ERR_INVALID, "schedule \"%.*s\" names a time zone; schedules are UTC",
                       SPAN_ARG(text));
    if (split(macro_of(text), part) != FIELD_COUNT)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not a schedule; write five fields such as \"0 9 * * mon-fri\", "
                       "or @hourly, @daily, @weekly, @monthly, @yearly",
                       SPAN_ARG(text));
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!parse_field(part[i], &ranges[i], &f[i]))
            return err_set(err, ERR_INVALID, "\"%.*s\" is not a %s of a schedule (%d to %d)",
                           SPAN_ARG(part[i]), ranges[i].name, ranges[i].least, ranges[i].most);
    *out = (struct cron){.minutes = f[MINUTE].bits,
                         .hours = (uint32_t)f[HOUR].bits,
                         .days = (uint32_t)f[DAY].bits,
                         .months = (uint32_t)f[MONTH].bits,
                         .weekdays = (uint32_t)f[WEEKDAY].bits,
                         .any_day = f[DAY].any,
                         .any_weekday = f[WEEKDAY].any};
    return true;
}

static bool day_hits(const struct cron *c, int64_t days, int32_t month, int32_t day)
{
    enum { THURSDAY = 4 }; /* of 1970-01-01 */
    int64_t weekday = (days % 7 + 7 + THURSDAY) % 7;
    bool by_day = (c->days >> day & 1) != 0, by_weekday = (c->weekdays >> weekday & 1) != 0;
    if ((c->months >> month & 1) == 0)
        return false;
    return c->any_day || c->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

bool cron_next(const struct cron *c, wall_ms after, wall_ms *out)
{
    int64_t minute =
        after / MS_MINUTE - (after % MS_MINUTE < 0) + 1; /* the first whole one after */
    int64_t first = minute / DAY_MINUTES - (minute % DAY_MINUTES < 0),
            of_day = minute - first * DAY_MINUTES;
    int64_t year, last_year;
    int32_t month, day;
    time_date(first, &last_year, &month, &day);
    last_year += SEARCH_YEARS;
    for (int64_t days = first;; days++, of_day = 0) {
        time_date(days, &year, &month, &day);
        if (year > last_year)
            return false;
        if (!day_hits(c, days, month, day))
            continue;
        for (; of_day < DAY_MINUTES; of_day++) {
            if ((c->hours >> (of_day / 60) & 1) == 0 || (c->minutes >> (of_day % 60) & 1) == 0)
                continue;
            *out = (days * DAY_MINUTES + of_day) * MS_MINUTE;
            return true;
        }
    }
}
