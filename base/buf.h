/* buf: bytes being built, with a ceiling and a sticky error.
 *
 * Appending past the ceiling writes nothing more and sets `overflow`, checked once at the end.
 * Contents are always followed by NUL. Zero-initialised with a ceiling is ready for use:
 *     struct buf b = {.max = BUF_REPLY_MAX}; */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "span.h"

struct buf {
    char *ptr;
    size_t len, capacity;
    size_t max; /* ceiling in bytes; 0 means BUF_DEFAULT_MAX */
    bool overflow;
};

enum { BUF_DEFAULT_MAX = 64 * 1024 * 1024 };

void buf_release(struct buf *b);
void buf_clear(struct buf *b); /* empty, keeps its memory and ceiling, clears overflow */
void buf_trim(struct buf *b, size_t keep); /* empty, and without its memory if that is more than so many bytes */

static inline void buf_add(struct buf *b, struct span s);
static inline void buf_add_char(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_int(struct buf *b, int64_t value);
/* Forget the first n bytes; the rest moves to the front. */
void buf_consume(struct buf *b, size_t n);
/* At least `room` writable bytes at the end, or NULL past the ceiling; buf_commit says how many were used. */
static inline char *buf_reserve(struct buf *b, size_t room);
static inline void buf_commit(struct buf *b, size_t used);

/* buf_reserve when there is no room, or no more. */
char *buf_make_room(struct buf *b, size_t room);

static inline struct span buf_span(const struct buf *b)
{
    return (struct span){b->ptr != NULL ? b->ptr : "", b->len};
}

/* An answer is thousands of small pieces. The capacity never goes beyond ceiling and NUL. */
static inline char *buf_reserve(struct buf *b, size_t room)
{
    if (room < b->capacity - b->len && !b->overflow)
        return b->ptr + b->len;
    return buf_make_room(b, room);
}

static inline void buf_commit(struct buf *b, size_t used)
{
    b->len += used;
    b->ptr[b->len] = '\0';
}

static inline void buf_add(struct buf *b, struct span s)
{
    char *at = buf_reserve(b, s.len);
    if (at == NULL)
        return;
    if (s.len != 0)
        memcpy(at, s.ptr, s.len);
    buf_commit(b, s.len);
}

static inline void buf_add_char(struct buf *b, char c)
{
    char *at = buf_reserve(b, 1);
    if (at == NULL)
        return;
    *at = c;
    buf_commit(b, 1);
}

#endif
