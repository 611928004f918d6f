#include "scenario.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/doc.h"
#include "kube/file_io.h"
#include "sim/tree.h"

enum { FILE_MAX = 1024 * 1024 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists of these grow by what a row has; everything else of a row takes the place of its entry's.
 */
static bool adds_up(const char *key)
{
    static const char *const keys[] = {"pods", "nodes", "daemons", "objects",
                                       "pvcs", "pvs",   "classes", "csi-nodes"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static json_t *laid_over(const json_t *entry, const json_t *row)
{
    json_t *out = json_deep_copy(entry), *value;
    const char *key;
    json_object_del(out, "rows");
    json_object_foreach((json_t *)row, key, value) {
        if (adds_up(key) && json_object_get(out, key) != NULL)
            json_array_extend(json_object_get(out, key), value);
        else
            json_object_set(out, key, value);
    }
    return out;
}

static void add(struct scenarios *out, const char *file, const char *id, const json_t *body)
{
    const char *title = text_at(body, "title");
    if (title == NULL)
        mistake("%s: scenario %s has no title", file, id);
    struct scenario s = {
        .file = file, .id = id, .title = title, .body = body, .differs = text_at(body, "differs"),
        .cheapest = text_at(body, "cheapest")};
    ARENA_PUSH(json_arena(), out->items, out->count, out->capacity, s);
}

static void add_entry(struct scenarios *out, const char *file, const json_t *entry)
{
    const char *number = text_at(entry, "scenario");
    const json_t *rows = json_object_get(entry, "rows");
    size_t i;
    json_t *row;
    if (number == NULL)
        mistake("%s: an entry does not say which scenario it is", file);
    if (rows == NULL)
        add(out, file, number, entry);
    if (json_array_size(rows) > 26)
        mistake("%s: scenario %s has more rows than there are letters", file, number);
    json_array_foreach(rows, i, row)
        add(out, file, format_text("%s%c", number, (char)('a' + i)), laid_over(entry, row));
}

static void read_file(struct scenarios *out, const char *folder, const char *name)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    struct span text;
    if (!file_load(json_arena(), format_text("%s/%s", folder, name), FILE_MAX, &text, &err))
        mistake("%s", err.msg);
    for (size_t at = 0; doc_parse_yaml(p, text, &at, &doc, &err);)
        add_entry(out, name, tree_of_doc(doc_root(doc)));
    doc_parser_free(p);
    if (err.kind != ERR_NONE)
        mistake("%s: %s", name, err.msg);
}

void scenarios_read(struct scenarios *out, const char *folder, bool wrong)
{
    const char **names = NULL;
    size_t count = 0, capacity = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        mistake("%s cannot be read", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct span name = span_of(e->d_name);
        if (span_has_suffix(name, SPAN(".yaml")) && span_has_prefix(name, SPAN("wrong")) == wrong)
            ARENA_PUSH(json_arena(), names, count, capacity, arena_cstr(json_arena(), name));
    }
    closedir(dir);
    if (count != 0)
        qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; i++)
        read_file(out, folder, names[i]);
}
