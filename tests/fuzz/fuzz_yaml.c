/* The first byte chooses the table, the rest is a YAML stream. */
#include "decoded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct doc_parser *parser; /* for the life of the process */
    if (parser == NULL)
        parser = doc_parser_new();
    if (size == 0)
        return 0;
    struct span text = {(const char *)data + 1, size - 1};
    const struct doc *doc;
    struct err err = {.kind = ERR_NONE};
    size_t at = 0;
    while (doc_parse_yaml(parser, text, &at, &doc, &err)) {
        check_decoded(doc_root(doc), schema_of(data[0]));
        check_as_yaml(doc_root(doc));
    }
    assert(err.kind == ERR_NONE || (err.kind == ERR_INVALID && doc_fault_line(parser) != 0));
    return 0;
}
