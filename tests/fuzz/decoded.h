/* decoded: what must hold for every text that reads as a document, JSON or YAML. Included by one fuzz
 * target each.
 *
 * Decoding by a kind's table twice gives the same; so does a packed copy under another symbol table; and
 * the document written as YAML reads as the same values. */
#ifndef FUZZ_DECODED_H
#define FUZZ_DECODED_H

#undef NDEBUG
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "kube/kind.h"
#include "kube/pod.h"

static const struct schema *schema_of(uint8_t choice)
{
    choice %= KIND_STORED_COUNT + 1;
    return choice < KIND_STORED_COUNT ? kind_info((enum kind)choice)->schema : &pod_template_schema;
}

/* ---- a struct as text, by its table ---- */

static void show_fields(struct buf *b, const struct symtab *syms, const struct schema *schema,
                        const char *at);

static void show_items(struct buf *b, const struct symtab *syms, const struct field *f,
                       const char *at)
{
    const char *items;
    uint32_t count;
    memcpy(&items, at, sizeof(items));
    memcpy(&count, at + sizeof(items), sizeof(count));
    buf_addf(b, "%u[", count);
    for (uint32_t i = 0; i < count; i++) {
        if (f->kind == FIELD_SPANS)
            buf_add(b, ((const struct span *)(const void *)items)[i]);
        else if (f->kind == FIELD_SYMS)
            buf_add(b, sym_text(syms, ((const sym *)(const void *)items)[i]));
        else
            show_fields(b, syms, f->schema, items + (size_t)i * f->schema->size);
        buf_add_char(b, ',');
    }
    buf_add_char(b, ']');
}

static void show_field(struct buf *b, const struct symtab *syms, const struct field *f,
                       const char *at)
{
    const struct span *text = (const void *)at;
    const char *target;
    switch (f->kind) {
    case FIELD_SPAN:
        buf_add(b, text->ptr != NULL ? SPAN("'") : SPAN("-"));
        buf_add(b, *text);
        return;
    case FIELD_SYM:
        buf_add(b, sym_text(syms, *(const sym *)(const void *)at));
        return;
    case FIELD_BOOL:
        buf_add_int(b, *(const bool *)at);
        return;
    case FIELD_INT32:
        buf_add_int(b, *(const int32_t *)(const void *)at);
        return;
    case FIELD_INT64:
        buf_add_int(b, *(const int64_t *)(const void *)at);
        return;
    case FIELD_DOUBLE:
        buf_addf(b, "%a", *(const double *)(const void *)at);
        return;
    case FIELD_SCALAR: /* its size is not known here, and it is copied as it is */
        if (f->scalar_is_sym)
            buf_add(b, sym_text(syms, *(const sym *)(const void *)at));
        return;
    case FIELD_OBJECT:
        show_fields(b, syms, f->schema, at);
        return;
    case FIELD_POINTER:
        memcpy(&target, at, sizeof(target));
        if (target != NULL)
            show_fields(b, syms, f->schema, target);
        return;
    case FIELD_LIST:
    case FIELD_SPANS:
    case FIELD_SYMS:
    case FIELD_MAP:
        show_items(b, syms, f, at);
        return;
    }
}

static void show_fields(struct buf *b, const struct symtab *syms, const struct schema *schema,
                        const char *at)
{
    buf_add_char(b, '{');
    for (uint32_t i = 0; i < schema->count; i++) {
        buf_addf(b, " %u:", i);
        show_field(b, syms, &schema->fields[i], at + schema->fields[i].offset);
    }
    buf_add_char(b, '}');
}

static void check_told(void *user, uint32_t line, struct span path, struct span text)
{
    (void)user;
    (void)path;
    assert(line != 0 && text.len != 0);
}

static void check_decoded(struct doc_value root, const struct schema *schema)
{
    struct arena a;
    arena_init(&a, 0);
    struct symtab *syms = kube_symtab_new(), *others = symtab_new(NULL, 0);
    struct buf first = {0}, second = {0}, packed = {0};
    struct decode d = {.arena = &a, .syms = syms, .mistake = check_told};
    void *object = arena_alloc(&a, schema->size), *again = arena_alloc(&a, schema->size);
    bool good = decode_value(&d, root, schema, object);
    show_fields(&first, syms, schema, object);
    assert(decode_value(&d, root, schema, again) == good);
    show_fields(&second, syms, schema, again);
    assert(span_eq(buf_span(&first), buf_span(&second)));
    size_t size;
    char *block = schema_pack(schema, object, 8, syms, others, &size);
    assert(size >= schema->size + 8);
    arena_release(&a);
    symtab_unref(syms);
    show_fields(&packed, others, schema, block + 8);
    assert(span_eq(buf_span(&first), buf_span(&packed)));
    free(block);
    symtab_unref(others);
    buf_release(&first);
    buf_release(&second);
    buf_release(&packed);
}

