/* json: an append-only JSON writer over a buf. Commas and nesting are its business, escaping too;
 * bytes that are not UTF-8 are written as U+FFFD, and characters that could steer a terminal as \uXXXX
 * (safe_code): the value stays exact, and who prints the text sees what is there. Misuse (a value without a key in an object) is an
 * assertion. Depth at most 64.
 *
 * No name here is one of jansson's, which the in-memory cluster links: a clash would send the
 * library's own calls to us. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "buf.h"

struct json {
    struct buf *out;
    uint64_t has_items; /* one bit per depth */
    uint64_t is_object;
    uint32_t depth;
    uint32_t indent; /* spaces per level; 0: one line */
    bool after_key;
};

#define JSON_TO(buf_) {.out = (buf_)}

void json_object_begin(struct json *j);
void json_object_end(struct json *j);
void json_array_begin(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, struct span key);

void json_text(struct json *j, struct span s); /* an absent span is written as "" */
void json_int(struct json *j, int64_t v);
void json_double(struct json *j, double v); /* shortest text that reads back equal; NaN and infinities assert */
void json_bool(struct json *j, bool v);
void json_null_value(struct json *j);
void json_raw(struct json *j, struct span json_text); /* one whole value, already JSON */

/* A string as json_text writes it, without a writer. */
void json_add_text(struct buf *out, struct span s);
/* The text of json_double without a writer; its length. */
enum { JSON_DOUBLE_SIZE = 32 };
size_t json_double_text(double v, char out[JSON_DOUBLE_SIZE]);

/* key and value in one step */
void json_put_string(struct json *j, const char *key, struct span s);
void json_put_int(struct json *j, const char *key, int64_t v);
void json_put_bool(struct json *j, const char *key, bool v);
void json_put_object(struct json *j, const char *key);
void json_put_array(struct json *j, const char *key);

#endif
