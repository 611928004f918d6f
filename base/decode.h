/* decode: one declarative field table per wire type, filling C structs straight from a doc.
 *
 * A schema lists the members that we read; all others are skipped. The same table decodes JSON and
 * YAML, packs a decoded object into one block of memory, and moves it to another symbol table.
 * A FIELD_OBJECT at offset 0 whose schema describes the same struct flattens the nesting away: nested
 * objects are filled without being zeroed first.
 *
 * null counts as absent everywhere, as the API server reads it: an item or a map's value that is null is
 * the empty text or a zeroed struct. A wrong type is a mistake with line, path and text; decoding goes
 * on, so that all mistakes of a file are told at once. A member or a map's key that comes twice is a
 * mistake as well. */
#ifndef BASE_DECODE_H
#define BASE_DECODE_H

#include "doc.h"
#include "sym.h"

struct decode;
struct decode_bounds;
struct decode_place;
struct schema;

enum field_kind {
    FIELD_SPAN,    /* struct span, string */
    FIELD_SYM,     /* sym, string */
    FIELD_BOOL,    /* bool */
    FIELD_INT32,   /* int32_t */
    FIELD_INT64,   /* int64_t */
    FIELD_DOUBLE,  /* double */
    FIELD_SCALAR,  /* anything `scalar` reads: quantities, times, enums, IntOrString */
    FIELD_OBJECT,  /* struct of `schema`, inline */
    FIELD_POINTER, /* T *: NULL when absent, else a struct of `schema` */
    FIELD_LIST,    /* struct { T *items; uint32_t count; } of `schema` */
    FIELD_SPANS,   /* struct spans, list of strings */
    FIELD_SYMS,    /* struct syms, list of strings */
    FIELD_MAP,     /* object as a list of pairs: `schema` describes the pair; its first field takes the
                      key (FIELD_SPAN or FIELD_SYM), its second the value. Layout as FIELD_LIST */
};

struct spans {
    struct span *items;
    uint32_t count;
};

/* Converts one scalar value, never null. Returns false with err set (its text completes `field: …`); true
 * with err set when the value reads, but no API server would admit it. The
 * output holds no pointer of its own, since schema_pack copies it as it is. In a FIELD_MAP the key of the
 * same pair is filled in before: the scalar may look at it. */
typedef bool decode_scalar(struct decode *d, struct doc_value v, void *out, struct err *err);

struct field {
    const char *name; /* JSON member name */
    enum field_kind kind;
    uint32_t offset;
    uint32_t present; /* offset of a bool set true when the member is there and not null; 0: none.
                         A schema's offset 0 is therefore never a presence flag. */
    const struct schema *schema;
    decode_scalar *scalar;
    bool scalar_is_sym; /* the scalar's output is a sym, to be moved with the others */
    bool fold_case;     /* member name compared without case (kwok's catalogue files) */
    bool required;      /* absent is a mistake */
    bool needed;        /* no API server admits an object without it: `invalid` hears that it is missing */
    int32_t low, high;  /* of an integer, when high is not 0: the bounds of what an API server admits, an
                           INT32_MAX for none above. `invalid` hears of another value, and the nearest of
                           these is taken; of a FIELD_INT32 that is needed and missing the lowest */
    bool common;        /* of a list, map or pointer: many objects say the same there (schema_pack_apart) */
    bool (*keep)(struct span key); /* of a FIELD_MAP: entries to read, the others are skipped; NULL: all */
};

struct schema {
    const char *name; /* for messages: "Pod", "container" */
    uint32_t size;    /* of the struct */
    uint32_t count;
    const struct field *fields; /* at most 64 */
    bool strict; /* a member that is not listed is a mistake */
    /* Names of the members that the wire type has and that are not read, a blank between two: `unknown`
     * hears of any other. NULL: nobody knows them all. */
    const char *also;
    /* NULL; or looks, after it was read and with `invalid` listening, at an object, or a FIELD_MAP's pair (`v`
     * is its value), for what no API server admits, and calls decode_invalid for it. */
    void (*check)(struct decode *d, struct doc_value v, const void *object);
    /* NULL; or the object is read by `wire` into a struct of its own in the arena, of which `convert`
     * makes *out (zeroed before; it may point into the arena). `fields` then only say
     * where packing and schema_syms find pointers and symbols in the struct; packing copies all other
     * bytes as they are, and the names do not matter. */
    const struct schema *wire;
    void (*convert)(struct decode *d, const void *wire, void *out);
    /* list_max not 0: the object is bounded to so many entries in one list or map that is read, and to entries_max in
     * all of them together, at every depth. It is decoded whole either way. `excess`: offset of a sym that gets the
     * sentence about the first list that has more, which begins with its path and a blank; SYM_NONE: none has. */
    uint32_t list_max, entries_max, excess;
};