/* ---- a document as YAML ---- */

static void put_text(struct buf *b, struct span s)
{
    buf_add_char(b, '"');
    for (const char *at = s.ptr, *end = s.ptr + s.len; at < end;) {
        size_t n = utf8_length(at, end);
        assert(n != 0); /* neither parser lets anything else through */
        uint32_t c = (unsigned char)*at;
        if (n > 1)
            c &= 0x7Fu >> n;
        for (size_t i = 1; i < n; i++)
            c = c << 6 | ((unsigned char)at[i] & 0x3F);
        if (c < 0x20 || c >= 0x7F)
            buf_addf(b, "\\U%08X", c);
        else
            buf_addf(b, c == '"' || c == '\\' ? "\\%c" : "%c", (int)c);
        at += n;
    }
    buf_add_char(b, '"');
}

static void put_yaml(struct buf *b, struct doc_value v)
{
    double real;
    switch (doc_type(v)) {
    case DOC_NULL:
        buf_add(b, SPAN("~"));
        return;
    case DOC_BOOL:
        buf_add(b, doc_bool(v) ? SPAN("Yes") : SPAN("off"));
        return;
    case DOC_NUMBER:
        buf_add(b, doc_text(v));
        assert(doc_double(v, &real) && strtod(doc_text(v).ptr, NULL) == real);
        return;
    case DOC_STRING:
        put_text(b, doc_text(v));
        return;
    case DOC_ARRAY:
    case DOC_OBJECT:
        break;
    }
    bool object = doc_type(v) == DOC_OBJECT;
    buf_add(b, object ? SPAN("{") : SPAN("["));
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);) {
        if (object) {
            buf_add(b, SPAN("? ")); /* an explicit key may be as long as it likes */
            put_text(b, it.key);
            buf_add(b, SPAN(" : "));
        }
        put_yaml(b, it.value);
        buf_add(b, SPAN(",\n"));
    }
    buf_add(b, object ? SPAN("}") : SPAN("]"));
}

static bool any_repeated(struct doc_value v)
{
    struct doc_iter second;
    bool found = doc_repeated(v, &second);
    for (struct doc_iter it = doc_iter_of(v); !found && doc_next(&it);)
        found = any_repeated(it.value);
    return found;
}

static bool same_value(struct doc_value a, struct doc_value b)
{
    double x, y;
    int64_t m, n;
    if (doc_type(a) != doc_type(b) || doc_count(a) != doc_count(b))
        return false;
    switch (doc_type(a)) {
    case DOC_NULL:
        return true;
    case DOC_BOOL:
        return doc_bool(a) == doc_bool(b);
    case DOC_NUMBER:
        return doc_double(a, &x) && doc_double(b, &y) && x == y &&
               (!doc_int64(a, &m) || !doc_int64(b, &n) || m == n);
    case DOC_STRING:
        return span_eq(doc_text(a), doc_text(b));
    case DOC_ARRAY:
    case DOC_OBJECT:
        break;
    }
    struct doc_iter i = doc_iter_of(a), j = doc_iter_of(b);
    while (doc_next(&i) && doc_next(&j))
        if (!span_eq(i.key, j.key) || !same_value(i.value, j.value))
            return false;
    return true;
}

static void check_as_yaml(struct doc_value root)
{
    static struct doc_parser *parser; /* for the life of the process */
    if (parser == NULL)
        parser = doc_parser_new();
    if (doc_type(root) == DOC_NULL || any_repeated(root))
        return; /* an empty document; refused by YAML */
    enum { ENOUGH = 1 << 20 }; /* aliases come to more, and to nothing new */
    struct buf b = {.max = ENOUGH};
    put_yaml(&b, root);
    if (b.overflow) {
        buf_release(&b);
        return;
    }
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    bool read = doc_parse_yaml(parser, buf_span(&b), &at, &doc, &err);
    assert(read && same_value(root, doc_root(doc)));
    read = doc_parse_yaml(parser, buf_span(&b), &at, &doc, &err);
    assert(!read && err.kind == ERR_NONE);
    buf_release(&b);
}

#endif
