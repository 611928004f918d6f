/* What a field table tells about a decoded struct: a deep copy in one block, and its symbols.
 *
 * The copy is made in two runs over the object with one and the same function: the first, without a
 * block, only adds up sizes. Structs and arrays come first, text behind them, so that text needs no
 * alignment and no NUL. Fields are copied from the source, never from the copy: two fields may share a
 * place (a member with two names). */
#include "base/decode.h"

#include <assert.h>
#include <stdlib.h>

struct list { /* every list and map of ours looks like this */
    const void *items;
    uint32_t count;
};

struct packer {
    char *block; /* NULL in the first run */
    uintptr_t base; /* what the pointers in it count from: the block's address, or 0 for offsets */
    size_t structs, texts; /* offsets of the next free byte */
    const struct symtab *from;
    struct symtab *to;
    struct packer *apart; /* takes what `common` fields lead to; NULL: it goes with the others */
};

static void *take(struct packer *p, size_t size)
{
    void *at = p->block != NULL ? p->block + p->structs : NULL;
    p->structs += (size + 7) & ~(size_t)7;
    return at;
}

/* Stores in `to` where `at`, in the block, will be found. */
static void point(const struct packer *p, const void *to, const char *at)
{
    uintptr_t pointer = p->base + (uintptr_t)(at - p->block);
    memcpy((void *)(uintptr_t)to, &pointer, sizeof(pointer));
}

static struct list list_at(const void *at)
{
    struct list l;
    memcpy(&l.items, at, sizeof(l.items));
    memcpy(&l.count, (const char *)at + sizeof(l.items), sizeof(l.count));
    return l;
}

static void pack_text(struct packer *p, const struct span *from, struct span *to)
{
    if (p->block != NULL && from->ptr != NULL) {
        point(p, &to->ptr, p->block + p->texts);
        if (from->len != 0)
            memcpy(p->block + p->texts, from->ptr, from->len);
    }
    p->texts += from->len;
}

static void pack_sym(struct packer *p, const sym *from, sym *to)
{
    if (p->block != NULL && p->to != NULL && p->to != p->from)
        *to = sym_intern(p->to, sym_text(p->from, *from));
}

static void pack_fields(struct packer *p, const struct schema *schema, const char *from, char *to);

/* What lies behind a list's count is nobody's, and whatever was there when the list was returned from somewhere:
 * equal objects have an equal digest without it. */
static void clear_padding(void *list)
{
    const size_t end = offsetof(struct list, count) + sizeof(uint32_t);
    memset((char *)list + end, 0, sizeof(struct list) - end);
}

static void pack_list(struct packer *p, const struct field *f, const void *from, void *to)
{
    struct list l = list_at(from);
    size_t size = f->kind == FIELD_SPANS  ? sizeof(struct span)
                  : f->kind == FIELD_SYMS ? sizeof(sym)
                                          : f->schema->size;
    if (p->block != NULL)
        clear_padding(to);
    if (l.count == 0) {
        if (p->block != NULL)
            memset(to, 0, sizeof(l.items));
        return;
    }
    const char *item = l.items;
    char *copy = take(p, size * l.count);
    if (p->block != NULL) {
        memcpy(copy, item, size * l.count);
        point(p, to, copy);
    }
    for (uint32_t i = 0; i < l.count; i++, item += size, copy = copy != NULL ? copy + size : NULL) {
        if (f->kind == FIELD_SPANS)
            pack_text(p, (const void *)item, (void *)copy);
        else if (f->kind == FIELD_SYMS)
            pack_sym(p, (const void *)item, (void *)copy);
        else
            pack_fields(p, f->schema, item, copy);
    }
}

static void pack_pointer(struct packer *p, const struct field *f, const void *from, void *to)
{
    const char *target;
    memcpy(&target, from, sizeof(target));
    if (target == NULL)
        return;
    char *copy = take(p, f->schema->size);
    if (p->block != NULL) {
        memcpy(copy, target, f->schema->size);
        point(p, to, copy);
    }
    pack_fields(p, f->schema, target, copy);
}

static void pack_field(struct packer *p, const struct field *f, const void *from, void *to)
{
    switch (f->kind) {
    case FIELD_SPAN:
        pack_text(p, from, to);
        return;
    case FIELD_SYM:
        pack_sym(p, from, to);
        return;
    case FIELD_SCALAR:
        if (f->scalar_is_sym)
            pack_sym(p, from, to);
        return;
    case FIELD_OBJECT:
        pack_fields(p, f->schema, from, to);
        return;
    case FIELD_POINTER:
        pack_pointer(f->common && p->apart != NULL ? p->apart : p, f, from, to);
        return;
    case FIELD_LIST:
    case FIELD_SPANS:
    case FIELD_SYMS:
    case FIELD_MAP:
        pack_list(f->common && p->apart != NULL ? p->apart : p, f, from, to);
        return;
    case FIELD_BOOL:
    case FIELD_INT32:
    case FIELD_INT64:
    case FIELD_DOUBLE:
        return;
    }
}

static void pack_fields(struct packer *p, const struct schema *schema, const char *from, char *to)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct field *f = &schema->fields[i];
        pack_field(p, f, from + f->offset, to != NULL ? to + f->offset : NULL);
    }
}

