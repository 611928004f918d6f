#include "base/err.h"

#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->kind = kind;
    vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);
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
    if (used >= sizeof(err->msg))
        return false;
    int cut = snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", old);
    return cut < 0; /* never: a text that does not fit is cut, which is fine */
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
