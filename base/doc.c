/* Reads the tape, whoever wrote it. */
#include "base/doc.h"
#include "base/doc_json.h"
#include "base/doc_tape.h"
#include "base/json.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct doc_parser {
    struct doc doc;
    struct doc_json *json;
    char *padded;
    size_t padded_size;
    struct doc_place place;
    struct yaml_stream *yaml;
    struct arena numbers;
    uint32_t fault_line;
};

struct doc_parser *doc_parser_new(void)
{
    return mem_new(sizeof(struct doc_parser));
}

void doc_parser_free(struct doc_parser *p)
{
    if (p == NULL)
        return;
    doc_json_free(p->json);
    yaml_stream_free(p->yaml);
    arena_release(&p->numbers);
    free(p->padded);
    free(p);
}

size_t doc_parser_size(const struct doc_parser *p)
{
    return p->padded_size + p->numbers.total + doc_json_size(p->json) + yaml_stream_size(p->yaml);
}

void doc_parser_trim(struct doc_parser *p, size_t keep)
{
    if (doc_parser_size(p) <= keep)
        return;
    doc_json_free(p->json);
    yaml_stream_free(p->yaml);
    arena_release(&p->numbers);
    free(p->padded);
    *p = (struct doc_parser){.fault_line = p->fault_line};
}

static void start(struct doc_parser *p)
{
    arena_clear(&p->numbers);
    p->doc = (struct doc){.numbers = &p->numbers};
    p->fault_line = 0;
}

static bool too_long(struct span text, struct err *err)
{
    if (text.len <= DOC_TEXT_MAX)
        return false;
    err_set(err, ERR_INVALID, "the text is longer than %d MiB", DOC_TEXT_MAX >> 20);
    return true;
}

static struct span pad(struct doc_parser *p, struct span text)
{
    size_t need = text.len + DOC_JSON_PADDING;
    if (need > p->padded_size) {
        free(p->padded);
        p->padded_size = p->padded_size * 2 > need ? p->padded_size * 2 : need;
        p->padded = mem_grow(NULL, p->padded_size, 1);
    }
    if (text.len != 0)
        memcpy(p->padded, text.ptr, text.len);
    memset(p->padded + text.len, 0, DOC_JSON_PADDING);
    return (struct span){p->padded, text.len};
}

bool doc_parse_json_part(struct doc_parser *p, struct span text, uint32_t lines_before,
                         const struct doc **out, struct err *err)
{
    start(p);
    if (too_long(text, err))
        return false;
    if (p->json == NULL && (p->json = doc_json_new(DOC_DEPTH_MAX)) == NULL)
        abort();
    p->doc.text = pad(p, text);
    p->doc.lines_before = lines_before;
    p->place = (struct doc_place){0};
    p->doc.place = &p->place;
    const char *reason = "";
    switch (doc_json_parse(p->json, p->doc.text.ptr, text.len, &p->doc.tape, &p->doc.strings,
                           &reason)) {
    case DOC_JSON_GOOD:
        *out = &p->doc;
        return true;
    case DOC_JSON_NO_MEMORY:
        abort();
    case DOC_JSON_BAD:
        break;
    }
    const char *found = json_fault(p->doc.text, &p->fault_line);
    if (found == NULL)
        return err_set(err, ERR_INVALID, "%s", reason);
    p->fault_line += lines_before;
    return err_set(err, ERR_INVALID, "line %u: %s", p->fault_line, found);
}

bool doc_parse_json(struct doc_parser *p, struct span text, const struct doc **out, struct err *err)
{
    return doc_parse_json_part(p, text, 0, out, err);
}

bool doc_parse_yaml(struct doc_parser *p, struct span text, size_t *at, const struct doc **out,
                    struct err *err)
{
    start(p);
    if (too_long(text, err))
        return false;
    if (p->yaml == NULL)
        p->yaml = yaml_stream_new();
    if (!yaml_stream_next(p->yaml, text, at, &p->doc, &p->fault_line, err))
        return false;
    *out = &p->doc;
    return true;
}

