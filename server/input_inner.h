/* input_inner: what input.c and input_files.c share. */
#ifndef SERVER_INPUT_INNER_H
#define SERVER_INPUT_INNER_H

#include "server/input.h"

#define UNRENDERED "an unrendered Helm template ({{ … }}); give what `helm template` prints"

struct type_meta {
    struct span api_version, kind; /* of the document; empty: missing */
};

/* Whether objects of the kind are taken. */
bool input_reads(const struct input *o, enum kind k);
/* An object, or a List of them; anything else is passed over with a warning. */
void input_take_document(struct input *o, const char *file, struct doc_value root);
/* Whether the document is a List, and its type, which lives with the document: its items are taken one by one. */
bool input_list_type(struct input *o, const char *file, struct doc_value root, struct type_meta *out);
void input_take_item(struct input *o, const char *file, struct doc_value item, const struct type_meta *list);

/* input_paths.c: the files of a directory and of those below it that may hold objects, by name. A directory is
 * looked at once, whatever links lead to it. `skip` (may be NULL) is a file that is left out. False: a
 * directory cannot be read. */
struct paths {
    const char **items;
    size_t count, capacity;
};
struct stat;
bool input_paths(struct arena *a, const char *directory, const struct stat *skip, struct paths *out,
                 struct err *err);

#endif
