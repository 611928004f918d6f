/* Documents out of files: JSON or YAML, as kubectl takes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/json_scan.h"
#include "kube/file_io.h"
#include "server/input_inner.h"
#include "server/input_told.h"

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

struct reading { /* one file */
    struct input *o;
    struct doc_parser *parser;
    const char *file;
    struct span text;
    uint32_t documents;
    bool took_items; /* of a List that was then found not to be well-formed: it is not read as something else */
};

static void file_mistake(struct input *o, const char *text)
{
    input_tell(o, INPUT_MISTAKE, NULL, 0, arena_dup(&o->arena, span_of(text)));
}

/* --- JSON --- */

static uint32_t count_lines(struct span text, size_t from, size_t end)
{
    uint32_t lines = 0;
    for (const char *c; (c = memchr(text.ptr + from, '\n', end - from)) != NULL; lines++)
        from = (size_t)(c - text.ptr) + 1;
    return lines;
}

/* The List without its items, but with their lines. */
static struct span head_of(struct arena *a, struct span list, struct span inside)
{
    size_t before = (size_t)(inside.ptr - list.ptr), behind = list.len - before - inside.len;
    uint32_t lines = count_lines(inside, 0, inside.len);
    char *text = arena_alloc(a, before + lines + behind);
    memcpy(text, list.ptr, before);
    memset(text + before, '\n', lines);
    memcpy(text + before + lines, inside.ptr + inside.len, behind);
    return (struct span){text, before + lines + behind};
}

/* Item by item, so that a dump of a cluster takes the memory of one object beside its text. False: it is no
 * List, or not well-formed, and has to be read whole. */
static bool read_list_in_parts(struct reading *r, struct span list, uint32_t lines)
{
    struct span inside, item;
    const struct doc *doc;
    struct type_meta type = {0};
    struct err err;
    if (!json_scan_list(list, SPAN("items"), &inside))
        return false;
    struct arena own;
    arena_init(&own, 0);
    bool ok = doc_parse_json_part(r->parser, head_of(&own, list, inside), lines, &doc, &err) &&
              input_list_type(r->o, r->file, doc_root(doc), &type);
    type.kind = arena_dup(&own, type.kind);
    type.api_version = arena_dup(&own, type.api_version);
    size_t at = 0, counted = 0;
    lines += count_lines(list, 0, (size_t)(inside.ptr - list.ptr));
    while (ok && json_scan_item(inside, &at, &item)) {
        size_t from = (size_t)(item.ptr - inside.ptr);
        lines += count_lines(inside, counted, from);
        counted = from;
        ok = doc_parse_json_part(r->parser, item, lines, &doc, &err);
        r->took_items = true;
        if (ok)
            input_take_item(r->o, r->file, doc_root(doc), &type);
    }
    arena_release(&own);
    return ok && at == inside.len;
}

static bool read_value(struct reading *r, struct span value, uint32_t lines, struct err *err)
{
    enum { PARTS_FROM = 256 * 1024 }; /* bytes: less is not worth a second look */
    const struct doc *doc;
    if (value.len >= PARTS_FROM && read_list_in_parts(r, value, lines))
        return true;
    if (!doc_parse_json_part(r->parser, value, lines, &doc, err))
        return false;
    input_take_document(r->o, r->file, doc_root(doc));
    return true;
}

/* Also several values one after the other, with YAML's marks between them or without. */
static bool read_json(struct reading *r, struct err *err)
{
    struct span value;
    uint32_t lines = 0;
    for (size_t at = 0, counted = 0; json_scan_next(r->text, &at, &value);) {
        size_t from = (size_t)(value.ptr - r->text.ptr);
        lines += count_lines(r->text, counted, from);
        counted = from;
        if (r->documents != 0 && span_eq(value, SPAN("---")))
            continue;
        if (!read_value(r, value, lines, err))
            return false;
        r->documents++;
    }
    return true;
}

/* --- YAML --- */

static bool read_yaml(struct reading *r, struct err *err)
{
    const struct doc *doc;
    for (size_t at = 0; doc_parse_yaml(r->parser, r->text, &at, &doc, err); r->documents++)
        input_take_document(r->o, r->file, doc_root(doc));
    return err->kind == ERR_NONE;
}

/* --- either --- */

