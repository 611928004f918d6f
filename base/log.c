#include "base/log.h"
#include "base/json.h"
#include "base/safe_text.h"
#include "base/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE_MAX = 64 * 1024, MS_PER_DAY = 24 * 60 * 60 * 1000 };

struct event {
    enum log_level level;
    const char *subject;
    const struct log_field *fields;
    size_t count;
    struct span message;
    int64_t now_ms;
};

struct day_time {
    int64_t year;
    unsigned month, day, hour, minute, second, ms;
};

/* The proleptic Gregorian calendar by eras of 400 years, each 146,097 days, counted from March so that
 * the leap day comes last. */
static struct day_time split_time(int64_t ms)
{
    int64_t days = ms / MS_PER_DAY, rest = ms % MS_PER_DAY;
    if (rest < 0) {
        rest += MS_PER_DAY;
        days--;
    }
    int64_t since = days + 719468; /* 0000-03-01 to 1970-01-01 */
    int64_t era = (since >= 0 ? since : since - 146096) / 146097;
    int64_t of_era = since - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0 is March */
    struct day_time t = {
        .day = (unsigned)(of_year - (153 * month + 2) / 5 + 1),
        .month = (unsigned)(month < 10 ? month + 3 : month - 9),
        .hour = (unsigned)(rest / 3600000),
        .minute = (unsigned)(rest / 60000 % 60),
        .second = (unsigned)(rest / 1000 % 60),
        .ms = (unsigned)(rest % 1000),
    };
    t.year = year + era * 400 + (t.month <= 2);
    return t;
}

/* A terminal too narrow for a column of sentences breaks lines itself. */
static void put_text(struct buf *line, const struct event *e, uint32_t width)
{
    enum { COLUMN = 20, LEAST = 2 * COLUMN };
    struct day_time t = split_time(e->now_ms);
    struct buf sentence = {0};
    buf_addf(line, "%02u:%02u:%02u  ", t.hour, t.minute, t.second);
    size_t from = line->len;
    safe_line_add(line, span_of(e->subject));
    wrap_spaces(line, line->len - from < 9 ? (uint32_t)(10 - (line->len - from)) : 1);
    uint32_t at = (uint32_t)line->len;
    if (e->level == LOG_ERROR)
        buf_add(&sentence, SPAN("error: "));
    else if (e->level == LOG_WARN)
        buf_add(&sentence, SPAN("warning: "));
    buf_add(&sentence, e->message);
    wrap_put(line, buf_span(&sentence), width >= LEAST ? width : UINT32_MAX, at, COLUMN);
    buf_release(&sentence);
}

static void put_json(struct buf *line, const struct event *e)
{
    struct day_time t = split_time(e->now_ms);
    char time[64];
    int n = snprintf(time, sizeof(time), "%04lld-%02u-%02uT%02u:%02u:%02u.%03uZ",
                     (long long)t.year, t.month, t.day, t.hour, t.minute, t.second, t.ms);
    struct json j = JSON_TO(line);
    json_object_begin(&j);
    json_put_string(&j, "time", (struct span){time, (size_t)n});
    json_put_string(&j, "level", span_of(log_level_name(e->level)));
    json_put_string(&j, "subject", span_of(e->subject));
    json_put_string(&j, "message", e->message);
    for (size_t i = 0; i < e->count; i++)
        json_put_string(&j, e->fields[i].key, e->fields[i].value);
    json_object_end(&j);
    buf_add_char(line, '\n');
}

const char *log_level_name(enum log_level l)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    return names[l];
}

bool log_level_find(struct span name, enum log_level *out)
{
    for (enum log_level l = LOG_ERROR; l <= LOG_DEBUG; l++)
        if (span_eq(name, span_of(log_level_name(l)))) {
            *out = l;
            return true;
        }
    return false;
}

void log_event(const struct log *log, enum log_level level, const char *subject,
               const struct log_field *fields, size_t count, const char *format, ...)
{
    if (level > atomic_load_explicit(&log->level, memory_order_relaxed))
        return;
    struct buf line = {0};
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int n = vasprintf(&text, format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < MESSAGE_MAX ? (size_t)n : MESSAGE_MAX;
    struct event e = {level, subject, fields, count, {n < 0 ? "" : text, len},
                      log->now_ms(log->user)};
    if (log->format == LOG_JSON)
        put_json(&line, &e);
    else
        put_text(&line, &e, log->width);
    log->sink(log->user, level, buf_span(&line));
    if (n >= 0)
        free(text);
    buf_release(&line);
}
