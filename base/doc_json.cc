/* simdjson's DOM parser, used through its error codes. What it leaves is the tape that doc_tape.h
 * describes; nobody but doc.c reads it. */
#include "base/doc_json.h"

#include <new>
#include <simdjson.h>

static_assert(DOC_JSON_PADDING >= simdjson::SIMDJSON_PADDING, "simdjson reads further than we pad");

struct doc_json {
    simdjson::dom::parser parser;
    unsigned depth;
};

doc_json *doc_json_new(unsigned depth)
{
    doc_json *j = new (std::nothrow) doc_json;
    if (j != nullptr)
        j->depth = depth;
    return j;
}

void doc_json_free(doc_json *j)
{
    delete j;
}

/* For each byte of capacity an index of 4 bytes, a word of tape and five thirds of a byte of strings. */
size_t doc_json_size(const doc_json *j)
{
    return j == nullptr ? 0 : j->parser.capacity() * 4 + j->parser.doc.capacity() * 8 + j->parser.doc.capacity() * 5 / 3;
}

/* The library grows to exactly what is asked for; pages of a LIST differ a little in size. */
static bool make_room(doc_json *j, size_t len)
{
    size_t capacity = 4096;
    while (capacity < len)
        capacity *= 2;
    if (j->parser.capacity() < capacity && j->parser.allocate(capacity, j->depth) != simdjson::SUCCESS)
        return false;
    return j->parser.doc.capacity() >= capacity ||
           j->parser.doc.allocate(capacity) == simdjson::SUCCESS;
}

doc_json_result doc_json_parse(doc_json *j, const char *padded, size_t len,
                               const uint64_t **tape_out, const char **strings_out,
                               const char **reason_out)
{
    if (!make_room(j, len))
        return DOC_JSON_NO_MEMORY;
    simdjson::error_code code = j->parser.parse(padded, len, false).error();
    if (code == simdjson::MEMALLOC)
        return DOC_JSON_NO_MEMORY;
    if (code != simdjson::SUCCESS) {
        *reason_out = simdjson::error_message(code);
        return DOC_JSON_BAD;
    }
    *tape_out = j->parser.doc.tape.get();
    *strings_out = reinterpret_cast<const char *>(j->parser.doc.string_buf.get());
    return DOC_JSON_GOOD;
}
