/* span: a borrowed run of bytes, the only string type inside the program.
 *
 * A span owns nothing and need not end in NUL. An absent text is {NULL, 0}; an empty text has a
 * pointer and length 0. Both are "empty" to every function here. */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const char *ptr;
    size_t len;
};

#define SPAN(literal) ((struct span){("" literal), sizeof(literal) - 1})
#define SPAN_INIT(literal) {("" literal), sizeof(literal) - 1}
/* For printf: printf("%.*s", SPAN_ARG(s)). */
#define SPAN_ARG(s) (int)(s).len, ((s).ptr != NULL ? (s).ptr : "")

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline struct span span_of(const char *cstr)
{
    return (struct span){cstr, cstr != NULL ? strlen(cstr) : 0};
}

static inline bool span_eq(struct span a, struct span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Byte order, shorter first when one is the other's prefix: <0, 0, >0 as memcmp. */
int span_cmp(struct span a, struct span b);

bool span_has_prefix(struct span s, struct span prefix);
bool span_has_suffix(struct span s, struct span suffix);
bool span_contains(struct span s, struct span part);

/* Bytes before the first `at`, and those after it in *rest_out; without one: all, and an absent rest. */
struct span span_cut(struct span s, char at, struct span *rest_out);

/* The whole span as a decimal number with optional sign; false for anything else or overflow. */
bool span_int64(struct span s, int64_t *out);

/* XXH3, fixed seed: equal input gives an equal plan. Keys from outside that could be chosen to
 * collide are bounded in number by their callers. */
uint64_t span_hash(struct span s);

#endif
