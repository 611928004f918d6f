#include "server/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kube/file_io.h"
#include "kube/workload.h"

/* --- files --- */

static bool read_stdin(struct arena *a, struct span *out, struct err *err)
{
    enum { STEP = 64 * 1024 };
    struct buf b = {.max = INPUT_FILE_MAX};
    size_t n = 1;
    for (char *at; n != 0 && (at = buf_reserve(&b, STEP)) != NULL;) {
        n = fread(at, 1, STEP, stdin);
        buf_commit(&b, n);
    }
    bool ok = true;
    if (b.overflow)
        ok = err_set(err, ERR_INVALID, "standard input: larger than %d MiB",
                     INPUT_FILE_MAX / 1024 / 1024);
    else if (ferror(stdin))
        ok = err_set(err, ERR_INVALID, "standard input: %s", strerror(errno));
    else
        *out = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return ok;
}

bool input_text(struct arena *a, const char *path, struct span *out, struct err *err)
{
    return strcmp(path, "-") == 0 ? read_stdin(a, out, err)
                                  : file_load(a, path, INPUT_FILE_MAX, out, err);
}

/* --- where we are, for messages --- */

struct place_in_file {
    struct input *o;
    const char *file;
    const char *kind;
    struct span ns, name;
    bool odd_name; /* with control characters */
    bool invalid;  /* set: the object reads, and no API server admits it */
};

static void put_where(struct buf *b, const struct place_in_file *at, uint32_t line)
{
    buf_addf(b, "%s:%u: ", at->file, line);
    if (at->kind != NULL)
        buf_addf(b, "%s %.*s%s%.*s: ", at->kind, SPAN_ARG(at->ns), at->ns.len != 0 ? "/" : "",
                 SPAN_ARG(at->name));
}

static void add_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    const struct place_in_file *at = user;
    at->o->mistakes++;
    struct buf *b = &at->o->mistake_lines;
    put_where(b, at, line);
    if (path.len != 0)
        buf_addf(b, "%.*s: ", SPAN_ARG(path));
    buf_addf(b, "%.*s\n", SPAN_ARG(text));
}

void input_warn(struct input *o, struct span text)
{
    ARENA_PUSH(&o->arena, o->warnings, o->warning_count, o->warning_capacity, text);
}

static void add_invalid(void *user, uint32_t line, struct span path, struct span text)
{
    struct place_in_file *at = user;
    struct buf b = {0};
    put_where(&b, at, line);
    buf_addf(&b, "%.*s: %.*s; the object is set aside", SPAN_ARG(path), SPAN_ARG(text));
    input_warn(at->o, arena_dup(&at->o->arena, buf_span(&b)));
    buf_release(&b);
    at->invalid = true;
}

/* --- objects --- */

void *input_new_object(struct input *o, const struct input_origin *origin, size_t size)
{
    struct input_origin *made = arena_alloc(&o->arena, sizeof(*made) + size);
    *made = *origin;
    return made + 1;
}

const struct input_origin *input_origin(const void *object)
{
    return (const struct input_origin *)object - 1;
}

