#include "kube/file_io.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"

bool file_load(struct arena *a, const char *path, size_t max, struct span *out, struct err *err)
{
    FILE *f = fopen(path, "rbe");
    if (f == NULL)
        return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_INVALID,
                       "%s: %s", path, strerror(errno));
    struct buf bytes = {.max = max};
    bool failed = false;
    for (;;) {
        char chunk[16384];
        size_t n = fread(chunk, 1, sizeof(chunk), f);
        buf_add(&bytes, (struct span){chunk, n});
        if (n < sizeof(chunk)) {
            failed = ferror(f) != 0;
            break;
        }
        if (bytes.overflow)
            break;
    }
    int error = errno;
    fclose(f);
    if (!failed && !bytes.overflow)
        *out = arena_dup(a, buf_span(&bytes));
    else if (failed)
        err_set(err, ERR_INVALID, "%s: %s", path, strerror(error));
    else
        err_set(err, ERR_INVALID, "%s: larger than %zu bytes", path, max);
    bool done = !failed && !bytes.overflow;
    buf_release(&bytes);
    return done;
}
