/* doc_scalar: what a YAML scalar means, as kubectl reads it. Private to doc_yaml.c and its test.
 *
 * Plain scalars: y/yes/on/true and n/no/off/false in three spellings are booleans; empty, ~ and null are
 * null; integers may have a sign, 0x, 0o, 0b or a leading zero (octal), and underscores; floats are 1., .5,
 * 1e3. A float with a whole value is an integer, since kubectl hands it on without its fraction. Base 60
 * and dates are strings, and so is a number too large for a double. Infinities and NaN are refused: JSON
 * has no place for them. Quoted scalars are strings unless a tag says otherwise. */
#ifndef BASE_DOC_SCALAR_H
#define BASE_DOC_SCALAR_H

#include "base/span.h"

enum scalar_kind { SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_UINT, SCALAR_DOUBLE, SCALAR_STRING };

struct scalar {
    enum scalar_kind kind;
    uint64_t bits; /* of the number; the boolean */
    struct span text;
};

/* NULL, or what is wrong with it. `tag` is the full one or NULL; text is followed by NUL. */
const char *scalar_read(struct span text, bool plain, const char *tag, struct scalar *out);

#endif
