/* bits: sets of small integers as words. */
#ifndef PLANNER_BITS_H
#define PLANNER_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t bits_words(uint32_t count)
{
    return (count + 63) / 64;
}

static inline bool bits_has(const uint64_t *set, uint32_t i)
{
    return (set[i / 64] >> (i % 64)) & 1;
}

static inline void bits_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void bits_drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool bits_meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

static inline uint32_t bits_count(const uint64_t *set, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++)
        n += (uint32_t)__builtin_popcountll(set[w]);
    return n;
}

/* The least member that is `from` or greater; words * 64 when there is none. */
static inline uint32_t bits_next(const uint64_t *set, uint32_t words, uint32_t from)
{
    uint32_t w = from / 64;
    if (w >= words)
        return words * 64;
    uint64_t word = set[w] & (~UINT64_C(0) << (from % 64));
    while (word == 0)
        if (++w == words)
            return words * 64;
        else
            word = set[w];
    return w * 64 + (uint32_t)__builtin_ctzll(word);
}

/* for (BITS_EACH(i, set, words)) visits the members in ascending order. */
#define BITS_EACH(i, set, words)                                                                   \
    uint32_t i = bits_next((set), (words), 0);                                                     \
    i < (words) * 64;                                                                              \
    i = bits_next((set), (words), i + 1)

#endif
