/* One walk over a doc, driven by the tables. Where we are is a chain of places on the C stack; it
 * becomes a path only when there is something to tell. Recursion is bounded by the doc's depth: each
 * step down in a table is a step down in the doc, but for `wire`, which is one more. */
#include "base/decode_told.h"

#include <assert.h>
#include <stdio.h>
#include <strings.h>

/* ---- single values ---- */

static bool text_of(struct decode *d, struct doc_value v, struct span *out)
{
    enum doc_type type = doc_type(v);
    if (type == DOC_STRING) {
        *out = doc_text(v);
        return true;
    }
    char text[128];
    if (type == DOC_NUMBER || type == DOC_BOOL) {
        /* As it was understood: yes may have been written, or 0755. */
        decode_wrong(d, v, "%s is %s, not a string; put it in quotes", decode_shown(v, text, sizeof(text)),
                     type == DOC_BOOL ? "a boolean" : "a number");
    } else {
        decode_wrong_type(d, v, "a string");
    }
    return false;
}

static struct span kept_text(struct decode *d, struct span text)
{
    return d->borrows ? text : arena_dup(d->arena, text);
}

static void decode_text(struct decode *d, struct doc_value v, enum field_kind kind, void *out)
{
    struct span text = {"", 0};
    if (doc_type(v) != DOC_NULL && !text_of(d, v, &text))
        return;
    if (kind == FIELD_SPAN) {
        *(struct span *)out = kept_text(d, text);
    } else {
        assert(d->syms != NULL);
        *(sym *)out = sym_intern(d->syms, text);
    }
}

static void decode_bool(struct decode *d, struct doc_value v, bool *out)
{
    if (doc_type(v) == DOC_BOOL)
        *out = doc_bool(v);
    else if (doc_type(v) == DOC_STRING && (span_eq(doc_text(v), SPAN("true")) ||
                                           span_eq(doc_text(v), SPAN("false"))))
        decode_wrong(d, v, "\"%.*s\" is a string, not a boolean; leave the quotes out",
                SPAN_ARG(doc_text(v)));
    else
        decode_wrong_type(d, v, "true or false");
}

static bool integer_of(struct decode *d, struct doc_value v, int64_t low, int64_t high, int64_t *out)
{
    int64_t value;
    enum doc_type type = doc_type(v);
    char text[128];
    double real;
    if (type == DOC_NUMBER && doc_int64(v, &value)) {
        if (value >= low && value <= high) {
            *out = value;
            return true;
        }
        decode_wrong(d, v, "%lld is out of range; it may be %lld to %lld", (long long)value,
                (long long)low, (long long)high);
    } else if (type == DOC_STRING && span_int64(doc_text(v), &value)) {
        decode_wrong(d, v, "%s is a string, not an integer; leave the quotes out",
                decode_shown(v, text, sizeof(text)));
    } else if (type == DOC_NUMBER && doc_double(v, &real) && (real > 9e18 || real < -9e18)) {
        decode_wrong(d, v, "%s is out of range", decode_shown(v, text, sizeof(text)));
    } else {
        decode_wrong_type(d, v, "an integer");
    }
    return false;
}

/* What no API server admits is told, and the nearest that it does is taken. */
static int64_t bounded(struct decode *d, struct doc_value v, const struct field *f, int64_t value)
{
    if (f->high == 0 || (value >= f->low && (value <= f->high || f->high == INT32_MAX)))
        return value;
    if (f->high == INT32_MAX)
        decode_invalid(d, v, "%lld is out of range; it may be %d or more", (long long)value, f->low);
    else
        decode_invalid(d, v, "%lld is out of range; it may be %d to %d", (long long)value, f->low,
                       f->high);
    return value < f->low ? f->low : f->high;
}

static void decode_integer(struct decode *d, struct doc_value v, const struct field *f, void *out)
{
    bool small = f->kind == FIELD_INT32;
    int64_t value;
    if (!integer_of(d, v, small ? INT32_MIN : INT64_MIN, small ? INT32_MAX : INT64_MAX, &value))
        return;
    value = bounded(d, v, f, value);
    if (small)
        *(int32_t *)out = (int32_t)value;
    else
        *(int64_t *)out = value;
}

static void decode_double(struct decode *d, struct doc_value v, double *out)
{
    if (doc_type(v) != DOC_NUMBER || !doc_double(v, out))
        decode_wrong_type(d, v, "a number");
}

static void decode_by_function(struct decode *d, struct doc_value v, const struct field *f,
                               void *out)
{
    struct err err = {.kind = ERR_NONE};
    if (!f->scalar(d, v, out, &err))
        decode_wrong(d, v, "%s", err.msg);
    else if (err.kind != ERR_NONE)
        decode_invalid(d, v, "%s", err.msg);
}

/* ---- lists and maps: { T *items; uint32_t count; } whatever T is ---- */

static void set_list(void *out, void *items, uint32_t count)
{
    memcpy(out, &items, sizeof(items));
    memcpy((char *)out + sizeof(items), &count, sizeof(count));
}