/* Kinds that belong to a cluster's dump and of which this version reads nothing. */
static bool is_expected(struct span kind)
{
    static const char *const names[] = {
        "PriorityClass",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (span_eq(kind, span_of(names[i])))
            return true;
    return span_has_suffix(kind, SPAN("NodeClass"));
}

static void pass_over(struct input *o, struct span kind)
{
    enum { SHOWN = 60 }; /* bytes of kinds' names worth printing */
    if (is_expected(kind))
        return;
    o->passed_over++;
    struct span shown = o->passed_over_kinds;
    if (span_contains(shown, kind) || shown.len > SHOWN)
        return;
    o->passed_over_kinds = shown.len == 0
                               ? arena_dup(&o->arena, kind)
                               : arena_printf(&o->arena, "%.*s, %.*s", SPAN_ARG(shown),
                                              SPAN_ARG(kind));
}

/* What the API server would have filled in. */
static void complete_identity(struct input *o, const struct kind_info *info, struct meta *m)
{
    if (info->namespaced && m->ns.len == 0)
        m->ns = SPAN("default");
    if (m->uid.len == 0)
        m->uid = arena_printf(&o->arena, "%s/%.*s/%.*s", info->name, SPAN_ARG(m->ns),
                              SPAN_ARG(m->name));
}

struct type_meta {
    struct span api_version, kind; /* of the document; empty: missing */
};

static struct input_origin next_origin(struct input *o, const char *file, struct doc_value v)
{
    return (struct input_origin){.file = file, .line = doc_line(v), .order = o->objects++};
}

/* A kind that is read, in a version that is not: a person should hear of it by name. */
static void pass_over_version(struct input *o, const char *file, struct doc_value v,
                              const struct type_meta *type, enum kind kind)
{
    const struct kind_info *info = kind_info(kind);
    struct input_origin origin = next_origin(o, file, v);
    struct doc_value meta;
    struct node_pool pool = {0};
    if (doc_find(v, SPAN("metadata"), &meta)) {
        pool.meta.name = arena_dup(&o->arena, doc_text_at(meta, SPAN("name")));
        pool.meta.ns = arena_dup(&o->arena, doc_text_at(meta, SPAN("namespace")));
    }
    struct span why = arena_printf(&o->arena, "is %.*s; Stowage reads %s",
                                   SPAN_ARG(type->api_version), info->api_version);
    input_warn(o, arena_printf(&o->arena, "%s:%u: %.*s %.*s", file, origin.line,
                               SPAN_ARG(kind_object_name(&o->arena, kind, &pool.meta)),
                               SPAN_ARG(why)));
    if (kind != KIND_NODE_POOL || pool.meta.name.len == 0)
        return;
    struct span told = arena_printf(&o->arena, "it %.*s", SPAN_ARG(why));
    ARENA_PUSH(&o->arena, o->old_pools.items, o->old_pools.count, o->old_pools.capacity,
               (const void *)input_closed_pool(o, &origin, &pool, told));
}

/* Of what a CapacityBuffer may point at, replicas and template are read as well. */
static const struct schema *schema_of(enum kind k)
{
    bool scalable = k == KIND_DEPLOYMENT || k == KIND_REPLICA_SET || k == KIND_STATEFUL_SET;
    return scalable ? &scalable_schema : kind_info(k)->schema;
}

/* False when one of both is no text: that has been told. */
static bool read_type(struct place_in_file *at, struct doc_value v, struct type_meta *out)
{
    static const struct field fields[] = {
        FIELD(struct type_meta, api_version, FIELD_SPAN, "apiVersion"),
        FIELD(struct type_meta, kind, FIELD_SPAN, "kind"),
    };
    static const struct schema schema = SCHEMA(struct type_meta, "Kubernetes object", fields);
    struct decode d = {.arena = &at->o->arena, .borrows = true, .mistake = add_mistake, .user = at};
    if (doc_type(v) == DOC_OBJECT)
        return decode_value(&d, v, &schema, out);
    const char *also = doc_type(v) == DOC_ARRAY ? "; put the objects into the items of a List" : "";
    add_mistake(at, doc_line(v), (struct span){NULL, 0},
                arena_printf(&at->o->arena, "%s is not a Kubernetes object%s",
                             doc_type_name(doc_type(v)), also));
    return false;
}

static void type_missing(struct place_in_file *at, struct doc_value v, const struct type_meta *t)
{
    const char *what = t->api_version.len != 0 ? "kind is"
                       : t->kind.len != 0      ? "apiVersion is"
                                               : "apiVersion and kind are";
    add_mistake(at, doc_line(v), (struct span){NULL, 0},
                arena_printf(&at->o->arena, "not a Kubernetes object: %s missing", what));
}

/* Not there, null or empty; a value of another type is left for decode to tell. */
static bool is_missing(struct doc_value object, struct span key)
{
    struct doc_value v;
    return !doc_find(object, key, &v) || doc_type(v) == DOC_NULL ||
           (doc_type(v) == DOC_STRING && doc_text(v).len == 0);
}

/* A name as it can be shown on one line: without control characters, which no name may have. Nothing else
 * of what the API server refuses in a name does harm. */
static struct span shown_name(struct place_in_file *at, struct span name)
{
    struct span shown = name;
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] >= 0x20 && name.ptr[i] != 0x7f)
            continue;
        if (shown.ptr == name.ptr)
            shown = arena_dup(&at->o->arena, name);
        ((char *)(uintptr_t)shown.ptr)[i] = '?';
        at->odd_name = true;
    }
    return shown;
}

/* Where the object is named, for messages; false when it has no name. */
static bool find_name(struct place_in_file *at, struct doc_value v, const struct kind_info *info)
{
    struct doc_value meta;
    bool has_meta = doc_find(v, SPAN("metadata"), &meta) && doc_type(meta) == DOC_OBJECT;
    if (has_meta ? is_missing(meta, SPAN("name")) : is_missing(v, SPAN("metadata"))) {
        add_mistake(at, doc_line(v), SPAN("metadata.name"), SPAN("missing"));
        return false;
    }
    if (has_meta) {
        at->ns = shown_name(at, doc_text_at(meta, SPAN("namespace")));
        at->name = shown_name(at, doc_text_at(meta, SPAN("name")));
    }
    at->kind = at->name.len != 0 ? info->name : NULL;
    return true;
}

