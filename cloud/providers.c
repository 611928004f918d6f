#include "cloud/providers.h"

#include <assert.h>

static bool serves(const struct provider *p, const struct node_class_ref *ref)
{
    return span_eq(ref->kind, span_of(p->ops->node_class_kind)) && span_eq(ref->group, span_of(p->ops->node_class_group));
}

struct provider *providers_of_class(const struct providers *s, const struct node_class_ref *ref)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (serves(s->items[i], ref))
            return s->items[i];
    return NULL;
}

/* Looked for among the labels that there are, so that nothing is made for the question. */
struct provider *providers_of_node(const struct providers *s, const struct node *n, const struct symtab *syms)
{
    struct arena a;
    struct provider *found = NULL;
    arena_init(&a, 0);
    for (uint32_t i = 0; i < s->count && found == NULL; i++) {
        const struct provider_ops *ops = s->items[i]->ops;
        struct node_class_ref ref = {.group = span_of(ops->node_class_group), .kind = span_of(ops->node_class_kind)};
        sym label = sym_find(syms, node_class_label(&a, &ref));
        if (label != SYM_NONE && sym_pairs_get(n->meta.labels, label) != SYM_NONE)
            found = s->items[i];
    }
    arena_release(&a);
    return found;
}

uint32_t providers_index(const struct providers *s, const struct provider *p)
{
    uint32_t i = 0;
    while (i < s->count && s->items[i] != p)
        i++;
    assert(i < s->count);
    return i;
}

bool providers_watch(const struct providers *s, enum kind k)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const enum kind *of = s->items[i]->ops->kinds;
        while (of != NULL && *of != KIND_NONE && *of != k)
            of++;
        if (s->items[i]->ops->node_class == k || (of != NULL && *of == k))
            return true;
    }
    return false;
}