#define SCHEMA(type_, label, fields_)                                                              \
    {.name = (label), .size = sizeof(type_), .count = COUNT_OF(fields_), .fields = (fields_)}
/* And with some of the members after `fields`. */
#define SCHEMA_WITH(type_, label, fields_, ...)                                                    \
    {.name = (label), .size = sizeof(type_), .count = COUNT_OF(fields_), .fields = (fields_), __VA_ARGS__}
/* FIELD(struct pod, node, FIELD_SYM, "nodeName"), further members of struct field after the name. */
#define FIELD(type_, member, kind_, ...)                                                           \
    {.kind = (kind_), .offset = offsetof(type_, member), .name = __VA_ARGS__}
#define FIELD_HAS(type_, flag) .present = offsetof(type_, flag)

/* One mistake. `path` is spec.containers[0].resources.requests.cpu; text ends without a full stop. */
typedef void decode_mistake(void *user, uint32_t line, struct span path, struct span text);

struct decode {
    struct arena *arena;   /* takes everything decoded; nothing borrows from the doc, unless */
    bool borrows;          /* texts stay the doc's: good until the parser's next use */
    struct symtab *syms;   /* may be NULL when the schema has no sym */
    decode_mistake *mistake; /* may be NULL */
    decode_mistake *invalid; /* may be NULL: hears of values that read and that no API server admits */
    decode_mistake *unknown; /* may be NULL: hears of members that no schema knows */
    void *user;
    uint32_t mistakes;     /* counted here */
    const struct decode_place *place; /* private: where we are */
    struct decode_bounds *bounds; /* private: of the bounded object that we are in */
};

/* For a schema's `check` and those whom it calls: tells `invalid` of the value, or of an object's member, which may be
 * missing. */
void decode_invalid(struct decode *d, struct doc_value v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void decode_invalid_in(struct decode *d, struct doc_value object, const char *member,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Fills *out (zeroed first). True when no mistake was found; *out holds what could be read either way. */
bool decode_value(struct decode *d, struct doc_value v, const struct schema *schema, void *out);

/* The first mistake as an error "path: text", for callers that want just one. */
bool decode_one(struct arena *a, struct symtab *syms, struct doc_value v, const struct schema *schema,
                void *out, struct err *err);
/* The same, but texts stay the doc's. */
bool decode_borrow(struct arena *a, struct doc_value v, const struct schema *schema, void *out,
                   struct err *err);

/* A deep copy in one block of malloc, the object standing behind `header` bytes (a multiple of 8) that
 * are left to the caller. Free with free() on the block. With `to` the symbols are moved from table
 * `from` to it; NULL or the same table leaves them. *size_out is that of the block. */
void *schema_pack(const struct schema *schema, const void *object, size_t header,
                  const struct symtab *from, struct symtab *to, size_t *size_out);
/* The same, but what the `common` fields lead to is in a block of its own: that which `place` gives for the digest of
 * its content; *fresh_out: it is to be filled. Never of 0 bytes, for which nobody is asked. Of one `to` alone: equal
 * symbols mean equal texts. */
typedef void *schema_place(void *user, uint64_t digest, size_t size, bool *fresh_out);
void *schema_pack_apart(const struct schema *schema, const void *object, size_t header, const struct symtab *from,
                        struct symtab *to, schema_place *place, void *user);

/* A deep copy in the arena; its symbols stay those of the object's table. */
void *schema_copy(struct arena *a, const struct schema *schema, const void *object);

/* Of the whole content, wherever it lies in memory: equal content of one table of symbols has equal
 * digests, other content has another one but once in 2^64. */
uint64_t schema_digest(const struct schema *schema, const void *object);

/* Calls `visit` for every symbol in the object, to mark what is alive. */
void schema_syms(const struct schema *schema, const void *object,
                 void (*visit)(void *user, sym id), void *user);

#endif
