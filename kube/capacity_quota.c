#include "kube/capacity_quota.h"

bool capacity_quota_valid(const struct capacity_quota *q)
{
    for (uint32_t i = 0; i < q->selector.match_expressions.count; i++) {
        const struct expression *e = &q->selector.match_expressions.items[i];
        bool listed = e->op == OP_IN || e->op == OP_NOT_IN, bare = e->op == OP_EXISTS || e->op == OP_DOES_NOT_EXIST;
        if (e->key == SYM_NONE || !(listed || bare) || listed != (e->values.count != 0))
            return false;
    }
    return true;
}

void capacity_quota_use(const struct capacity_quota *q, const struct node *n, const struct symtab *syms, struct resources *used)
{
    if (!label_selector_matches(&q->selector, n->meta.labels) || node_is_virtual(n, syms))
        return;
    for (uint32_t i = 0; i < used->count; i++) {
        struct resource *u = &used->items[i];
        bool is_nodes = span_eq(sym_text(syms, u->name), SPAN("nodes"));
        u->value = amount_add(u->value, is_nodes ? 1 : resources_get(n->capacity, u->name));
    }
}
