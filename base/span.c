#include "base/span.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

int span_cmp(struct span a, struct span b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n != 0 ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool span_has_prefix(struct span s, struct span prefix)
{
    return s.len >= prefix.len && span_eq((struct span){s.ptr, prefix.len}, prefix);
}

bool span_has_suffix(struct span s, struct span suffix)
{
    if (s.len < suffix.len)
        return false;
    return suffix.len == 0 ||
           span_eq((struct span){s.ptr + (s.len - suffix.len), suffix.len}, suffix);
}

bool span_contains(struct span s, struct span part)
{
    return part.len == 0 || (s.len >= part.len && memmem(s.ptr, s.len, part.ptr, part.len) != NULL);
}

struct span span_cut(struct span s, char at, struct span *rest_out)
{
    const char *hit = s.len != 0 ? memchr(s.ptr, at, s.len) : NULL;
    if (hit == NULL) {
        *rest_out = (struct span){NULL, 0};
        return s;
    }
    size_t before = (size_t)(hit - s.ptr);
    *rest_out = (struct span){hit + 1, s.len - before - 1};
    return (struct span){s.ptr, before};
}

bool span_int64(struct span s, int64_t *out)
{
    size_t at = 0;
    bool negative = false;
    if (s.len != 0 && (s.ptr[0] == '-' || s.ptr[0] == '+')) {
        negative = s.ptr[0] == '-';
        at = 1;
    }
    if (at == s.len)
        return false;
    int64_t value = 0; /* kept negative: INT64_MIN has no positive counterpart */
    for (; at < s.len; at++) {
        char c = s.ptr[at];
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, c - '0', &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *out = negative ? value : -value;
    return true;
}

uint64_t span_hash(struct span s)
{
    return XXH3_64bits(s.ptr != NULL ? s.ptr : "", s.len);
}
