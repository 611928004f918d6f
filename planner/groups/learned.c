#include "planner/groups/learned.h"

#include <stdlib.h>

#include "base/doc.h"
#include "base/json.h"

struct learned_group {
    struct span name, text; /* JSON: {"providerTemplate": digest, "node": …} */
};

struct learned {
    struct arena arena; /* made anew by each learned_take */
    struct learned_group *groups; /* by name */
    uint32_t count, capacity;
};

struct learned *learned_new(void)
{
    struct learned *l = mem_new(sizeof(*l));
    *l = (struct learned){.count = 0};
    arena_init(&l->arena, 0);
    return l;
}

void learned_free(struct learned *l)
{
    if (l == NULL)
        return;
    arena_release(&l->arena);
    free(l);
}

/* --- by name --- */

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct learned_group *)a)->name, ((const struct learned_group *)b)->name);
}

static struct span find(const struct learned *l, struct span name)
{
    struct learned_group key = {.name = name};
    const struct learned_group *g = l->count != 0 ? bsearch(&key, l->groups, l->count, sizeof(key), by_name) : NULL;
    return g != NULL ? g->text : (struct span){NULL, 0};
}

/* At the end: the caller keeps the order. */
static void add(struct learned *l, struct span name, struct span text)
{
    struct learned_group g = {arena_dup(&l->arena, name), arena_dup(&l->arena, text)};
    ARENA_PUSH(&l->arena, l->groups, l->count, l->capacity, g);
}

/* --- a node as text --- */

struct member {
    struct span name, value;
};

