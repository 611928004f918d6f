/* doc_json: simdjson behind six C words. The only door to C++: no exception passes it.
 *
 * Private to doc.c. It includes nothing of ours, so that the C++ compiler sees no C idiom. */
#ifndef BASE_DOC_JSON_H
#define BASE_DOC_JSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DOC_JSON_PADDING = 64 }; /* readable bytes wanted behind the text */

struct doc_json;
struct doc_json *doc_json_new(unsigned depth); /* NULL: no memory */
void doc_json_free(struct doc_json *j);
size_t doc_json_size(const struct doc_json *j); /* bytes of its buffers; of NULL 0 */

enum doc_json_result { DOC_JSON_GOOD, DOC_JSON_BAD, DOC_JSON_NO_MEMORY };

/* The tape and the strings stay valid until the next call. *reason_out is for DOC_JSON_BAD. */
enum doc_json_result doc_json_parse(struct doc_json *j, const char *padded, size_t len,
                                    const uint64_t **tape_out, const char **strings_out,
                                    const char **reason_out);

#ifdef __cplusplus
}
#endif

#endif