static void take_object(struct place_in_file *at, struct doc_value v, enum kind kind)
{
    struct input *o = at->o;
    struct decode d = {
        .arena = &o->arena, .syms = o->syms, .mistake = add_mistake, .invalid = add_invalid,
        .user = at};
    const struct schema *schema = schema_of(kind);
    struct input_origin origin = next_origin(o, at->file, v);
    void *object = input_new_object(o, &origin, schema->size);
    decode_value(&d, v, schema, object);
    complete_identity(o, kind_info(kind), object);
    if (at->odd_name)
        add_invalid(at, origin.line, SPAN("metadata"), SPAN("no object can have such a name"));
    if (at->invalid)
        return;
    struct err err = {0};
    if (o->taken != NULL && o->mistakes == 0 && !o->taken(o->user, kind, v, &err)) {
        add_mistake(at, origin.line, (struct span){NULL, 0}, span_of(err.msg));
        return;
    }
    struct input_list *list = &o->kinds[kind];
    ARENA_PUSH(&o->arena, list->items, list->count, list->capacity, (const void *)object);
}

static void read_object(struct input *o, const char *file, struct doc_value v,
                        const struct type_meta *type)
{
    struct place_in_file at = {.o = o, .file = file};
    if (type->kind.len == 0 || type->api_version.len == 0) {
        type_missing(&at, v, type);
        return;
    }
    enum kind kind = kind_find(type->api_version, type->kind);
    enum kind other = kind_find_group(type->api_version, type->kind);
    if (kind < KIND_STORED_COUNT) {
        if (find_name(&at, v, kind_info(kind)))
            take_object(&at, v, kind);
    } else if (kind == KIND_NONE && other < KIND_STORED_COUNT) {
        pass_over_version(o, file, v, type, other);
    } else {
        pass_over(o, type->kind);
    }
}

/* A List by its name, unless it is an object of a kind that happens to end so. */
static bool is_list(struct doc_value root, struct span kind)
{
    struct doc_value meta, items;
    if (!span_has_suffix(kind, SPAN("List")))
        return false;
    return doc_find(root, SPAN("items"), &items) || !doc_find(root, SPAN("metadata"), &meta) ||
           is_missing(meta, SPAN("name"));
}

static void read_list(struct input *o, const char *file, struct doc_value root,
                      const struct type_meta *list)
{
    struct place_in_file at = {.o = o, .file = file};
    struct doc_value items;
    if (!doc_find(root, SPAN("items"), &items)) {
        add_mistake(&at, doc_line(root), SPAN("items"),
                    arena_printf(&o->arena, "missing; a %.*s needs them", SPAN_ARG(list->kind)));
    } else if (doc_type(items) != DOC_ARRAY && doc_type(items) != DOC_NULL) {
        add_mistake(&at, doc_line(items), SPAN("items"),
                    arena_printf(&o->arena, "%s is not a list", doc_type_name(doc_type(items))));
    } else {
        struct span item_kind = {list->kind.ptr, list->kind.len - strlen("List")}; /* PodList: Pod */
        for (struct doc_iter it = doc_iter_of(items); doc_next(&it);) {
            struct type_meta own = {0};
            if (!read_type(&at, it.value, &own))
                continue;
            if (own.api_version.len == 0)
                own.api_version = list->api_version;
            if (own.kind.len == 0)
                own.kind = item_kind;
            read_object(o, file, it.value, &own);
        }
    }
}

static void read_document(struct input *o, const char *file, struct doc_value root)
{
    struct place_in_file at = {.o = o, .file = file};
    struct type_meta type = {0};
    if (!read_type(&at, root, &type))
        return;
    if (is_list(root, type.kind))
        read_list(o, file, root, &type);
    else
        read_object(o, file, root, &type);
}

static bool looks_like_json(struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\r\n", text.ptr[i]) == NULL)
            return text.ptr[i] == '{' || text.ptr[i] == '[';
    return false;
}

static bool read_yaml(struct input *o, struct doc_parser *p, const char *file, struct span text,
                      uint32_t *documents, struct err *err)
{
    const struct doc *doc;
    for (size_t at = 0; doc_parse_yaml(p, text, &at, &doc, err); (*documents)++)
        read_document(o, file, doc_root(doc));
    return err->kind == ERR_NONE;
}

static bool read_json(struct input *o, struct doc_parser *p, const char *file, struct span text,
                      uint32_t *documents, struct err *err)
{
    const struct doc *doc;
    if (!doc_parse_json(p, text, &doc, err))
        return false;
    ++*documents;
    read_document(o, file, doc_root(doc));
    return true;
}

