#include "kube/node_asks.h"

struct look {
    struct arena *arena;
    const struct node_asks *asks;
    struct symtab *syms;
    struct findings *found;
};

struct node_asks node_asks_of_pool(const struct node_pool *p)
{
    return (struct node_asks){.requirements = p->requirements,
                              .labels = p->labels,
                              .at = "spec.template.spec",
                              .whose = "the pool's",
                              .undone = "no node is bought for the pool"};
}

struct node_asks node_asks_of_claim(const struct node_claim *c)
{
    return (struct node_asks){.requirements = c->requirements,
                              .at = "spec",
                              .whose = "the claim's",
                              .undone = "no node comes of the claim"};
}

static void warn(struct look *l, struct span path, struct span text)
{
    finding_add(l->arena, l->found, false, path, text);
}

static struct span words(struct look *l, const struct requirement *r)
{
    struct buf b = {0};
    requirement_put(&b, r, l->syms);
    struct span text = arena_dup(l->arena, buf_span(&b));
    buf_release(&b);
    return text;
}

/* As an API server compares what a key must be with what it must not (spec api 6.2). */
static bool allows_absence(const struct requirement *r)
{
    enum op op = requirement_op(r);
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

static bool contradicts(struct look *l, const struct requirement *x, const struct requirement *y)
{
    return !requirement_intersects(x, y, l->syms) && !(allows_absence(x) && allows_absence(y));
}

/* False: with those before it no value is left, and it is not added. */
static bool add_requirement(struct look *l, struct requirements *all, uint32_t index)
{
    const struct expression *e = &l->asks->requirements.items[index];
    struct err err;
    if (e->op == OP_NONE || !expression_operands_valid(e, l->syms, &err))
        return true; /* refused */
    struct requirement r = requirement_of(l->arena, l->syms, e);
    const struct requirement *before = requirements_get(all, r.key);
    if (before != NULL && contradicts(l, before, &r)) {
        warn(l, arena_printf(l->arena, "%s.requirements[%u]", l->asks->at, index),
             arena_printf(l->arena, "%.*s leaves no value after %.*s: nodes come without the label, or, where every instance "
                                    "type has it, not at all. Fix: remove one of them",
                          SPAN_ARG(words(l, &r)), SPAN_ARG(words(l, before))));
        return false;
    }
    requirements_add(l->arena, all, &r, l->syms);
    return true;
}

static void look_at_min_values(struct look *l, const struct requirements *all)
{
    for (uint32_t i = 0; i < l->asks->requirements.count; i++) {
        const struct expression *e = &l->asks->requirements.items[i];
        const struct requirement *r = requirements_get(all, requirement_key(l->syms, e->key));
        if (r == NULL || e->min_values == 0 || requirement_op(r) != OP_IN || r->count >= (uint32_t)e->min_values ||
            (e->op == OP_IN && e->values.count < (uint32_t)e->min_values))
            continue;
        warn(l, arena_printf(l->arena, "%s.requirements[%u].minValues", l->asks->at, i),
             arena_printf(l->arena, "%d cannot be met: %s requirements together leave %u (%.*s). Fix: lower it, or allow more "
                                    "values",
                          e->min_values, l->asks->whose, r->count, SPAN_ARG(words(l, r))));
    }
}

void node_asks_warnings(struct arena *a, const struct node_asks *asks, struct symtab *syms, struct findings *out)
{
    struct look of = {a, asks, syms, out}, *l = &of;
    struct requirements all = {NULL, 0};
    for (uint32_t i = 0; i < l->asks->requirements.count; i++)
        if (!add_requirement(l, &all, i))
            return; /* what else they come to nobody knows */
    look_at_min_values(l, &all);
    for (uint32_t i = 0; i < l->asks->labels.count; i++) {
        const struct sym_pair *label = &l->asks->labels.items[i];
        const struct requirement *r = requirements_get(&all, requirement_key(l->syms, label->key));
        if (r == NULL || requirement_has(r, label->value, l->syms))
            continue;
        warn(l, arena_printf(l->arena, "spec.template.metadata.labels[%.*s]", SPAN_ARG(sym_text(l->syms, label->key))),
             arena_printf(l->arena, "\"%.*s\" is not what %s requirements allow (%.*s): no pod that asks for the label gets "
                                    "a node, and where every instance type has it, nobody. Fix: change one of them",
                          SPAN_ARG(sym_text(l->syms, label->value)), l->asks->whose, SPAN_ARG(words(l, r))));
    }
}