static void decode_object(struct decode *d, struct doc_value v, const struct schema *schema,
                          void *out);
static void decode_field(struct decode *d, struct doc_value v, const struct field *f, char *base);

static bool is_type(struct decode *d, struct doc_value v, enum doc_type type)
{
    if (doc_type(v) == type)
        return true;
    decode_wrong_type(d, v, doc_type_name(type));
    return false;
}

static size_t item_size(const struct field *f)
{
    if (f->kind == FIELD_SPANS)
        return sizeof(struct span);
    return f->kind == FIELD_SYMS ? sizeof(sym) : f->schema->size;
}

static void decode_list(struct decode *d, struct doc_value v, const struct field *f, void *out)
{
    uint32_t count = doc_count(v);
    if (!is_type(d, v, DOC_ARRAY) || count == 0)
        return;
    decode_count(d, count);
    size_t size = item_size(f);
    char *items = arena_array(d->arena, count, size);
    set_list(out, items, count);
    if (f->kind == FIELD_SPANS && d->borrows && doc_texts(v, (struct span *)(void *)items) == count)
        return; /* the scheduler's node names, by the thousand */
    struct decode_place place = {.index = 0};
    decode_enter(d, &place);
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it); place.index++, items += size) {
        if (f->kind != FIELD_LIST)
            decode_text(d, it.value, f->kind == FIELD_SPANS ? FIELD_SPAN : FIELD_SYM, items);
        else
            decode_object(d, it.value, f->schema, items);
    }
    decode_leave(d);
}

static void decode_pair(struct decode *d, const struct doc_iter *it, const struct schema *pair,
                        char *out)
{
    const struct field *key = &pair->fields[0], *value = &pair->fields[1];
    if (key->kind == FIELD_SYM)
        *(sym *)(void *)(out + key->offset) = sym_intern(d->syms, it->key);
    else
        *(struct span *)(void *)(out + key->offset) = kept_text(d, it->key);
    if (doc_type(it->value) != DOC_NULL)
        decode_field(d, it->value, value, out);
    else if (value->kind == FIELD_SPAN || value->kind == FIELD_SYM)
        decode_text(d, it->value, value->kind, out + value->offset);
}

static void check(struct decode *d, struct doc_value v, const struct schema *schema, const void *object)
{
    if (schema->check != NULL && d->invalid != NULL)
        schema->check(d, v, object);
}

static void decode_map(struct decode *d, struct doc_value v, const struct field *f, void *out)
{
    uint32_t room = doc_count(v), count = 0;
    if (!is_type(d, v, DOC_OBJECT) || room == 0)
        return;
    char *items = NULL;
    struct decode_place place = {.key = true};
    decode_enter(d, &place);
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);) {
        if (f->keep != NULL && !f->keep(it.key))
            continue;
        if (items == NULL)
            items = arena_array(d->arena, room, f->schema->size);
        place.name = it.key;
        decode_pair(d, &it, f->schema, items + (size_t)count * f->schema->size);
        check(d, it.value, f->schema, items + (size_t)count++ * f->schema->size);
    }
    struct doc_iter second;
    if (doc_repeated(v, &second)) {
        place.name = second.key;
        decode_wrong(d, second.value, "given twice");
    }
    decode_leave(d);
    decode_count(d, count);
    set_list(out, items, count);
}

/* ---- objects ---- */

static void decode_field(struct decode *d, struct doc_value v, const struct field *f, char *base)
{
    void *out = base + f->offset, *made;
    switch (f->kind) {
    case FIELD_SPAN:
    case FIELD_SYM:
        decode_text(d, v, f->kind, out);
        return;
    case FIELD_BOOL:
        decode_bool(d, v, out);
        return;
    case FIELD_INT32:
    case FIELD_INT64:
        decode_integer(d, v, f, out);
        return;
    case FIELD_DOUBLE:
        decode_double(d, v, out);
        return;
    case FIELD_SCALAR:
        decode_by_function(d, v, f, out);
        return;
    case FIELD_OBJECT:
        decode_object(d, v, f->schema, out);
        return;
    case FIELD_POINTER:
        made = arena_alloc(d->arena, f->schema->size);
        memcpy(out, &made, sizeof(made));
        decode_object(d, v, f->schema, made);
        return;
    case FIELD_LIST:
    case FIELD_SPANS:
    case FIELD_SYMS:
        decode_list(d, v, f, out);
        return;
    case FIELD_MAP:
        decode_map(d, v, f, out);
        return;
    }
}

static bool name_is(const struct field *f, struct span key)
{
    if (f->fold_case)
        return strlen(f->name) == key.len && strncasecmp(f->name, key.ptr, key.len) == 0;
    return f->name[0] == key.ptr[0] && strlen(f->name) == key.len &&
           memcmp(f->name, key.ptr, key.len) == 0;
}

/* The index of the member's field, or count. Keys are followed by NUL. */
static uint32_t field_of(const struct schema *schema, struct span key)
{
    uint32_t at = 0;
    while (at < schema->count && !name_is(&schema->fields[at], key))
        at++;
    return at;
}

