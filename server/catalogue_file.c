#include "server/catalogue_file.h"

#include "server/input.h"

bool catalogue_file(const char *path, struct catalogue_source **out, struct err *err)
{
    struct arena scratch;
    struct span text;
    if (path == NULL || path[0] == '\0') {
        *out = catalogue_builtin();
        return true;
    }
    arena_init(&scratch, 0);
    bool ok = input_text(&scratch, path, &text, err) &&
              catalogue_decode(text, span_of(path), out, err);
    arena_release(&scratch);
    return ok;
}
