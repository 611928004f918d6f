/* utf8: where one encoded character ends. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed character at `at` (1 … 4), or 0: a stray or overlong sequence, a surrogate,
 * something past U+10FFFF, or a character cut off by `end` (Unicode 15, table 3-7). at < end. */
size_t utf8_length(const char *at, const char *end);

/* The code point of a character of so many bytes, as utf8_length found it. */
uint32_t utf8_code(const char *at, size_t length);

#endif
