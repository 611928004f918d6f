/* doc_build: a tape of doc_tape.h, written value by value, as YAML's events come. Private to doc_yaml.c.
 *
 * Aliases are written out where they stand, with the lines of what they repeat; merge keys (<<) when their
 * object is complete, as kubectl reads them: what comes later in the object wins, of a list of objects the first.
 * Functions that return a text say what is wrong; NULL: nothing. */
#ifndef BASE_DOC_BUILD_H
#define BASE_DOC_BUILD_H

#include "base/doc_scalar.h"
#include "base/doc_tape.h"

enum {
    /* What the aliases of one document may come to, written out. People repeat some kilobytes; a few
     * lines of aliases of aliases ("a billion laughs") would come to gigabytes. */
    DOC_ALIAS_MAX = 16 * 1024 * 1024,
    DOC_ANCHORS_MAX = 1000, /* in one document: each alias looks through them */
    TAPE_MERGE = '<',       /* word of a merge key, as long as its object is not complete */
};

#define DOC_ALIAS_FAULT                                                                            \
    "the aliases (*name) of this document come to more than 16 MiB when they are written out"

struct doc_build {
    uint64_t *tape;
    uint32_t *lines; /* by tape index */
    size_t count, capacity;
    char *strings;
    size_t strings_len, strings_capacity;
    struct open_level {
        uint64_t at; /* of its first word */
        uint64_t count;
        bool object;
        bool wants_key;
        bool merges; /* has a merge key */
    } levels[DOC_DEPTH_MAX];
    uint32_t depth;
    struct anchor {
        size_t name; /* offset in `strings`, followed by NUL */
        uint64_t at; /* of its value's first word */
        bool apart;  /* which stands in `apart`, since a merge took it off the tape */
    } anchors[DOC_ANCHORS_MAX];
    uint32_t anchor_count;
    uint64_t *apart;
    uint32_t *apart_lines;
    size_t apart_count, apart_capacity;
    uint64_t aliased; /* bytes that aliases came to, with what was set apart for them */
};

void doc_build_release(struct doc_build *b);
size_t doc_build_size(const struct doc_build *b); /* bytes of its buffers */
void doc_build_start(struct doc_build *b); /* of a document */

bool doc_build_wants_key(const struct doc_build *b);
/* Before each scalar, object or list, key or value; `anchor` is its name or NULL. */
const char *doc_build_value(struct doc_build *b, const char *anchor, bool is_scalar);
void doc_build_key(struct doc_build *b, struct span text, bool merges, uint32_t line);
void doc_build_scalar(struct doc_build *b, const struct scalar *v, uint32_t line);
const char *doc_build_open(struct doc_build *b, bool object, uint32_t line);
uint64_t doc_build_opened(const struct doc_build *b); /* tape index of the innermost open one */
const char *doc_build_close(struct doc_build *b, uint32_t line);
const char *doc_build_alias(struct doc_build *b, const char *anchor, uint32_t line);

/* Shared with doc_merge.c: appends `n` words that stood at tape index `from`, and were taken from there. */
void doc_build_move(struct doc_build *b, const uint64_t *words, const uint32_t *lines, size_t n,
                    uint64_t from);
/* Copies words that are to stand by so many further (modulo 2^64). */
void doc_words_move(uint64_t *to, const uint64_t *words, size_t n, uint64_t by);
/* doc_merge.c: the innermost object, whose members are all on the tape, without its merge keys. */
const char *doc_build_merge(struct doc_build *b);

#endif
