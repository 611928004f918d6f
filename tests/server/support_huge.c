#include "support_huge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object_bounds.h"
#include "kube/wellknown.h"

/* --- which lists there are --- */

struct walk {
    struct huge_list list;
    void (*visit)(void *user, const struct huge_list *list);
    void *user;
};

static bool is_list(const struct field *f)
{
    return f->kind == FIELD_LIST || f->kind == FIELD_MAP || f->kind == FIELD_SPANS || f->kind == FIELD_SYMS;
}

static const struct schema *read_by(const struct schema *s)
{
    while (s != NULL && s->wire != NULL)
        s = s->wire;
    return s;
}

static void walk_schema(struct walk *w, const struct schema *schema);

static void walk_field(struct walk *w, const struct schema *schema, const struct field *f)
{
    struct huge_list *l = &w->list;
    size_t len = strlen(l->path);
    assert(l->depth < HUGE_DEPTH);
    l->schemas[l->depth] = schema;
    l->fields[l->depth++] = f;
    snprintf(l->path + len, sizeof(l->path) - len, "%s%s", len != 0 ? "." : "", f->name);
    if (is_list(f))
        w->visit(w->user, l);
    if (f->schema != NULL && f->kind != FIELD_MAP)
        walk_schema(w, f->schema);
    if (f->schema != NULL && f->kind == FIELD_MAP && f->schema->fields[1].schema != NULL)
        walk_schema(w, f->schema->fields[1].schema);
    l->path[len] = '\0';
    l->depth--;
}

static void walk_schema(struct walk *w, const struct schema *schema)
{
    const struct schema *s = read_by(schema);
    for (uint32_t i = 0; i < s->count; i++)
        walk_field(w, s, &s->fields[i]);
}

void huge_each(enum kind k, void (*visit)(void *user, const struct huge_list *list), void *user)
{
    struct walk w = {.list = {.kind = k}, .visit = visit, .user = user};
    if (kind_info(k)->schema != NULL)
        walk_schema(&w, kind_info(k)->schema);
}

/* --- what their entries are --- */

struct filler {
    struct arena arena;
    struct symtab *syms;
    struct doc_parser *parser;
    bool rich;
};

/* Members that take only some texts, so that most rules let the entry through; all others are found by trying. */
static const struct {
    const char *name, *value;
} known[] = {
    {"operator", "\"DoesNotExist\""}, {"effect", "\"NoSchedule\""}, {"whenUnsatisfiable", "\"DoNotSchedule\""},
    {"restartPolicy", "\"Always\""},  {"schedule", "\"0 1 * * *\""}, {"nodes", "\"10%\""},
    {"protocol", "\"TCP\""},          {"hostIP", "\"10.0.0.1\""},
};

static json_t *parsed(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert(value != NULL);
    return value;
}

/* The first of some values that the field's own reader takes without a word. */
static json_t *scalar_value(struct filler *x, const struct schema *schema, const struct field *f)
{
    static const char *const values[] = {"\"1\"", "1", "\"2026-01-01T00:00:00Z\"", "\"10s\"", "true", "{}"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[64], *room = calloc(1, schema->size + 4096);
        struct decode d = {.arena = &x->arena, .syms = x->syms};
        const struct doc *doc;
        struct doc_value v;
        struct err err = {.kind = ERR_NONE};
        snprintf(text, sizeof(text), "{\"v\":%s}", values[i]);
        bool good = doc_parse_json(x->parser, span_of(text), &doc, &err) && doc_find(doc_root(doc), SPAN("v"), &v) &&
                    f->scalar(&d, v, room + f->offset, &err) && err.kind == ERR_NONE;
        free(room);
        if (good)
            return parsed(values[i]);
    }
    return NULL;
}

static json_t *text_value(const struct field *f, uint32_t i)
{
    char text[64];
    snprintf(text, sizeof(text), "%s%u", strstr(f->name, "ey") != NULL ? "k" : "v", i);
    return json_string(text);
}

static json_t *entry_of(struct filler *x, const struct schema *schema, uint32_t i);

/* A key that is read: of a domain that the map keeps. */
static void put_key(const struct field *f, uint32_t i, char *out, size_t size)
{
    static const char *const domains[] = {
        "example.com/", "karpenter.sh/", "stowage.dev/", "cluster.x-k8s.io/", "capacity.cluster-autoscaler.kubernetes.io/",
    };
    for (size_t d = 0; d < sizeof(domains) / sizeof(domains[0]); d++) {
        snprintf(out, size, "%sk%u", domains[d], i);
        if (f->keep == NULL || f->keep(span_of(out)))
            return;
    }
}

