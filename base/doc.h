/* doc: a parsed JSON or YAML text, read through light value handles.
 *
 * Both syntaxes give the same values, so whoever reads a doc cannot tell them apart. YAML scalars
 * are typed as kubectl types them (a YAML 1.1 subset: y/yes/on/true… are booleans, a leading zero is
 * octal, quoted scalars are strings); aliases and merge keys (<<) are written out, as kubectl does.
 *
 * Whole numbers are exact over int64 and uint64; JSON beyond that is refused. Other numbers are
 * doubles and their text is the shortest that reads back equal: "1.10" gives "1.1", and up to 15
 * significant digits no decimal value changes, so that a quantity loses nothing. YAML's `0x10`,
 * `1_000` and `1.0` have the texts "16", "1000" and "1", as kubectl hands them on.
 *
 * Limits: nesting 100, text 512 MiB, a document's aliases 16 MiB; all are errors, not crashes. A doc borrows nothing: the input
 * may go after parsing. */
#ifndef BASE_DOC_H
#define BASE_DOC_H

#include "arena.h"
#include "err.h"

struct doc;

enum doc_type { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_ARRAY, DOC_OBJECT };

struct doc_value {
    const struct doc *doc;
    uint64_t at[2]; /* private to the parser */
};

/* One parser is kept by each thread that parses often: it keeps its buffers. */
struct doc_parser;
struct doc_parser *doc_parser_new(void);
void doc_parser_free(struct doc_parser *p);
/* Frees its buffers if they hold more than so many bytes (a text of JSON takes some 15 a byte, of which most are
 * never touched); the doc that was parsed last is gone. */
void doc_parser_trim(struct doc_parser *p, size_t keep);
size_t doc_parser_size(const struct doc_parser *p); /* bytes that its buffers hold */

/* The doc stays valid until the parser's next use. ERR_INVALID names line and reason. */
bool doc_parse_json(struct doc_parser *p, struct span text, const struct doc **out, struct err *err);

/* The same of a part of a text (json_scan.h), before which so many lines end. */
bool doc_parse_json_part(struct doc_parser *p, struct span part, uint32_t lines_before,
                         const struct doc **out, struct err *err);

/* A YAML stream, one document after the other: *at starts at 0 and counts the documents read; false
 * with err->kind ERR_NONE at the end of the stream. Empty documents are skipped. The text must stay
 * where it is between calls; nothing is read again while no other YAML goes through the parser. */
bool doc_parse_yaml(struct doc_parser *p, struct span text, size_t *at, const struct doc **out,
                    struct err *err);

/* The line that the last refused text went wrong on, as in its message "line 7: …"; 0: not known. */
uint32_t doc_fault_line(const struct doc_parser *p);

struct doc_value doc_root(const struct doc *d);
enum doc_type doc_type(struct doc_value v);
const char *doc_type_name(enum doc_type t); /* "a string", "an object"… for messages */
uint32_t doc_line(struct doc_value v);      /* counted from 1; may cost a scan, meant for errors */

bool doc_bool(struct doc_value v);          /* of DOC_BOOL */
struct span doc_text(struct doc_value v);   /* of DOC_STRING and DOC_NUMBER; lives with the doc */
bool doc_int64(struct doc_value v, int64_t *out); /* of DOC_NUMBER; false when it is not an integer or too large */
bool doc_double(struct doc_value v, double *out);

uint32_t doc_count(struct doc_value v); /* members or items; 0 for anything else */
/* The texts of an array's items, up to the first that is not a string; returns how many. `out` has
 * room for all items. */
uint32_t doc_texts(struct doc_value array, struct span *out);
/* An object may hold a key twice in JSON (YAML refuses it): the first is found. */
bool doc_find(struct doc_value object, struct span key, struct doc_value *out);
/* A member's text; absent when it is not there or not a string. */
struct span doc_text_at(struct doc_value object, struct span key);
/* A member that is a whole number. */
int64_t doc_int64_at(struct doc_value object, struct span key, int64_t otherwise);

struct doc_iter {
    struct doc_value value;
    struct span key; /* of an object's member; absent in an array */
    uint64_t state[4];
};
struct doc_iter doc_iter_of(struct doc_value array_or_object); /* anything else iterates over nothing */
bool doc_next(struct doc_iter *it); /* false at the end */
/* Whether a key of the object comes twice; *second_out is the later member. */
bool doc_repeated(struct doc_value object, struct doc_iter *second_out);

#endif
