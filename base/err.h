/* err: why an operation failed, for the caller to act on and for a person to read.
 *
 * Lives with the caller, allocates nothing. A function that can fail returns bool and takes a
 * struct err last: true and outputs written, or false and err written. The text names the object,
 * the field and the fix; err_wrap adds what was being done on the way up. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stdarg.h>

/* Named for the caller's next move. */
enum err_kind {
    ERR_NONE,
    ERR_INVALID,   /* input is wrong: answer 4xx, deny, set the object aside */
    ERR_NOT_FOUND, /* gone or never there */
    ERR_CONFLICT,  /* somebody else wrote: read again */
    ERR_RETRY,     /* back off and try again */
    ERR_CAPACITY,  /* try another shape */
    ERR_FORBIDDEN, /* not allowed: a person must act */
    ERR_GONE,      /* a resourceVersion is too old: list again */
    ERR_CANCELLED, /* given up on by ourselves */
    ERR_INTERNAL,
};

enum { ERR_MSG_MAX = 1024 }; /* bytes: what a condition or an Event says of a failure (spec disruption 12.2) */

struct err {
    enum err_kind kind;
    char msg[ERR_MSG_MAX + 1];
};

/* Both return false, so that `return err_set(…)` reads as one step. A longer text is cut and ends in "...". */
bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "text: " before the message already there. */
bool err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *err_kind_name(enum err_kind kind); /* "invalid", "not-found"…; static storage */

#endif
