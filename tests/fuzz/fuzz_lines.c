/* Lines come out the same whatever the chunks: the first eight bytes choose the sizes of chunks,
 * the rest is the stream, compared with a naive split. */
#include <stdlib.h>

#include "kube/lines.h"

enum { LINE_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool fact) /* assert goes with NDEBUG */
{
    if (!fact)
        abort();
}

/* The next line of `rest`, the way one would write it without chunks; false at the end or a long
 * line. */
static bool naive_next(struct span *rest, struct span *line)
{
    while (rest->len != 0) {
        const char *end = memchr(rest->ptr, '\n', rest->len);
        if (end == NULL)
            return false;
        *line = (struct span){rest->ptr, (size_t)(end - rest->ptr)};
        rest->ptr += line->len + 1;
        rest->len -= line->len + 1;
        if (line->len > LINE_MAX)
            return false;
        if (line->len != 0)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8)
        return 0;
    struct span all = {(const char *)data + 8, size - 8}, want, got, rest = all;
    struct lines lines = {.held = {.max = LINE_MAX}};
    for (size_t at = 0, chunk = 0; at < all.len && !lines.too_long; chunk++) {
        size_t n = (size_t)data[chunk % 8] + 1;
        n = n < all.len - at ? n : all.len - at;
        char *copy = malloc(n); /* of the exact size: reading past a chunk is found */
        hold(copy != NULL);
        memcpy(copy, all.ptr + at, n);
        lines_feed(&lines, (struct span){copy, n});
        while (lines_next(&lines, &got)) {
            bool more = naive_next(&rest, &want);
            hold(more && span_eq(got, want));
        }
        free(copy);
        at += n;
    }
    if (!lines.too_long) {
        hold(!naive_next(&rest, &want));
        hold(lines_pending(&lines) == (all.len != 0 && all.ptr[all.len - 1] != '\n'));
    }
    lines_release(&lines);
    return 0;
}
