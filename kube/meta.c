#include "kube/meta.h"

void meta_copy_object(void *to, const void *object, size_t size)
{
    enum { AT = offsetof(struct meta, resource_version), AFTER = AT + sizeof(((struct meta *)0)->resource_version) };
    memcpy(to, object, AT);
    ((struct meta *)to)->resource_version = 0;
    memcpy((char *)to + AFTER, (const char *)object + AFTER, size - AFTER);
}

const struct condition *conditions_find(struct conditions c, struct span type)
{
    for (uint32_t i = 0; i < c.count; i++)
        if (span_eq(c.items[i].type, type))
            return c.items + i;
    return NULL;
}

bool conditions_true(struct conditions c, struct span type)
{
    const struct condition *found = conditions_find(c, type);
    return found != NULL && found->status == CONDITION_TRUE;
}

struct span annotations_get(struct annotations a, sym key)
{
    for (uint32_t i = 0; i < a.count; i++)
        if (a.items[i].key == key)
            return a.items[i].value;
    return (struct span){NULL, 0};
}

bool syms_has(struct syms list, sym s)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i] == s)
            return true;
    return false;
}

bool meta_owned_by(const struct meta *m, sym api_version, sym kind)
{
    for (uint32_t i = 0; i < m->owners.count; i++)
        if (m->owners.items[i].kind == kind && m->owners.items[i].api_version == api_version)
            return true;
    return false;
}

const struct owner *meta_controller(const struct meta *m)
{
    for (uint32_t i = 0; i < m->owners.count; i++)
        if (m->owners.items[i].controller)
            return &m->owners.items[i];
    return NULL;
}

static bool expression_matches(const struct expression *e, struct sym_pairs labels)
{
    sym value = sym_pairs_get(labels, e->key);
    switch (e->op) {
    case OP_IN:
        return value != SYM_NONE && syms_has(e->values, value);
    case OP_NOT_IN:
        return value == SYM_NONE || !syms_has(e->values, value);
    case OP_EXISTS:
        return value != SYM_NONE;
    case OP_DOES_NOT_EXIST:
        return value == SYM_NONE;
    default: /* no operator of a label selector: the API server would have refused it */
        return false;
    }
}

bool label_selector_matches(const struct label_selector *s, struct sym_pairs labels)
{
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        if (sym_pairs_get(labels, s->match_labels.items[i].key) != s->match_labels.items[i].value)
            return false;
    for (uint32_t i = 0; i < s->match_expressions.count; i++)
        if (!expression_matches(&s->match_expressions.items[i], labels))
            return false;
    return true;
}

static bool same_expression(const struct expression *a, const struct expression *b)
{
    return a->key == b->key && a->op == b->op && a->values.count == b->values.count &&
           (a->values.count == 0 ||
            memcmp(a->values.items, b->values.items, a->values.count * sizeof(*a->values.items)) == 0);
}

bool label_selector_same(const struct label_selector *a, const struct label_selector *b)
{
    if (a->match_labels.count != b->match_labels.count ||
        a->match_expressions.count != b->match_expressions.count)
        return false;
    for (uint32_t i = 0; i < a->match_labels.count; i++)
        if (a->match_labels.items[i].key != b->match_labels.items[i].key ||
            a->match_labels.items[i].value != b->match_labels.items[i].value)
            return false;
    for (uint32_t i = 0; i < a->match_expressions.count; i++)
        if (!same_expression(&a->match_expressions.items[i], &b->match_expressions.items[i]))
            return false;
    return true;
}

/* An absent text and an empty one mean the same in taints and tolerations. */
static sym or_empty(sym s)
{
    return s == SYM_NONE ? SYM_EMPTY : s;
}

/* As people write it: no sign but a minus, no leading zero. */
static bool plain_integer(struct span text, int64_t *out)
{
    struct span digits = text;
    if (digits.len != 0 && digits.ptr[0] == '-')
        digits = (struct span){digits.ptr + 1, digits.len - 1};
    if (digits.len == 0 || digits.ptr[0] == '+' || (digits.ptr[0] == '0' && text.len != 1))
        return false;
    return span_int64(text, out);
}

static bool tolerates_number(const struct toleration *by, const struct taint *t,
                             const struct symtab *syms)
{
    int64_t bound, value;
    if (or_empty(by->value) == SYM_EMPTY || or_empty(t->value) == SYM_EMPTY ||
        !plain_integer(sym_text(syms, by->value), &bound) ||
        !plain_integer(sym_text(syms, t->value), &value))
        return false;
    return by->op == TOLERATION_LT ? value < bound : value > bound;
}

static bool tolerates(const struct toleration *by, const struct taint *t, const struct symtab *syms)
{
    if (by->effect == TAINT_OTHER)
        return false;
    if (by->effect != TAINT_NONE && by->effect != t->effect)
        return false;
    if (or_empty(by->key) != SYM_EMPTY && by->key != t->key)
        return false;
    switch (by->op) {
    case TOLERATION_EQUAL:
        return or_empty(by->value) == or_empty(t->value);
    case TOLERATION_EXISTS:
        return true;
    case TOLERATION_LT:
    case TOLERATION_GT:
        return tolerates_number(by, t, syms);
    case TOLERATION_OTHER:
        break;
    }
    return false;
}

bool taint_tolerated(const struct taint *t, struct tolerations by, const struct symtab *syms)
{
    for (uint32_t i = 0; i < by.count; i++)
        if (tolerates(&by.items[i], t, syms))
            return true;
    return false;
}

const char *taint_effect_name(enum taint_effect e)
{
    switch (e) {
    case TAINT_NO_SCHEDULE:
        return "NoSchedule";
    case TAINT_PREFER_NO_SCHEDULE:
        return "PreferNoSchedule";
    case TAINT_NO_EXECUTE:
        return "NoExecute";
    case TAINT_NONE:
    case TAINT_OTHER:
        break;
    }
    return "";
}

const char *op_name(enum op op)
{
    static const char *const names[] = {
        [OP_NONE] = "",
        [OP_IN] = "In",
        [OP_NOT_IN] = "NotIn",
        [OP_EXISTS] = "Exists",
        [OP_DOES_NOT_EXIST] = "DoesNotExist",
        [OP_GT] = "Gt",
        [OP_LT] = "Lt",
        [OP_GTE] = "Gte",
        [OP_LTE] = "Lte",
    };
    return names[op];
}
