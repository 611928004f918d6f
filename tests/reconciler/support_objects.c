#include "tests/reconciler/support_objects.h"

#include "base/doc.h"
#include "kube/kind.h"

static struct arena arena;
static struct symtab *syms;

void objects_begin(void)
{
    arena_init(&arena, 0);
    syms = kube_symtab_new();
}

void objects_clear(void)
{
    arena_release(&arena);
    symtab_unref(syms);
}

struct arena *objects_arena(void)
{
    return &arena;
}

struct symtab *objects_syms(void)
{
    return syms;
}

static const void *object_of(enum kind k, const char *yaml)
{
    struct doc_parser *p = doc_parser_new();
    const struct schema *schema = kind_info(k)->schema;
    const struct doc *doc;
    struct err err = {0};
    size_t at = 0;
    void *out = arena_alloc(&arena, schema->size);
    if (!doc_parse_yaml(p, span_of(yaml), &at, &doc, &err) ||
        !decode_one(&arena, syms, doc_root(doc), schema, out, &err))
        fail_msg("%s: %s", yaml, err.msg);
    doc_parser_free(p);
    return out;
}

const struct pod *pod_of(const char *yaml)
{
    return object_of(KIND_POD, yaml);
}

const struct node *node_of(const char *yaml)
{
    return object_of(KIND_NODE, yaml);
}

const struct node_claim *claim_of(const char *yaml)
{
    return object_of(KIND_NODE_CLAIM, yaml);
}

const struct node_pool *pool_of(const char *yaml)
{
    return object_of(KIND_NODE_POOL, yaml);
}

const struct disruption_budget *budget_of(const char *yaml)
{
    return object_of(KIND_DISRUPTION_BUDGET, yaml);
}