static void file_mistake(struct input *o, const char *text)
{
    o->mistakes++;
    buf_addf(&o->mistake_lines, "%s\n", text);
}

/* The parsers say "line 3: why"; a person reads "file:3: why". */
static void syntax_mistake(struct input *o, const char *file, const char *text)
{
    struct span why;
    struct span line = span_cut(span_of(text), ':', &why);
    o->mistakes++;
    if (span_has_prefix(line, SPAN("line ")) && why.len != 0)
        buf_addf(&o->mistake_lines, "%s:%.*s:%.*s\n", file, (int)(line.len - 5), line.ptr + 5,
                 SPAN_ARG(why));
    else
        buf_addf(&o->mistake_lines, "%s: %s\n", file, text);
}

static void read_file(struct input *o, struct doc_parser *p, const char *path)
{
    uint32_t before = o->mistakes, documents = 0;
    struct arena texts;
    arena_init(&texts, 0);
    struct err err = {0};
    struct span text = {NULL, 0};
    o->files++;
    const char *name =
        strcmp(path, "-") == 0 ? "standard input" : arena_cstr(&o->arena, span_of(path));
    if (!input_text(&texts, path, &text, &err)) {
        file_mistake(o, err.msg);
    } else {
        bool ok = looks_like_json(text) ? read_json(o, p, name, text, &documents, &err)
                                        : read_yaml(o, p, name, text, &documents, &err);
        if (!ok)
            syntax_mistake(o, name, err.msg);
        else if (documents == 0)
            file_mistake(o, arena_printf(&texts, "%s: empty: there is no object in it", name).ptr);
    }
    o->bad_files += o->mistakes != before;
    arena_release(&texts);
}

/* --- directories --- */

static bool is_object_file(const char *name)
{
    struct span s = span_of(name);
    return span_has_suffix(s, SPAN(".yaml")) || span_has_suffix(s, SPAN(".yml")) ||
           span_has_suffix(s, SPAN(".json"));
}

struct paths {
    const char **items;
    size_t count, capacity;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum { DEPTH_MAX = 32 }; /* directories in directories; a loop of links ends here */

static void list_directory(struct arena *a, const char *path, const struct stat *skip, int depth,
                           struct paths *out)
{
    DIR *dir = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (dir == NULL)
        return;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        const char *full = arena_printf(a, "%s/%s", path, e->d_name).ptr;
        struct stat st;
        if (stat(full, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            list_directory(a, full, skip, depth + 1, out);
        else if (is_object_file(e->d_name) &&
                 !(skip != NULL && st.st_ino == skip->st_ino && st.st_dev == skip->st_dev))
            ARENA_PUSH(a, out->items, out->count, out->capacity, full);
    }
    closedir(dir);
}

static void read_directory(struct input *o, struct doc_parser *p, const char *path,
                           const struct stat *skip)
{
    struct arena a;
    arena_init(&a, 0);
    struct paths found = {0};
    list_directory(&a, path, skip, 0, &found);
    if (found.count == 0)
        file_mistake(o, arena_printf(&a, "%s: no .yaml, .yml or .json file in this directory",
                                     path).ptr);
    else
        qsort(found.items, found.count, sizeof(found.items[0]), by_text);
    for (size_t i = 0; i < found.count; i++)
        read_file(o, p, found.items[i]);
    arena_release(&a);
}

/* --- the whole --- */

void input_init(struct input *o)
{
    *o = (struct input){.syms = kube_symtab_new(), .undone = "planned"};
    arena_init(&o->arena, 64 << 10);
}

void input_release(struct input *o)
{
    arena_release(&o->arena);
    symtab_unref(o->syms);
    buf_release(&o->mistake_lines);
}

bool input_read(struct input *o, const struct texts *paths, const char *skip, struct err *err)
{
    struct doc_parser *p = doc_parser_new();
    struct stat skipped, st;
    bool skips = skip != NULL && stat(skip, &skipped) == 0;
    for (uint32_t i = 0; i < paths->count; i++) {
        const char *path = paths->items[i];
        if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            read_directory(o, p, path, skips ? &skipped : NULL);
        else
            read_file(o, p, path);
    }
    doc_parser_free(p);
    if (o->mistakes == 0)
        return true;
    if (o->files == 0)
        return err_set(err, ERR_INVALID, "no file was read; nothing %s", o->undone);
    return err_set(err, ERR_INVALID, "%u mistake%s in %u of %u file%s; nothing %s",
                   o->mistakes, o->mistakes == 1 ? "" : "s", o->bad_files, o->files,
                   o->files == 1 ? "" : "s", o->undone);
}
