#include "base/err.h"

#include <stdio.h>
#include <string.h>

enum { DOTS = 3 };

/* `length` is what the text would have had. */
static void mark_cut(struct err *err, size_t length)
{
    size_t end = ERR_MSG_MAX - DOTS;
    if (length <= ERR_MSG_MAX)
        return;
    while (end != 0 && ((unsigned char)err->msg[end] & 0xc0) == 0x80) /* not within a character */
        end--;
    memcpy(err->msg + end, "...", DOTS + 1);
}

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->kind = kind;
    int n = vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);
    mark_cut(err, n < 0 ? 0 : (size_t)n);
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    char old[sizeof(err->msg)];
    memcpy(old, err->msg, sizeof(old));
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof(err->msg)) {
        int more = snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", old);
        used += more < 0 ? 0 : (size_t)more;
    }
    mark_cut(err, used);
    return false;
}

const char *err_kind_name(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE:
        return "none";
    case ERR_INVALID:
        return "invalid";
    case ERR_NOT_FOUND:
        return "not-found";
    case ERR_CONFLICT:
        return "conflict";
    case ERR_RETRY:
        return "retry";
    case ERR_CAPACITY:
        return "capacity";
    case ERR_FORBIDDEN:
        return "forbidden";
    case ERR_GONE:
        return "gone";
    case ERR_CANCELLED:
        return "cancelled";
    case ERR_INTERNAL:
        return "internal";
    }
    return "internal";
}