static void decode_member(struct decode *d, const struct doc_iter *it, const struct schema *schema,
                          char *out, uint64_t *seen, uint64_t *there)
{
    uint32_t at = field_of(schema, it->key);
    if (at == schema->count) {
        if (schema->strict)
            decode_wrong(d, it->value, "is not a field of %s", schema->name);
        else
            decode_unknown(d, it->value, schema, it->key);
        return;
    }
    const struct field *f = &schema->fields[at];
    uint64_t bit = UINT64_C(1) << at;
    if (*seen & bit) {
        decode_wrong(d, it->value, "given twice");
        return;
    }
    *seen |= bit;
    if (doc_type(it->value) == DOC_NULL)
        return;
    *there |= bit;
    if (f->present != 0)
        *(bool *)(out + f->present) = true;
    decode_field(d, it->value, f, out);
}

static void tell_needed(struct decode *d, struct doc_value object, const struct field *f, char *out)
{
    decode_invalid_in(d, object, f->name, "is missing");
    if (f->kind == FIELD_INT32)
        memcpy(out + f->offset, &f->low, sizeof(f->low));
}

static void decode_members(struct decode *d, struct doc_value v, const struct schema *schema,
                           char *out)
{
    uint64_t seen = 0, there = 0;
    struct decode_place place = {.index = 0};
    assert(schema->count <= 64);
    decode_enter(d, &place);
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);) {
        place.name = it.key;
        decode_member(d, &it, schema, out, &seen, &there);
    }
    uint64_t needed = 0;
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct field *f = &schema->fields[i];
        if ((there >> i & 1) != 0 || !(f->required || f->needed))
            continue;
        needed |= (uint64_t)f->needed << i;
        place.name = span_of(f->name);
        if (f->required && doc_type(v) != DOC_NULL)
            decode_wrong(d, v, "is missing");
    }
    decode_leave(d);
    for (; needed != 0; needed &= needed - 1)
        tell_needed(d, v, &schema->fields[__builtin_ctzll(needed)], out);
    check(d, v, schema, out);
}

static void decode_bounded(struct decode *d, struct doc_value v, const struct schema *schema, char *out)
{
    struct decode_bounds own = {.list_max = schema->list_max, .entries_max = schema->entries_max};
    struct decode_bounds *outer = d->bounds;
    d->bounds = &own;
    decode_members(d, v, schema, out);
    d->bounds = outer;
    if (own.excess.ptr != NULL)
        *(sym *)(void *)(out + schema->excess) = sym_intern(d->syms, own.excess);
}

/* An item of a list that is null is an object without members. */
static void decode_object(struct decode *d, struct doc_value v, const struct schema *schema,
                          void *out)
{
    if (schema->wire != NULL) {
        void *wire = arena_alloc(d->arena, schema->wire->size);
        decode_object(d, v, schema->wire, wire);
        schema->convert(d, wire, out);
    } else if (doc_type(v) == DOC_NULL || is_type(d, v, DOC_OBJECT)) {
        if (schema->list_max != 0)
            decode_bounded(d, v, schema, out);
        else
            decode_members(d, v, schema, out);
    }
}

bool decode_value(struct decode *d, struct doc_value v, const struct schema *schema, void *out)
{
    uint32_t before = d->mistakes, refused = symtab_refused(d->syms);
    memset(out, 0, schema->size);
    if (doc_type(v) == DOC_NULL)
        decode_wrong_type(d, v, doc_type_name(DOC_OBJECT));
    else
        decode_object(d, v, schema, out);
    if (symtab_refused(d->syms) != refused)
        decode_wrong(d, v, "has names or values beyond the millions that can be told apart; leave some objects out");
    return d->mistakes == before;
}

struct first_mistake {
    struct decode *decode;
    struct err err;
};

/* Stops listening: no path and text is made of a million further mistakes. */
static void keep_first(void *user, uint32_t line, struct span path, struct span text)
{
    (void)line;
    struct first_mistake *first = user;
    first->decode->mistake = NULL;
    if (path.len != 0)
        err_set(&first->err, ERR_INVALID, "%.*s: %.*s", SPAN_ARG(path), SPAN_ARG(text));
    else
        err_set(&first->err, ERR_INVALID, "%.*s", SPAN_ARG(text));
}

static bool decode_with(struct decode d, struct doc_value v, const struct schema *schema, void *out,
                        struct err *err)
{
    struct first_mistake first = {.decode = &d};
    d.mistake = keep_first;
    d.user = &first;
    if (decode_value(&d, v, schema, out))
        return true;
    *err = first.err;
    return false;
}

bool decode_one(struct arena *a, struct symtab *syms, struct doc_value v, const struct schema *schema,
                void *out, struct err *err)
{
    struct decode d = {.arena = a, .syms = syms};
    return decode_with(d, v, schema, out, err);
}

bool decode_borrow(struct arena *a, struct doc_value v, const struct schema *schema, void *out,
                   struct err *err)
{
    struct decode d = {.arena = a, .borrows = true};
    return decode_with(d, v, schema, out, err);
}