uint32_t doc_fault_line(const struct doc_parser *p)
{
    return p->fault_line;
}

static struct doc_value value_at(const struct doc *d, uint64_t at)
{
    return (struct doc_value){.doc = d, .at = {at, 0}};
}

struct doc_value doc_root(const struct doc *d)
{
    return value_at(d, 1);
}

enum doc_type doc_type(struct doc_value v)
{
    switch (tape_kind(v.doc, v.at[0])) {
    case '{':
        return DOC_OBJECT;
    case '[':
        return DOC_ARRAY;
    case '"':
        return DOC_STRING;
    case 'l':
    case 'u':
    case 'd':
        return DOC_NUMBER;
    case 't':
    case 'f':
        return DOC_BOOL;
    default:
        return DOC_NULL;
    }
}

const char *doc_type_name(enum doc_type t)
{
    static const char *const names[] = {
        [DOC_NULL] = "null",       [DOC_BOOL] = "true or false", [DOC_NUMBER] = "a number",
        [DOC_STRING] = "a string", [DOC_ARRAY] = "a list",       [DOC_OBJECT] = "an object",
    };
    return names[t];
}

uint32_t doc_line(struct doc_value v)
{
    return v.doc->lines != NULL ? v.doc->lines[v.at[0]] : json_line_of(v.doc, v.at[0]);
}

bool doc_bool(struct doc_value v)
{
    return tape_kind(v.doc, v.at[0]) == 't';
}

static double double_at(const struct doc *d, uint64_t at)
{
    double value;
    memcpy(&value, &d->tape[at], sizeof(value));
    return value;
}

static struct span number_text(const struct doc *d, uint64_t at)
{
    switch (tape_kind(d, at)) {
    case 'l':
        return arena_printf(d->numbers, "%lld", (long long)d->tape[at + 1]);
    case 'u':
        return arena_printf(d->numbers, "%llu", (unsigned long long)d->tape[at + 1]);
    default: {
        char text[JSON_DOUBLE_SIZE];
        size_t n = json_double_text(double_at(d, at + 1), text);
        return arena_dup(d->numbers, (struct span){text, n});
    }
    }
}

struct span doc_text(struct doc_value v)
{
    return tape_kind(v.doc, v.at[0]) == '"' ? tape_string(v.doc, v.at[0])
                                            : number_text(v.doc, v.at[0]);
}

bool doc_int64(struct doc_value v, int64_t *out)
{
    if (tape_kind(v.doc, v.at[0]) != 'l')
        return false;
    memcpy(out, &v.doc->tape[v.at[0] + 1], sizeof(*out));
    return true;
}

bool doc_double(struct doc_value v, double *out)
{
    uint64_t word = v.doc->tape[v.at[0] + 1];
    switch (tape_kind(v.doc, v.at[0])) {
    case 'l':
        *out = (double)(int64_t)word;
        return true;
    case 'u':
        *out = (double)word;
        return true;
    case 'd':
        *out = double_at(v.doc, v.at[0] + 1);
        return true;
    default:
        return false;
    }
}

uint32_t doc_count(struct doc_value v)
{
    char kind = tape_kind(v.doc, v.at[0]);
    if (kind != '{' && kind != '[')
        return 0;
    uint64_t count = tape_payload(v.doc, v.at[0]) >> 32;
    if (count < TAPE_COUNT_MAX)
        return (uint32_t)count;
    count = 0;
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);)
        count++;
    return (uint32_t)count;
}

/* The closing word is no string. */
uint32_t doc_texts(struct doc_value array, struct span *out)
{
    const struct doc *d = array.doc;
    uint32_t n = 0;
    for (uint64_t at = array.at[0] + 1; tape_kind(d, at) == '"'; at++)
        out[n++] = tape_string(d, at);
    return n;
}

