/* The first byte chooses the table, the rest is JSON. What simdjson refuses, the search for the mistake
 * must find, and only that. */
#include "decoded.h"
#include "base/doc_tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct doc_parser *parser; /* for the life of the process */
    if (parser == NULL)
        parser = doc_parser_new();
    if (size == 0)
        return 0;
    const struct doc *doc;
    struct err err = {.kind = ERR_NONE};
    if (!doc_parse_json(parser, (struct span){(const char *)data + 1, size - 1}, &doc, &err)) {
        assert(err.kind == ERR_INVALID && doc_fault_line(parser) != 0);
        return 0;
    }
    uint32_t line;
    assert(json_fault(doc->text, &line) == NULL);
    check_decoded(doc_root(doc), schema_of(data[0]));
    check_as_yaml(doc_root(doc));
    return 0;
}
