/* decode_told: where decoding is, and what it tells about it. Private to base/. */
#ifndef BASE_DECODE_TOLD_H
#define BASE_DECODE_TOLD_H

#include "base/decode.h"

struct decode_place {
    const struct decode_place *up;
    struct span name; /* of a member or a key; absent for an item */
    uint32_t index;
    bool key; /* of a map */
};

struct decode_bounds { /* of struct schema, and what was read of the object so far */
    uint32_t list_max, entries_max;
    uint64_t entries;
    struct span excess; /* in the arena; absent: none */
};

void decode_enter(struct decode *d, struct decode_place *place);
void decode_leave(struct decode *d);

void decode_wrong(struct decode *d, struct doc_value v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void decode_wrong_type(struct decode *d, struct doc_value v, const char *wanted);
/* What a person would recognise the value by: "ten", 12, true, a list. May be in `out`. */
const char *decode_shown(struct doc_value v, char *out, size_t size);
/* One list or map more that is read, of so many entries, when we are in a bounded object. */
void decode_count(struct decode *d, uint32_t entries);
/* A member that the schema does not list. */
void decode_unknown(struct decode *d, struct doc_value v, const struct schema *schema,
                    struct span name);

#endif
