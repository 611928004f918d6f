/* doc_tape: what a parsed text looks like in memory. Private to doc*.c.
 *
 * Both parsers leave the same thing: simdjson's tape, an array of words in the order of the text. The
 * top byte of a word is its kind, the other 56 bits its payload:
 *
 *     r         first word; the payload is not used here
 *     { [       low 32 bits: index behind the closing word; then 24 bits: members or items, all ones
 *               when there are more than fit
 *     } ]       closing word
 *     "         offset in `strings` of: uint32 length, bytes, NUL. A key is a string before its value
 *     l u d     the next word is an int64, a uint64 beyond int64, a double
 *     t f n     true, false, null
 *
 * A value is known by the index of its word, so the reader skips a whole subtree in one step. */
#ifndef BASE_DOC_TAPE_H
#define BASE_DOC_TAPE_H

#include "base/doc.h"

enum { DOC_DEPTH_MAX = 100, DOC_TEXT_MAX = 512 * 1024 * 1024 };

static const uint64_t TAPE_PAYLOAD = (UINT64_C(1) << 56) - 1;
static const uint64_t TAPE_COUNT_MAX = 0xFFFFFF;

struct doc_place { /* where the last search for a value's line ended: the next one is mostly behind it */
    uint64_t index;
    size_t offset;
    uint32_t line;
};

struct doc {
    const uint64_t *tape;
    const char *strings;
    const uint32_t *lines;   /* YAML: by tape index */
    struct span text;        /* JSON: what the tape was made of */
    uint32_t lines_before;   /* JSON: of the text of which this is a part */
    struct doc_place *place; /* JSON */
    struct arena *numbers;   /* texts of numbers, made when asked for */
};

static inline char tape_kind(const struct doc *d, uint64_t at)
{
    return (char)(d->tape[at] >> 56);
}

static inline uint64_t tape_payload(const struct doc *d, uint64_t at)
{
    return d->tape[at] & TAPE_PAYLOAD;
}

static inline uint64_t tape_after(const struct doc *d, uint64_t at)
{
    switch (tape_kind(d, at)) {
    case '{':
    case '[':
        return tape_payload(d, at) & UINT32_MAX;
    case 'l':
    case 'u':
    case 'd':
        return at + 2;
    default:
        return at + 1;
    }
}

static inline struct span tape_string(const struct doc *d, uint64_t at)
{
    const char *p = d->strings + tape_payload(d, at);
    uint32_t len;
    memcpy(&len, p, sizeof(len));
    return (struct span){p + sizeof(len), len};
}

/* doc_place.c: positions in a JSON text, found by reading it again. */
uint32_t json_line_of(const struct doc *d, uint64_t index);
/* The line of the first mistake of a text that is not JSON, and what is wrong there; NULL (and line 0)
 * when nothing is found. */
const char *json_fault(struct span text, uint32_t *line_out);

/* doc_yaml.c */
struct yaml_stream;
struct yaml_stream *yaml_stream_new(void);
void yaml_stream_free(struct yaml_stream *s);
size_t yaml_stream_size(const struct yaml_stream *s); /* bytes of its buffers; of NULL 0 */
bool yaml_stream_next(struct yaml_stream *s, struct span text, size_t *at, struct doc *out,
                      uint32_t *line_out, struct err *err);

/* Whether an object on the tape has a key twice; *second_out is the tape index of the later one. */
bool tape_repeated_key(const struct doc *d, uint64_t object, uint64_t *second_out);

#endif