/* state: the next word, the closing word, whether this is an object. */
struct doc_iter doc_iter_of(struct doc_value array_or_object)
{
    const struct doc *d = array_or_object.doc;
    uint64_t at = array_or_object.at[0];
    char kind = tape_kind(d, at);
    struct doc_iter it = {.value = value_at(d, at)};
    if (kind == '{' || kind == '[') {
        it.state[0] = at + 1;
        it.state[1] = tape_after(d, at) - 1;
        it.state[2] = kind == '{';
    }
    return it;
}

bool doc_next(struct doc_iter *it)
{
    const struct doc *d = it->value.doc;
    uint64_t at = it->state[0];
    if (at >= it->state[1])
        return false;
    if (it->state[2])
        it->key = tape_string(d, at++);
    it->value.at[0] = at;
    it->state[0] = tape_after(d, at);
    return true;
}

bool doc_find(struct doc_value object, struct span key, struct doc_value *out)
{
    if (tape_kind(object.doc, object.at[0]) != '{')
        return false;
    for (struct doc_iter it = doc_iter_of(object); doc_next(&it);) {
        if (span_eq(it.key, key)) {
            *out = it.value;
            return true;
        }
    }
    return false;
}

struct span doc_text_at(struct doc_value object, struct span key)
{
    struct doc_value v;
    return doc_find(object, key, &v) && doc_type(v) == DOC_STRING ? doc_text(v)
                                                                   : (struct span){NULL, 0};
}

int64_t doc_int64_at(struct doc_value object, struct span key, int64_t otherwise)
{
    struct doc_value v;
    int64_t n;
    return doc_find(object, key, &v) && doc_int64(v, &n) ? n : otherwise;
}

/* Few keys are compared pairwise, many by a table of tape indexes. */
static bool repeated_of_few(const struct doc *d, uint64_t object, uint64_t *second_out)
{
    uint64_t end = tape_after(d, object) - 1;
    for (uint64_t b = object + 1; b < end; b = tape_after(d, b + 1)) {
        struct span key = tape_string(d, b);
        for (uint64_t a = object + 1; a < b; a = tape_after(d, a + 1)) {
            if (span_eq(tape_string(d, a), key)) {
                *second_out = b;
                return true;
            }
        }
    }
    return false;
}

bool tape_repeated_key(const struct doc *d, uint64_t object, uint64_t *second_out)
{
    enum { FEW = 16 };
    uint32_t count = doc_count(value_at(d, object));
    if (count <= FEW)
        return repeated_of_few(d, object, second_out);
    uint64_t slots = 64;
    while (slots < (uint64_t)count * 2)
        slots *= 2;
    uint64_t *table = mem_array(slots, sizeof(*table)); /* 0 is free: a key's index is at least 2 */
    uint64_t seed = (uintptr_t)table; /* not known outside: keys cannot be chosen so that their slots are the same */
    uint64_t end = tape_after(d, object) - 1;
    bool found = false;
    for (uint64_t at = object + 1; at < end && !found; at = tape_after(d, at + 1)) {
        struct span key = tape_string(d, at);
        uint64_t slot = XXH3_64bits_withSeed(key.ptr, key.len, seed) & (slots - 1);
        while (table[slot] != 0 && !span_eq(tape_string(d, table[slot]), key))
            slot = (slot + 1) & (slots - 1);
        found = table[slot] != 0;
        if (found)
            *second_out = at;
        table[slot] = at;
    }
    free(table);
    return found;
}

bool doc_repeated(struct doc_value object, struct doc_iter *second_out)
{
    const struct doc *d = object.doc;
    uint64_t at;
    if (tape_kind(d, object.at[0]) != '{' || !tape_repeated_key(d, object.at[0], &at))
        return false;
    *second_out = (struct doc_iter){.value = value_at(d, at + 1), .key = tape_string(d, at)};
    return true;
}
