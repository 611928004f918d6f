/* What may be written as a label key, a label value and a requirement (spec api 2.1, 2.2). */
#include "kube/requirement.h"

#include <ctype.h>

enum { NAME_MAX_LEN = 63, PREFIX_MAX_LEN = 253 };

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool name_valid(struct span s)
{
    if (s.len == 0 || s.len > NAME_MAX_LEN || !is_alnum(s.ptr[0]) || !is_alnum(s.ptr[s.len - 1]))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_alnum(s.ptr[i]) && s.ptr[i] != '-' && s.ptr[i] != '_' && s.ptr[i] != '.')
            return false;
    return true;
}

bool subdomain_valid(struct span s)
{
    if (s.len == 0 || s.len > PREFIX_MAX_LEN)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool edge = i == 0 || s.ptr[i - 1] == '.' || i + 1 == s.len || s.ptr[i + 1] == '.';
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (edge || (c != '-' && c != '.')))
            return false;
    }
    return true;
}

bool qualified_name_valid(struct span s)
{
    struct span rest;
    struct span head = span_cut(s, '/', &rest);
    return rest.ptr == NULL ? name_valid(head) : subdomain_valid(head) && name_valid(rest);
}

bool label_value_valid(struct span s)
{
    return s.len == 0 || name_valid(s);
}

static bool in_list(struct syms sorted, sym key)
{
    for (uint32_t i = 0; i < sorted.count && sorted.items[i] <= key; i++)
        if (sorted.items[i] == key)
            return true;
    return false;
}

bool label_restricted(const struct label_rules *rules, sym key, const struct symtab *t)
{
    if (in_list(rules->well_known, key))
        return false;
    struct span name;
    struct span domain = span_cut(sym_text(t, key), '/', &name);
    for (uint32_t i = 0; name.ptr != NULL && i < rules->domain_count; i++) {
        struct span d = rules->domains[i];
        if (span_eq(domain, d) || (domain.len > d.len && span_has_suffix(domain, d) &&
                                   domain.ptr[domain.len - d.len - 1] == '.'))
            return true;
    }
    return key == SYM_HOSTNAME;
}

static bool capacity_types_valid(const struct expression *e, const struct symtab *t,
                                 struct err *err)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < e->values.count; i++) {
        sym v = e->values.items[i];
        known += v == SYM_ON_DEMAND || v == SYM_SPOT || v == SYM_RESERVED;
    }
    if (known == 0 && e->values.count != 0)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not a capacity type; use on-demand, spot or reserved",
                       SPAN_ARG(sym_text(t, e->values.items[0])));
    if ((int32_t)known < e->min_values)
        return err_set(err, ERR_INVALID,
                       "minValues is %d, but only %u of the values are capacity types",
                       (int)e->min_values, known);
    return true;
}

static bool values_valid(const struct expression *e, const struct symtab *t, struct err *err)
{
    for (uint32_t i = 0; i < e->values.count; i++) {
        struct span v = sym_text(t, e->values.items[i]);
        if (!label_value_valid(v))
            return err_set(err, ERR_INVALID,
                           "\"%.*s\" is not a label value; " LABEL_VALUE_RULE, SPAN_ARG(v));
    }
    return true;
}

bool expression_operands_valid(const struct expression *e, const struct symtab *t, struct err *err)
{
    int64_t n;
    switch (e->op) {
    case OP_IN:
        if (e->values.count == 0)
            return err_set(err, ERR_INVALID, "operator In needs at least one value");
        if ((int32_t)e->values.count < e->min_values)
            return err_set(err, ERR_INVALID, "minValues is %d, but there are only %u values",
                           (int)e->min_values, e->values.count);
        return true;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        if (e->values.count != 1 || !span_int64(sym_text(t, e->values.items[0]), &n) || n < 0)
            return err_set(err, ERR_INVALID,
                           "operator %s needs exactly one value, an integer of 0 or more",
                           op_name(e->op));
        return true;
    default:
        return true;
    }
}

bool expression_valid(const struct label_rules *rules, const struct expression *e, struct symtab *t,
                      struct err *err)
{
    sym key = requirement_key(t, e->key);
    struct span name = sym_text(t, key);
    if (e->op == OP_NONE)
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not an operator; use In, NotIn, Exists, DoesNotExist, Gt, Lt, "
                       "Gte or Lte",
                       SPAN_ARG(e->op_text));
    if (label_restricted(rules, key, t))
        return err_set(err, ERR_INVALID,
                       "label \"%.*s\" is restricted; use a key of a domain of your own, or a "
                       "well-known label",
                       SPAN_ARG(name));
    if (key == SYM_CAPACITY_TYPE && e->op == OP_IN && !capacity_types_valid(e, t, err))
        return false;
    if (!qualified_name_valid(name))
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a label key; " LABEL_KEY_RULE, SPAN_ARG(name));
    return values_valid(e, t, err) && expression_operands_valid(e, t, err);
}
