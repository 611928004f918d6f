/* nearest: which of some words was meant, for "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/span.h"

/* Edits from one word to the other: a letter added, dropped or changed, two neighbours swapped. Of long
 * words only the first letters are compared. */
size_t nearest_edits(struct span a, struct span b);
/* The nearest of words that come one by one: `best` is absent as long as none is near. */
struct nearest {
    struct span given, best;
    size_t edits;
};
void nearest_try(struct nearest *n, struct span word);
/* The nearest of `count` words, or NULL when none is near. */
const char *nearest_word(const char *given, const char *const *words, size_t count);

#endif
