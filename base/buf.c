#include "base/buf.h"
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 256 };

void buf_release(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->ptr != NULL)
        b->ptr[0] = '\0';
}

void buf_trim(struct buf *b, size_t keep)
{
    if (b->capacity > keep)
        buf_release(b);
    else
        buf_clear(b);
}

char *buf_make_room(struct buf *b, size_t room)
{
    size_t max = b->max != 0 ? b->max : BUF_DEFAULT_MAX;
    if (b->overflow || room > max - b->len) {
        b->overflow = true;
        return NULL;
    }
    size_t need = b->len + room + 1; /* the NUL */
    if (need > b->capacity) {
        size_t grown = b->capacity != 0 ? b->capacity * 2 : FIRST_CAPACITY;
        grown = grown - 1 < max ? grown : max + 1;
        b->capacity = grown > need ? grown : need;
        b->ptr = mem_grow(b->ptr, b->capacity, 1);
    }
    return b->ptr + b->len;
}

void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *at = n >= 0 ? buf_reserve(b, (size_t)n) : NULL;
    if (at != NULL) {
        vsnprintf(at, (size_t)n + 1, format, again);
        buf_commit(b, (size_t)n);
    }
    va_end(again);
}

void buf_add_int(struct buf *b, int64_t value)
{
    char text[20], *at = text + sizeof(text);
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (value < 0)
        *--at = '-';
    buf_add(b, (struct span){at, (size_t)(text + sizeof(text) - at)});
}

void buf_consume(struct buf *b, size_t n)
{
    if (n == 0)
        return;
    memmove(b->ptr, b->ptr + n, b->len - n);
    b->len -= n;
    b->ptr[b->len] = '\0';
}
