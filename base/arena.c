#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, ALIGN = _Alignof(max_align_t) };

struct arena_chunk {
    struct arena_chunk *before;
    size_t size; /* of the whole chunk, this header included */
    max_align_t data[];
};

static void out_of_memory(void)
{
    fputs("stowage: out of memory\n", stderr);
    abort();
}

void *mem_new(size_t size)
{
    void *p = calloc(1, size != 0 ? size : 1);
    if (p == NULL)
        out_of_memory();
    return p;
}

void *mem_array(size_t count, size_t size)
{
    void *p = calloc(count != 0 ? count : 1, size != 0 ? size : 1);
    if (p == NULL)
        out_of_memory();
    return p;
}

void *mem_grow(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory();
    void *q = realloc(p, bytes != 0 ? bytes : 1);
    if (q == NULL)
        out_of_memory();
    return q;
}

void arena_init(struct arena *a, size_t first_chunk)
{
    *a = (struct arena){.chunk_size = first_chunk != 0 ? first_chunk : FIRST_CHUNK};
}

static void free_chunks(struct arena *a)
{
    for (struct arena_chunk *c = a->last; c != NULL;) {
        struct arena_chunk *before = c->before;
        a->total -= c->size;
        free(c);
        c = before;
    }
}

void arena_release(struct arena *a)
{
    free_chunks(a);
    arena_init(a, a->chunk_size);
}

void arena_clear(struct arena *a)
{
    struct arena_chunk **largest = &a->last;
    for (struct arena_chunk **at = &a->last; *at != NULL; at = &(*at)->before)
        if ((*at)->size > (*largest)->size)
            largest = at;
    struct arena_chunk *keep = *largest;
    if (keep == NULL)
        return;
    *largest = keep->before;
    free_chunks(a);
    keep->before = NULL;
    a->last = keep;
    a->at = (char *)keep->data;
    a->end = (char *)keep + keep->size;
}

void arena_trim(struct arena *a, size_t keep)
{
    if (a->total > keep)
        arena_release(a);
}

static void add_chunk(struct arena *a, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(size, sizeof(struct arena_chunk), &need))
        out_of_memory();
    if (a->chunk_size == 0)
        a->chunk_size = FIRST_CHUNK;
    size_t bytes = a->chunk_size > need ? a->chunk_size : need;
    struct arena_chunk *c = malloc(bytes);
    if (c == NULL)
        out_of_memory();
    c->before = a->last;
    c->size = bytes;
    a->last = c;
    a->at = (char *)c->data;
    a->end = (char *)c + bytes;
    a->total += bytes;
    if (a->chunk_size < LARGEST_CHUNK)
        a->chunk_size *= 2;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        out_of_memory();
    size_t rounded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (a->at == NULL || (size_t)(a->end - a->at) < rounded)
        add_chunk(a, rounded);
    void *p = a->at;
    a->at += rounded;
    return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory();
    return arena_alloc(a, bytes);
}

struct span arena_dup(struct arena *a, struct span s)
{
    if (s.ptr == NULL)
        return s;
    char *copy = arena_alloc(a, s.len + 1);
    memcpy(copy, s.ptr, s.len);
    return (struct span){copy, s.len};
}

const char *arena_cstr(struct arena *a, struct span s)
{
    return s.ptr != NULL ? arena_dup(a, s).ptr : "";
}

struct span arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return (struct span){text, (size_t)n};
}