static json_t *value_of(struct filler *x, const struct schema *schema, const struct field *f, uint32_t i)
{
    char key[128];
    json_t *value = NULL;
    for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
        if (strcmp(known[n].name, f->name) == 0)
            return parsed(known[n].value);
    switch (f->kind) {
    case FIELD_SPAN:
    case FIELD_SYM:
        return text_value(f, i);
    case FIELD_SCALAR:
        return scalar_value(x, schema, f);
    case FIELD_INT32:
    case FIELD_INT64:
        return json_integer(f->high > 0 && f->high != INT32_MAX ? f->low + (int32_t)(i % (uint32_t)(f->high - f->low + 1)) : 1);
    case FIELD_OBJECT:
    case FIELD_POINTER:
        return x->rich ? entry_of(x, f->schema, i) : NULL;
    case FIELD_LIST:
        if (x->rich && (value = entry_of(x, f->schema, i)) != NULL)
            return json_pack("[o]", value);
        return NULL;
    case FIELD_SPANS:
    case FIELD_SYMS:
        return x->rich ? json_pack("[o]", text_value(f, i)) : NULL;
    case FIELD_MAP:
        put_key(f, i, key, sizeof(key));
        value = x->rich ? value_of(x, f->schema, &f->schema->fields[1], i) : NULL;
        return value != NULL ? json_pack("{s:o}", key, value) : NULL;
    case FIELD_BOOL:
    case FIELD_DOUBLE:
        break;
    }
    return NULL;
}

static json_t *entry_of(struct filler *x, const struct schema *schema, uint32_t i)
{
    const struct schema *s = read_by(schema);
    json_t *entry = json_object();
    for (uint32_t n = 0; n < s->count; n++) {
        json_t *value = value_of(x, s, &s->fields[n], i);
        if (value != NULL)
            json_object_set_new(entry, s->fields[n].name, value);
    }
    return entry;
}

static size_t put_entry(struct filler *x, const struct huge_list *list, json_t *into, uint32_t i)
{
    const struct field *f = list->fields[list->depth - 1];
    char key[128] = "";
    json_t *value;
    if (f->kind == FIELD_MAP) {
        put_key(f, i, key, sizeof(key));
        value = value_of(x, f->schema, &f->schema->fields[1], i);
    } else {
        value = f->kind == FIELD_LIST ? entry_of(x, f->schema, i) : text_value(f, i);
    }
    if (value == NULL)
        return 0;
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + strlen(key) + 5;
    if (f->kind == FIELD_MAP)
        json_object_set_new(into, key, value);
    else
        json_array_append_new(into, value);
    return size;
}

/* --- the object --- */

/* What is below: the member, made where it is missing, and of a list on the way the first entry. */
static json_t *step_into(json_t *at, const struct field *f, bool last)
{
    json_t *next = json_object_get(at, f->name);
    bool array = is_list(f) && f->kind != FIELD_MAP;
    if (next == NULL) {
        next = array ? json_array() : json_object();
        json_object_set_new(at, f->name, next);
    }
    if (last || !is_list(f))
        return next;
    if (array && json_array_size(next) == 0)
        json_array_append_new(next, json_object());
    if (!array && json_object_size(next) == 0)
        json_object_set_new(next, "key", json_object());
    return array ? json_array_get(next, 0) : json_object_iter_value(json_object_iter(next));
}

char *huge_object(const struct huge_list *list, const char *base, enum huge_fill fill, size_t bytes)
{
    json_t *object = parsed(base), *at = object;
    struct filler x = {.syms = kube_symtab_new(), .parser = doc_parser_new(), .rich = fill != HUGE_THIN};
    arena_init(&x.arena, 0);
    for (uint32_t i = 0; i < list->depth; i++)
        at = step_into(at, list->fields[i], i + 1 == list->depth);
    if (json_is_array(at))
        json_array_clear(at);
    size_t size = 0, one = 1;
    uint32_t most = fill == HUGE_BOUND ? OBJECT_LIST_MAX : UINT32_MAX;
    for (uint32_t i = 0; i < most && one != 0 && size < bytes; i++, size += one)
        one = put_entry(&x, list, at, i);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    doc_parser_free(x.parser);
    symtab_unref(x.syms);
    arena_release(&x.arena);
    return text;
}