/* `a` NULL: a block of malloc. */
static void *pack(struct packer p, const struct schema *schema, const void *object, bool relative,
                  struct arena *a, size_t *size_out)
{
    size_t header = p.structs;
    take(&p, schema->size);
    pack_fields(&p, schema, object, NULL);
    size_t size = p.structs + p.texts;
    p.block = a != NULL ? arena_alloc(a, size) : mem_new(size);
    p.base = relative ? 0 : (uintptr_t)p.block;
    p.texts = p.structs;
    p.structs = header;
    char *copy = take(&p, schema->size);
    if (schema->size != 0)
        memcpy(copy, object, schema->size);
    pack_fields(&p, schema, object, copy);
    *size_out = size;
    return p.block;
}

void *schema_pack(const struct schema *schema, const void *object, size_t header,
                  const struct symtab *from, struct symtab *to, size_t *size_out)
{
    size_t size;
    assert(header % 8 == 0);
    struct packer p = {.structs = header, .from = from, .to = to};
    void *block = pack(p, schema, object, false, NULL, &size);
    if (size_out != NULL)
        *size_out = size;
    return block;
}

/* Anew, into the same blocks. */
static void write(struct packer *p, const struct schema *schema, const void *object, size_t header, size_t structs,
                  size_t apart)
{
    p->structs = header;
    p->texts = structs;
    p->apart->structs = 0;
    p->apart->texts = apart;
    char *copy = take(p, schema->size);
    memcpy(copy, object, schema->size);
    pack_fields(p, schema, object, copy);
}

void *schema_pack_apart(const struct schema *schema, const void *object, size_t header, const struct symtab *from,
                        struct symtab *to, schema_place *place, void *user)
{
    assert(header % 8 == 0);
    struct packer q = {.from = from, .to = to};
    struct packer p = {.structs = header, .from = from, .to = to, .apart = &q};
    take(&p, schema->size);
    pack_fields(&p, schema, object, NULL);
    size_t structs = p.structs, apart = q.structs, size = q.structs + q.texts;
    p.block = mem_new(p.structs + p.texts);
    p.base = (uintptr_t)p.block;
    if (size == 0) {
        write(&p, schema, object, header, structs, apart);
        return p.block;
    }
    q.block = mem_new(size); /* with offsets for pointers first: those are the same wherever it will be */
    write(&p, schema, object, header, structs, apart);
    bool fresh;
    void *shared = place(user, span_hash((struct span){q.block, size}), size, &fresh);
    q.base = (uintptr_t)shared;
    write(&p, schema, object, header, structs, apart);
    if (fresh)
        memcpy(shared, q.block, size);
    free(q.block);
    return p.block;
}

void *schema_copy(struct arena *a, const struct schema *schema, const void *object)
{
    size_t size;
    return pack((struct packer){0}, schema, object, false, a, &size);
}

uint64_t schema_digest(const struct schema *schema, const void *object)
{
    size_t size;
    char *block = pack((struct packer){0}, schema, object, true, NULL, &size);
    uint64_t digest = span_hash((struct span){block, size});
    free(block);
    return digest;
}

/* ---- symbols ---- */

struct visitor {
    void (*visit)(void *user, sym id);
    void *user;
};

static void visit_fields(const struct visitor *w, const struct schema *schema, const char *object);

static void visit_sym(const struct visitor *w, const void *at)
{
    sym id;
    memcpy(&id, at, sizeof(id));
    if (id != SYM_NONE)
        w->visit(w->user, id);
}

static void visit_list(const struct visitor *w, const struct field *f, const void *at)
{
    struct list l = list_at(at);
    const char *item = l.items;
    for (uint32_t i = 0; i < l.count; i++) {
        if (f->kind == FIELD_SYMS)
            visit_sym(w, item + i * sizeof(sym));
        else
            visit_fields(w, f->schema, item + (size_t)i * f->schema->size);
    }
}

static void visit_field(const struct visitor *w, const struct field *f, const char *at)
{
    const char *target;
    switch (f->kind) {
    case FIELD_SYM:
        visit_sym(w, at);
        return;
    case FIELD_SCALAR:
        if (f->scalar_is_sym)
            visit_sym(w, at);
        return;
    case FIELD_OBJECT:
        visit_fields(w, f->schema, at);
        return;
    case FIELD_POINTER:
        memcpy(&target, at, sizeof(target));
        if (target != NULL)
            visit_fields(w, f->schema, target);
        return;
    case FIELD_LIST:
    case FIELD_SYMS:
    case FIELD_MAP:
        visit_list(w, f, at);
        return;
    default:
        return;
    }
}

static void visit_fields(const struct visitor *w, const struct schema *schema, const char *object)
{
    for (uint32_t i = 0; i < schema->count; i++)
        visit_field(w, &schema->fields[i], object + schema->fields[i].offset);
}

void schema_syms(const struct schema *schema, const void *object,
                 void (*visit)(void *user, sym id), void *user)
{
    struct visitor w = {visit, user};
    visit_fields(&w, schema, object);
}
