/* log: one line, one event. Text for a terminal, JSON lines elsewhere. Only shells log; pure code
 * returns reasons. Thread-safe: a line is one write(2) of the sink.
 *
 * The text form is `15:04:05  subject   sentence` in UTC, with "error: " or "warning: " before the
 * sentence of those levels, and without the fields; what is not safe to show there becomes escapes
 * (safe_text.h). A terminal gets a long sentence on several lines, indented. The JSON form has time, level, subject, message and the fields. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdatomic.h>

#include "span.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Gets one finished line, newline included. */
typedef void log_sink(void *user, enum log_level level, struct span line);

struct log {
    log_sink *sink;
    void *user;
    int64_t (*now_ms)(void *user); /* wall clock, milliseconds since 1970 */
    _Atomic(enum log_level) level; /* may be changed while others log */
    enum log_format format;
    uint32_t width; /* columns of the terminal that text is wrapped to; 0: it is not */
};

struct log_field {
    const char *key;
    struct span value;
};

const char *log_level_name(enum log_level l); /* "error", "warn"… */
/* False: no level has this name. */
bool log_level_find(struct span name, enum log_level *out);

/* `subject` is one short word: plan, buy, ready, bound, remove, gone, api… */
void log_event(const struct log *log, enum log_level level, const char *subject,
               const struct log_field *fields, size_t count, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#define log_error(log, subject, ...) log_event((log), LOG_ERROR, (subject), NULL, 0, __VA_ARGS__)
#define log_warn(log, subject, ...) log_event((log), LOG_WARN, (subject), NULL, 0, __VA_ARGS__)
#define log_info(log, subject, ...) log_event((log), LOG_INFO, (subject), NULL, 0, __VA_ARGS__)
#define log_debug(log, subject, ...) log_event((log), LOG_DEBUG, (subject), NULL, 0, __VA_ARGS__)

#endif
