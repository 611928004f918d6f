/* arena: memory of one pass or one request, freed all at once.
 *
 * Grows by chunks, each at least the size given at init and twice the one before up to 1 MiB, so
 * that what a caller asks for bounds it. Out of memory aborts; limits on input are what keep that
 * from being triggered from outside. Not thread-safe. Alignment is that of max_align_t. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "span.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *last;
    char *at, *end;
    size_t chunk_size; /* of the next chunk */
    size_t total;      /* bytes taken from malloc */
};

void arena_init(struct arena *a, size_t first_chunk); /* 0: a default of 4 KiB; allocates nothing */
void arena_release(struct arena *a);                  /* frees all; the arena may be used again */
void arena_clear(struct arena *a);                    /* empty, keeps its largest chunk */
void arena_trim(struct arena *a, size_t keep);        /* frees all if that is more than so many bytes */

void *arena_alloc(struct arena *a, size_t size); /* zeroed, never NULL; size 0 gives a valid pointer */
struct span arena_dup(struct arena *a, struct span s); /* absent stays absent; NUL follows the bytes */
const char *arena_cstr(struct arena *a, struct span s);
struct span arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))
void *arena_array(struct arena *a, size_t count, size_t size); /* aborts when count * size overflows */

/* Room for one more element in an array that grows by doubling inside an arena:
 *     ARENA_PUSH(a, list.items, list.count, list.capacity, value);
 * Superseded arrays stay until the arena goes, at most as much again. */
#define ARENA_PUSH(a, items, count, capacity, value)                                               \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            size_t arena_n_ = (capacity) != 0 ? (size_t)(capacity) * 2 : 8;                        \
            void *arena_p_ = arena_array((a), arena_n_, sizeof(*(items)));                         \
            if ((count) != 0)                                                                      \
                memcpy(arena_p_, (items), (size_t)(count) * sizeof(*(items)));                     \
            (items) = arena_p_;                                                                    \
            (capacity) = (__typeof__(capacity))arena_n_;                                           \
        }                                                                                          \
        (items)[(count)++] = (value);                                                              \
    } while (0)

/* malloc that aborts on failure, for what outlives a pass; zeroed. */
void *mem_new(size_t size);
void *mem_array(size_t count, size_t size);
void *mem_grow(void *p, size_t count, size_t size); /* realloc to count * size; new bytes undefined */

#endif
