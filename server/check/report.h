/* report: what `stowage check` found, a line each, and how it is shown. */
#ifndef SERVER_CHECK_REPORT_H
#define SERVER_CHECK_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "server/options.h"

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
    const char *file;          /* that it is about; NULL: none */
    uint32_t line;             /* of the file; 0: the whole */
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
/* Adds a line about a place in a file; nothing is copied. */
void check_say_of_file(struct check_report *r, enum check_level level, const char *topic, const char *file,
                       uint32_t line, struct span sentence);
uint32_t check_count(const struct check_report *r, enum check_level level);

/* Broken at `width` columns; 0: not at all. */
void check_text(struct buf *out, const struct check_report *r, uint32_t width);
/* {"checks": [{"check", "level", "file", "line", "message", "fix"}], "problems", "warnings", "unknown"} */
void check_json(struct json *j, const struct check_report *r);
/* Workflow commands, from which GitHub makes annotations of a change: "::error file=a.yaml,line=7::what". */
void check_github(struct buf *out, const struct check_report *r);
/* To standard output, in the form of --output. */
bool check_print(const struct check_report *r, const struct options *o, struct err *err);

#endif
