#include "base/decode_told.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/nearest.h"

void decode_enter(struct decode *d, struct decode_place *place)
{
    place->up = d->place;
    d->place = place;
}

void decode_leave(struct decode *d)
{
    d->place = d->place->up;
}

/* ---- where ---- */

struct path {
    char text[512];
    size_t len;
};

static void path_add(struct path *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void path_add(struct path *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->text + p->len, sizeof(p->text) - p->len, format, args);
    va_end(args);
    size_t room = sizeof(p->text) - p->len - 1;
    p->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

static bool needs_brackets(const struct decode_place *at)
{
    for (size_t i = 0; at->key && i < at->name.len; i++) /* app.kubernetes.io/name */
        if (strchr("./[] ", at->name.ptr[i]) != NULL)
            return true;
    return false;
}

static void path_of(const struct decode_place *at, struct path *p)
{
    if (at == NULL)
        return;
    path_of(at->up, p);
    if (at->name.ptr == NULL)
        path_add(p, "[%u]", at->index);
    else if (needs_brackets(at))
        path_add(p, "[%.*s]", SPAN_ARG(at->name));
    else
        path_add(p, "%s%.*s", p->len != 0 ? "." : "", SPAN_ARG(at->name));
}

/* ---- what ---- */

static void tell(struct decode *d, struct doc_value v, decode_mistake *listener,
                 const char *format, va_list args)
{
    struct path path = {.len = 0};
    char text[sizeof(((struct err *)NULL)->msg)];
    int n = vsnprintf(text, sizeof(text), format, args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    path_of(d->place, &path);
    listener(d->user, doc_line(v), (struct span){path.text, path.len}, (struct span){text, len});
}

void decode_wrong(struct decode *d, struct doc_value v, const char *format, ...)
{
    d->mistakes++;
    if (d->mistake == NULL)
        return;
    va_list args;
    va_start(args, format);
    tell(d, v, d->mistake, format, args);
    va_end(args);
}

void decode_invalid(struct decode *d, struct doc_value v, const char *format, ...)
{
    if (d->invalid == NULL)
        return;
    va_list args;
    va_start(args, format);
    tell(d, v, d->invalid, format, args);
    va_end(args);
}

void decode_invalid_in(struct decode *d, struct doc_value object, const char *member,
                       const char *format, ...)
{
    struct decode_place place = {.name = span_of(member)};
    struct doc_value v;
    if (d->invalid == NULL)
        return;
    if (!doc_find(object, place.name, &v))
        v = object; /* it is missing there */
    va_list args;
    va_start(args, format);
    decode_enter(d, &place);
    tell(d, v, d->invalid, format, args);
    decode_leave(d);
    va_end(args);
}

const char *decode_shown(struct doc_value v, char *out, size_t size)
{
    enum { SHOWN_MAX = 64 };
    enum doc_type type = doc_type(v);
    struct span text;
    switch (type) {
    case DOC_BOOL:
        return doc_bool(v) ? "true" : "false";
    case DOC_NUMBER:
        text = doc_text(v);
        snprintf(out, size, "%.*s", SPAN_ARG(text));
        return out;
    case DOC_STRING:
        text = doc_text(v);
        if (text.len <= SHOWN_MAX)
            snprintf(out, size, "\"%.*s\"", SPAN_ARG(text));
        else
            snprintf(out, size, "\"%.*s…\"", SHOWN_MAX, text.ptr);
        return out;
    default:
        return doc_type_name(type);
    }
}

void decode_wrong_type(struct decode *d, struct doc_value v, const char *wanted)
{
    char text[128];
    decode_wrong(d, v, "%s is not %s", decode_shown(v, text, sizeof(text)), wanted);
}

/* ---- bounded objects ---- */

void decode_count(struct decode *d, uint32_t entries)
{
    struct decode_bounds *b = d->bounds;
    struct path path = {.len = 0};
    if (b == NULL || b->excess.ptr != NULL)
        return;
    b->entries += entries;
    if (entries <= b->list_max && b->entries <= b->entries_max)
        return;
    path_of(d->place, &path);
    if (entries > b->list_max)
        b->excess = arena_printf(d->arena, "%.*s has %u entries; Stowage plans objects with at most %u in one list",
                                 (int)path.len, path.text, entries, b->list_max);
    else
        b->excess = arena_printf(d->arena, "%.*s goes beyond the %u entries that all lists of one object may have",
                                 (int)path.len, path.text, b->entries_max);
}

/* ---- fields that no schema knows ---- */

/* Whether one of the names, each with a blank on both sides, is this one. */
static bool is_among(const char *names, struct span name)
{
    struct span rest = span_of(names);
    while (rest.ptr != NULL)
        if (span_eq(span_cut(rest, ' ', &rest), name))
            return true;
    return false;
}

/* What a person who wrote `name` may have meant, of what the schema has; absent: nothing is near. */
static struct span meant(const struct schema *schema, struct span name)
{
    struct nearest n = {.given = name};
    for (uint32_t i = 0; i < schema->count; i++)
        nearest_try(&n, span_of(schema->fields[i].name));
    struct span rest = span_of(schema->also);
    while (rest.ptr != NULL)
        nearest_try(&n, span_cut(rest, ' ', &rest));
    return n.best;
}

static void tell_unknown(struct decode *d, struct doc_value v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell_unknown(struct decode *d, struct doc_value v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(d, v, d->unknown, format, args);
    va_end(args);
}

void decode_unknown(struct decode *d, struct doc_value v, const struct schema *schema,
                    struct span name)
{
    if (d->unknown == NULL || schema->also == NULL || is_among(schema->also, name))
        return;
    struct span near = meant(schema, name);
    if (near.ptr != NULL)
        tell_unknown(d, v, "is not a field; did you mean \"%.*s\"?", SPAN_ARG(near));
    else
        tell_unknown(d, v, "is not a field");
}
