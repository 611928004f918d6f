/* What people write for providers of node groups: it is refused with a sentence, or the Nodes and templates that are made of
 * it are such as we read ourselves. */
#undef NDEBUG
#include <assert.h>

#include "cloud/groups/cluster_api.h"
#include "cloud/groups/cluster_api_shape.h"
#include "cloud/groups/kwok_shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A Node of the group is known again as its machine. */
static void make_node(struct arena *a, const struct kwok_shape *shape, const struct symtab *syms,
                      const struct group_kwok_config *config)
{
    struct span name = kwok_group_node_name(a, shape->group, 7);
    struct symtab *own = kube_symtab_new();
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct node n;
    struct err err;
    uint32_t ordinal = 0;
    assert(shape->min >= 0 && shape->max >= shape->min);
    assert(!doc_parse_json(p, kwok_group_node_body(a, shape, syms, name), &doc, &err) || kwok_group_owns(doc_root(doc), shape->group));
    if (kwok_node_ordinal(shape->group, name, &ordinal))
        assert(ordinal == 7);
    if (doc_parse_json(p, kwok_group_node_body(a, shape, syms, name), &doc, &err) &&
        decode_one(a, own, doc_root(doc), &node_schema, &n, &err)) {
        assert(kwok_is_machine(&n, own));
        assert(span_eq(kwok_group_of(config, &n, own), shape->group));
    }
    doc_parser_free(p);
    symtab_unref(own);
}

static void read_kwok(struct span text)
{
    struct arena a;
    struct symtab *syms = kube_symtab_new();
    struct group_kwok_config config = {.key = SPAN("pool")};
    struct group_kwok_text from = {text, SPAN("f")};
    struct kwok_shapes shapes = {0};
    struct kwok_asides asides = {0};
    struct err err;
    arena_init(&a, 0);
    if (!group_kwok_read(&a, &from, &config, &err)) {
        assert(err.kind == ERR_INVALID && err.msg[0] != '\0');
        config = (struct group_kwok_config){.key = SPAN("pool")};
    }
    if (!kwok_shapes_read(&a, syms, &config, &from, &shapes, &asides, &err))
        assert(err.msg[0] != '\0');
    for (uint32_t i = 0; i < shapes.count; i++)
        make_node(&a, &shapes.items[i], syms, &config);
    arena_release(&a);
    symtab_unref(syms);
}

static void on_aside(void *user, struct span text)
{
    (void)user;
    assert(text.len != 0);
}

static void read_cluster_api(struct span text)
{
    struct arena a;
    struct symtab *from = kube_symtab_new(), *to = kube_symtab_new();
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct machine_group g = {0};
    struct group_options options = {0};
    struct cluster_api_selector selector;
    struct err err;
    size_t at = 0;
    int32_t min, max;
    arena_init(&a, 0);
    if (!cluster_api_selector_parse(&a, text, &selector, &err))
        assert(err.msg[0] != '\0');
    if (doc_parse_yaml(p, text, &at, &doc, &err) && decode_one(&a, from, doc_root(doc), &machine_group_schema, &g, &err)) {
        struct capi_telling t = {&a, from, to, &g, SPAN("amd64"), on_aside, NULL};
        const struct node *n = capi_template(&t);
        capi_options(&t, &options);
        assert(!capi_bounds(&g, from, &min, &max, &err) || (min >= 0 && max >= min));
        assert(n == NULL || (resources_get(n->capacity, SYM_CPU) > 0 && resources_get(n->allocatable, SYM_CPU) >= 0));
    }
    doc_parser_free(p);
    arena_release(&a);
    symtab_unref(from);
    symtab_unref(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = {(const char *)data, size};
    if (size > 16384) /* more only makes it slower */
        return 0;
    read_kwok(text);
    read_cluster_api(text);
    return 0;
}