static int by_member(const void *a, const void *b)
{
    return span_cmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void put_members(struct json *j, const char *key, struct member *members, uint32_t count)
{
    if (count > 1)
        qsort(members, count, sizeof(members[0]), by_member);
    json_put_object(j, key);
    for (uint32_t i = 0; i < count; i++) {
        json_key(j, members[i].name);
        json_text(j, members[i].value);
    }
    json_object_end(j);
}

/* But for those that name the node. */
static void put_labels(struct json *j, const struct node *n, const struct symtab *syms, struct arena *a)
{
    struct sym_pairs labels = n->meta.labels;
    struct member *members = ARENA_ARRAY(a, struct member, labels.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < labels.count; i++) {
        struct span value = sym_text(syms, labels.items[i].value);
        bool names_it = value.len != 0 && (span_eq(value, n->meta.name) || span_eq(value, n->provider_id));
        if (labels.items[i].key != SYM_HOSTNAME && !names_it)
            members[count++] = (struct member){sym_text(syms, labels.items[i].key), value};
    }
    put_members(j, "labels", members, count);
}

static void put_amounts(struct json *j, const char *key, struct resources r, const struct symtab *syms, struct arena *a)
{
    struct member *members = ARENA_ARRAY(a, struct member, r.count);
    for (uint32_t i = 0; i < r.count; i++) {
        struct span name = sym_text(syms, r.items[i].name);
        members[i] = (struct member){name, quantity_text(a, name, r.items[i].value)};
    }
    put_members(j, key, members, r.count);
}

static void put_taints(struct json *j, struct taints taints, const struct symtab *syms)
{
    json_put_array(j, "taints");
    for (uint32_t i = 0; i < taints.count; i++) {
        json_object_begin(j);
        json_put_string(j, "key", sym_text(syms, taints.items[i].key));
        if (taints.items[i].value != SYM_NONE)
            json_put_string(j, "value", sym_text(syms, taints.items[i].value));
        json_put_string(j, "effect", span_of(taint_effect_name(taints.items[i].effect)));
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_node(struct json *j, const struct node *n, struct taints taints, const struct symtab *syms, struct arena *a)
{
    json_object_begin(j);
    json_put_object(j, "metadata");
    put_labels(j, n, syms, a);
    json_object_end(j);
    json_put_object(j, "spec");
    put_taints(j, taints, syms);
    json_object_end(j);
    json_put_object(j, "status");
    put_amounts(j, "capacity", n->capacity, syms, a);
    put_amounts(j, "allocatable", n->allocatable, syms, a);
    json_object_end(j);
    json_object_end(j);
}

/* Of what the provider says of a node: changes with it, and is the same in each process. */
static struct span digest_of(const struct node *provided, const struct symtab *syms, struct arena *a)
{
    struct buf text = {0};
    struct json j = JSON_TO(&text);
    if (provided == NULL)
        return SPAN("");
    put_node(&j, provided, provided->taints, syms, a);
    struct span digest = arena_printf(a, "%016llx", (unsigned long long)span_hash(buf_span(&text)));
    buf_release(&text);
    return digest;
}

static struct span text_of(const struct group *g, const struct symtab *syms, struct arena *a)
{
    struct buf text = {0};
    struct json j = JSON_TO(&text);
    json_object_begin(&j);
    json_put_string(&j, "providerTemplate", digest_of(g->spec->template, syms, a));
    json_key(&j, SPAN("node"));
    put_node(&j, g->template.of, g->template.node->taints, syms, a);
    json_object_end(&j);
    struct span out = text.len <= LEARNED_GROUP_MAX ? arena_dup(a, buf_span(&text)) : (struct span){NULL, 0};
    buf_release(&text);
    return out;
}

/* NULL: it is nothing of the kind, or the provider says something else by now. */
static struct node *node_of(struct doc_parser *parser, struct span text, const struct node_group *g, struct symtab *syms,
                            struct arena *a)
{
    const struct doc *doc;
    struct doc_value v;
    struct err err;
    struct node *n = ARENA_NEW(a, struct node);
    struct span digest = digest_of(g->template, syms, a);
    if (!doc_parse_json(parser, text, &doc, &err) || !span_eq(doc_text_at(doc_root(doc), SPAN("providerTemplate")), digest) ||
        !doc_find(doc_root(doc), SPAN("node"), &v) || !decode_one(a, syms, v, &node_schema, n, &err))
        return NULL;
    return n->allocatable.count != 0 ? n : NULL;
}

/* --- all of it --- */

void learned_read(struct learned *l, struct span text)
{
    struct learned kept = *l; /* whom `find` looks among: what is added is in no order */
    for (struct span rest = text, line; rest.len != 0;) {
        line = span_cut(rest, '\n', &rest);
        size_t colon = 0;
        while (colon + 1 < line.len && !(line.ptr[colon] == ':' && line.ptr[colon + 1] == ' '))
            colon++;
        if (colon == 0 || colon + 2 >= line.len || line.len - colon - 2 > LEARNED_GROUP_MAX)
            continue;
        struct span name = {line.ptr, colon}, of_it = {line.ptr + colon + 2, line.len - colon - 2};
        if (find(&kept, name).ptr == NULL)
            add(l, name, of_it);
    }
    if (l->count > 1)
        qsort(l->groups, l->count, sizeof(l->groups[0]), by_name);
}

struct span learned_text(const struct learned *l, struct arena *a)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < l->count; i++) {
        const struct learned_group *g = &l->groups[i];
        if (b.len + g->name.len + g->text.len + 3 <= LEARNED_MAX)
            buf_addf(&b, "%.*s: %.*s\n", SPAN_ARG(g->name), SPAN_ARG(g->text));
    }
    struct span text = arena_dup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

void learned_recall(const struct learned *l, struct node_groups *file, struct symtab *syms, struct arena *a)
{
    if (l->count == 0)
        return;
    struct doc_parser *parser = doc_parser_new();
    for (uint32_t i = 0; i < file->groups.count; i++) {
        struct node_group *g = &file->groups.items[i];
        struct span text = find(l, g->name);
        g->learned = text.ptr != NULL ? node_of(parser, text, g, syms, a) : NULL;
    }
    doc_parser_free(parser);
}

void learned_take(struct learned *l, const struct group_model *m, const struct symtab *syms)
{
    struct learned next = {.count = 0};
    struct arena scratch;
    arena_init(&next.arena, 0);
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < m->group_count; i++) {
        const struct group *g = &m->groups[i];
        struct span text = g->template.origin == TEMPLATE_OF_NODE ? text_of(g, syms, &scratch) : find(l, g->spec->name);
        if (text.ptr != NULL)
            add(&next, g->spec->name, text);
    }
    arena_release(&scratch);
    arena_release(&l->arena);
    *l = next;
}
