#include "server/input_told.h"

#include "base/safe_text.h"
#include "kube/finding.h"

struct span input_placed(struct arena *a, const char *file, uint32_t line, struct span text)
{
    if (file == NULL)
        return text;
    return line == 0 ? arena_printf(a, "%s: %.*s", file, SPAN_ARG(text)) : arena_printf(a, "%s:%u: %.*s", file, line, SPAN_ARG(text));
}

void input_tell(struct input *o, enum input_level level, const char *file, uint32_t line, struct span text)
{
    line = o->of_cluster ? 0 : line;
    struct input_note note = {level, file, line, text};
    struct span whole = input_placed(&o->arena, file, line, text);
    ARENA_PUSH(&o->arena, o->notes, o->note_count, o->note_capacity, note);
    if (level != INPUT_MISTAKE) {
        ARENA_PUSH(&o->arena, o->warnings, o->warning_count, o->warning_capacity, whole);
        return;
    }
    o->mistakes++;
    safe_line_add(&o->mistake_lines, whole);
    buf_add_char(&o->mistake_lines, '\n');
}

/* "Pod x: path: text<then>", in the input's arena. */
static struct span told(const struct place_in_file *at, struct span path, struct span text, const char *then)
{
    struct buf b = {0};
    if (at->kind != NULL)
        buf_addf(&b, "%s %.*s%s%.*s: ", at->kind->name, SPAN_ARG(at->ns), at->ns.len != 0 ? "/" : "",
                 SPAN_ARG(at->name));
    if (path.len != 0)
        buf_addf(&b, "%.*s: ", SPAN_ARG(path));
    buf_addf(&b, "%.*s%s", SPAN_ARG(text), then);
    struct span out = arena_dup(&at->o->arena, buf_span(&b));
    buf_release(&b);
    return out;
}

/* Whether another line about the object is shown; if not, it is counted. */
static bool is_shown(struct place_in_file *at, enum input_level level)
{
    if (at->shown < FINDINGS_SHOWN) {
        at->shown++;
        return true;
    }
    at->more++;
    at->more_mistakes += level == INPUT_MISTAKE;
    at->more_level = level > at->more_level ? level : at->more_level;
    return false;
}

void input_end_object(struct place_in_file *at)
{
    if (at->more == 0)
        return;
    struct span text = arena_printf(&at->o->arena, "and %u more of this object", at->more);
    input_tell(at->o, at->more_level, at->file, 0, told(at, (struct span){NULL, 0}, text, ""));
    at->o->mistakes += at->more_mistakes != 0 ? at->more_mistakes - 1 : 0; /* the line is one */
}

void input_add_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    struct place_in_file *at = user;
    if (is_shown(at, INPUT_MISTAKE))
        input_tell(at->o, INPUT_MISTAKE, at->file, line, told(at, path, text, ""));
}

void input_add_warning(struct place_in_file *at, uint32_t line, struct span path, struct span text)
{
    if (is_shown(at, INPUT_WARNS))
        input_tell(at->o, INPUT_WARNS, at->file, line, told(at, path, text, ""));
}

void input_add_invalid(void *user, uint32_t line, struct span path, struct span text)
{
    struct place_in_file *at = user;
    bool pool = at->kind == kind_info(KIND_NODE_POOL);
    if (is_shown(at, INPUT_REFUSES))
        input_tell(at->o, INPUT_REFUSES, at->file, line,
                   told(at, path, text, pool ? "; the pool is set aside" : "; the object is set aside"));
    ARENA_PUSH(&at->o->arena, at->faulty, at->faulty_count, at->faulty_capacity, arena_dup(&at->o->arena, path));
    if (at->refused.ptr == NULL)
        at->refused = arena_printf(&at->o->arena, "%.*s: %.*s", SPAN_ARG(path), SPAN_ARG(text));
}

/* ---- fields that no schema knows ---- */

/* Without the indexes: what one person wrote wrong stands in every pod that came of it. */
static struct span without_indexes(struct arena *a, struct span path)
{
    char *out = arena_alloc(a, path.len);
    size_t n = 0;
    bool index = false;
    for (size_t i = 0; i < path.len; i++) {
        index |= path.ptr[i] == '[';
        if (!index)
            out[n++] = path.ptr[i];
        index &= path.ptr[i] != ']';
    }
    return (struct span){out, n};
}

void input_add_unknown(void *user, uint32_t line, struct span path, struct span text)
{
    struct place_in_file *at = user;
    struct input *o = at->o;
    struct span field = without_indexes(&o->arena, path);
    for (size_t i = 0; i < o->unknown_count; i++)
        if (o->unknown[i].kind == at->kind && span_eq(o->unknown[i].field, field)) {
            o->unknown[i].more++;
            return;
        }
    if (!is_shown(at, INPUT_WARNS))
        return;
    struct input_unknown first = {
        .kind = at->kind, .file = at->file, .line = line, .field = field, .told = told(at, path, text, "")};
    ARENA_PUSH(&o->arena, o->unknown, o->unknown_count, o->unknown_capacity, first);
}

void input_tell_unknown(struct input *o)
{
    for (size_t i = 0; i < o->unknown_count; i++) {
        const struct input_unknown *u = &o->unknown[i];
        input_tell(o, INPUT_WARNS, u->file, u->line,
                   u->more == 0 ? u->told
                                : arena_printf(&o->arena, "%.*s (and %u more of these)", SPAN_ARG(u->told), u->more));
    }
}

/* ---- lines ---- */

/* The next step of a path, and the rest of it: spec | [2] | .key. */
static struct span step(struct span path, bool *index_out, struct span *rest_out)
{
    size_t from = path.ptr[0] == '.' || path.ptr[0] == '[', to = from;
    *index_out = path.ptr[0] == '[';
    while (to < path.len &&
           (*index_out ? path.ptr[to] != ']' : path.ptr[to] != '.' && path.ptr[to] != '['))
        to++;
    struct span name = {path.ptr + from, to - from};
    to += *index_out && to < path.len;
    *rest_out = (struct span){path.ptr + to, path.len - to};
    return name;
}

static bool item_at(struct doc_value list, int64_t index, struct doc_value *out)
{
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it); index--)
        if (index == 0) {
            *out = it.value;
            return true;
        }
    return false;
}

uint32_t input_line_of(struct doc_value object, struct span path)
{
    struct doc_value at = object, next;
    bool brackets;
    int64_t index;
    while (path.len != 0) {
        struct span name = step(path, &brackets, &path);
        bool item = brackets && doc_type(at) == DOC_ARRAY && span_int64(name, &index);
        if (item ? !item_at(at, index, &next) : !doc_find(at, name, &next))
            break;
        at = next;
    }
    return doc_line(at);
}
