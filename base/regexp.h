/* regexp: Go's regular expressions (RE2), found anywhere in a text, in the time of both lengths.
 *
 * Taken: literals, ., classes (ranges, [^…], [[:alpha:]], \d \w \s and their opposites), ^ $ \A \z \b \B, groups of any
 * kind, the flags i m s U, | * + ? {n,m} greedy or not, \Q…\E, the escapes \a \f \t \n \r \v \xHH. Refused, with a
 * sentence: what Go refuses, and \p, \x{…}, and letters beyond ASCII within a class. Case is folded for ASCII alone. A
 * text that is not UTF-8 has some bytes that nothing but a class of bytes finds. */
#ifndef BASE_REGEXP_H
#define BASE_REGEXP_H

#include "base/arena.h"
#include "base/err.h"

struct regexp;

/* Lives in `a`; up to 1000 bytes of text. */
bool regexp_parse(struct arena *a, struct span text, const struct regexp **out, struct err *err);
bool regexp_finds(const struct regexp *r, struct span in);

#endif