static bool begins_as_json(struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\r\n", text.ptr[i]) == NULL)
            return text.ptr[i] == '{' || text.ptr[i] == '[';
    return false;
}

/* The line on which reading ended, or the one before, has a template's braces: where YAML goes wrong because of
 * them. */
static bool is_template(const struct reading *r, uint32_t line)
{
    struct span rest = r->text;
    for (uint32_t n = 1; n <= line && rest.ptr != NULL; n++) {
        struct span this = span_cut(rest, '\n', &rest);
        if (n + 1 >= line && span_contains(this, SPAN("{{")))
            return true;
    }
    return false;
}

/* The parsers say "line 3: why"; a person reads "file:3: why". */
static void syntax_mistake(struct reading *r, uint32_t line, const char *text)
{
    struct span why, told = span_of(text);
    if (line != 0 && is_template(r, line))
        told = SPAN(UNRENDERED);
    else if (line != 0 && span_has_prefix(span_cut(told, ':', &why), SPAN("line ")))
        span_cut(why, ' ', &told);
    else
        line = 0;
    input_tell(r->o, INPUT_MISTAKE, r->file, line, arena_dup(&r->o->arena, told));
}

static bool is_quoted(struct span text)
{
    size_t seen = 0;
    for (size_t i = 0; i < text.len && seen < 2; i++)
        if (strchr(" \t\r\n", text.ptr[i]) == NULL && ++seen == 2)
            return strchr("\"[{}]", text.ptr[i]) != NULL;
    return true;
}

/* What begins with a brace is JSON, and if not, YAML in flow style. Of what is neither, JSON's fault is told when
 * the first thing in it is quoted. */
static void read_text(struct reading *r)
{
    struct err err = {0}, json_err = {0};
    bool json = begins_as_json(r->text), ok = json && read_json(r, &json_err);
    uint32_t line = 0, json_line = json && !ok ? doc_fault_line(r->parser) : 0;
    if (!ok && r->documents == 0 && !r->took_items) {
        ok = read_yaml(r, &err);
        line = doc_fault_line(r->parser);
    }
    if (ok && r->documents == 0)
        input_tell(r->o, INPUT_WARNS, r->file, 0, SPAN("passed over: there is no object in it"));
    if (ok)
        return;
    bool tell_json = json && (err.kind == ERR_NONE || is_quoted(r->text) || is_template(r, json_line));
    syntax_mistake(r, tell_json ? json_line : line, tell_json ? json_err.msg : err.msg);
}

static void read_file(struct input *o, struct doc_parser *p, const char *path)
{
    uint32_t before = o->mistakes;
    struct arena texts;
    arena_init(&texts, 0);
    struct err err = {0};
    struct reading r = {.o = o, .parser = p};
    o->files++;
    r.file = strcmp(path, "-") == 0 ? "standard input" : arena_cstr(&o->arena, span_of(path));
    if (input_text(&texts, path, &r.text, &err))
        read_text(&r);
    else
        file_mistake(o, err.msg);
    o->bad_files += o->mistakes != before;
    arena_release(&texts);
}

static void read_directory(struct input *o, struct doc_parser *p, const char *path,
                           const struct stat *skip)
{
    struct arena a;
    arena_init(&a, 0);
    struct paths found = {0};
    struct err err;
    if (!input_paths(&a, path, skip, &found, &err))
        file_mistake(o, err.msg);
    else if (found.count == 0)
        file_mistake(o, arena_printf(&a, "%s: no .yaml, .yml or .json file in this directory",
                                     path).ptr);
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
    input_tell_unknown(o);
    if (o->mistakes == 0 && o->files != 0 && !o->some)
        return err_set(err, ERR_INVALID, "no Kubernetes object in %u file%s; nothing %s", o->files,
                       o->files == 1 ? "" : "s", o->undone);
    if (o->mistakes == 0)
        return true;
    if (o->files == 0)
        return err_set(err, ERR_INVALID, "no file was read; nothing %s", o->undone);
    return err_set(err, ERR_INVALID, "%u mistake%s in %u of %u file%s; nothing %s",
                   o->mistakes, o->mistakes == 1 ? "" : "s", o->bad_files, o->files,
                   o->files == 1 ? "" : "s", o->undone);
}
