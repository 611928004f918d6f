/* utf8: where one encoded character ends. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character at `at` (1 … 4), or 0: a stray or overlong sequence, a surrogate,
 * something past U+10FFFF, or a character cut off by `end` (Unicode 15, table 3-7). at < end. */
size_t utf8_length(const char *at, const char *end);

/* Control characters, which could steer a terminal, become "?"; newlines stay. */
void utf8_tame(char *text, size_t len);

#endif
