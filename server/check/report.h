/* report: what `stowage check` found, a line each, and how it is shown. */
#ifndef SERVER_CHECK_REPORT_H
#define SERVER_CHECK_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum check_level {
    CHECK_OK,
    CHECK_UNKNOWN, /* could not be found out; the fix says how it could */
    CHECK_WARN,    /* works, and costs something */
    CHECK_FAIL,    /* does not work */
    CHECK_LEVEL_COUNT,
};

struct check_line {
    enum check_level level;
    const char *topic; /* "permissions"; a machine's name of the check */
    struct span sentence, fix; /* fix: absent when there is nothing to do */
};

struct check_report {
    struct arena *a; /* of all texts */
    struct check_line *lines;
    uint32_t count, capacity;
};

/* Adds a line. `fix` is copied; NULL: none. */
__attribute__((format(printf, 5, 6))) void check_say(struct check_report *r, enum check_level level,
                                                     const char *topic, const char *fix,
                                                     const char *format, ...);
uint32_t check_count(const struct check_report *r, enum check_level level);

/* Broken at `width` columns; 0: not at all. */
void check_text(struct buf *out, const struct check_report *r, uint32_t width);
/* {"checks": [{"check", "level", "message", "fix"}], "problems", "warnings", "unknown"} */
void check_json(struct json *j, const struct check_report *r);

#endif
