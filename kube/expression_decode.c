/* Labels, and what selects by them: the requirements of NodePools, the terms of node affinity, label
 * selectors. They look alike and are one struct; what an API server admits differs. */
#include "kube/meta_fields.h"
#include "kube/requirement.h"

void decode_check_key(struct decode *d, struct doc_value v, const char *member, sym key)
{
    struct span text = sym_text(d->syms, key);
    if (text.len == 0)
        decode_invalid_in(d, v, member, "is missing");
    else if (!qualified_name_valid(text))
        decode_invalid_in(d, v, member, "\"%.*s\" is not a label key; " LABEL_KEY_RULE, SPAN_ARG(text));
}

static void check_value(struct decode *d, struct doc_value v, sym value)
{
    struct span text = sym_text(d->syms, value);
    if (!label_value_valid(text))
        decode_invalid(d, v, "\"%.*s\" is not a label value; " LABEL_VALUE_RULE, SPAN_ARG(text));
}

static void check_label(struct decode *d, struct doc_value v, const void *object)
{
    const struct sym_pair *pair = object;
    struct span key = sym_text(d->syms, pair->key);
    if (!qualified_name_valid(key))
        decode_invalid(d, v, "\"%.*s\" is not a label key; " LABEL_KEY_RULE, SPAN_ARG(key));
    else
        check_value(d, v, pair->value);
}

static const struct field label_fields[] = {
    FIELD(struct sym_pair, key, FIELD_SYM, "key"),
    FIELD(struct sym_pair, value, FIELD_SYM, "value"),
};
const struct schema label_schema =
    SCHEMA_WITH(struct sym_pair, "label", label_fields, .check = check_label);

/* The text is kept only of an operator that we do not know, for the message. */
static bool decode_op(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    struct expression *e = (void *)((char *)out - offsetof(struct expression, op));
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    struct span text = doc_text(v);
    for (int op = OP_IN; op <= OP_LTE; op++)
        if (span_eq(text, span_of(op_name((enum op)op))))
            e->op = (enum op)op;
    if (e->op == OP_NONE)
        e->op_text = arena_dup(d->arena, text);
    return true;
}

/* ---- what is admitted ---- */

enum {
    LABEL_OPS = 1 << OP_IN | 1 << OP_NOT_IN | 1 << OP_EXISTS | 1 << OP_DOES_NOT_EXIST,
    NODE_OPS = LABEL_OPS | 1 << OP_GT | 1 << OP_LT,
};

static bool op_valid(struct decode *d, struct doc_value v, const struct expression *e, int ops,
                     const char *names)
{
    struct span text = doc_text_at(v, SPAN("operator"));
    if (1 << e->op & ops)
        return true;
    if (text.len == 0)
        decode_invalid_in(d, v, "operator", "is missing; use %s", names);
    else
        decode_invalid_in(d, v, "operator", "\"%.*s\" is not an operator; use %s", SPAN_ARG(text),
                          names);
    return false;
}

static void check_label_values(struct decode *d, struct doc_value v, const struct expression *e)
{
    for (uint32_t i = 0; i < e->values.count; i++) {
        struct span text = sym_text(d->syms, e->values.items[i]);
        if (!label_value_valid(text))
            decode_invalid_in(d, v, "values", "\"%.*s\" is not a label value; " LABEL_VALUE_RULE,
                              SPAN_ARG(text));
    }
}

/* Of label selectors and of node affinity. */
static void check_selector(struct decode *d, struct doc_value v, const struct expression *e, int ops,
                           const char *names)
{
    struct err err;
    bool listed = e->op == OP_IN || e->op == OP_NOT_IN;
    bool bare = e->op == OP_EXISTS || e->op == OP_DOES_NOT_EXIST;
    decode_check_key(d, v, "key", e->key);
    if (!op_valid(d, v, e, ops, names))
        return;
    if (listed && e->values.count == 0)
        decode_invalid_in(d, v, "values", "operator %s needs at least one value", op_name(e->op));
    else if (bare && e->values.count != 0)
        decode_invalid_in(d, v, "values", "operator %s takes no values", op_name(e->op));
    else if (!expression_operands_valid(e, d->syms, &err))
        decode_invalid_in(d, v, "values", "%s", err.msg);
    else
        check_label_values(d, v, e);
}

static void check_label_expression(struct decode *d, struct doc_value v, const void *object)
{
    check_selector(d, v, object, LABEL_OPS, "In, NotIn, Exists or DoesNotExist");
}

static void check_node_expression(struct decode *d, struct doc_value v, const void *object)
{
    check_selector(d, v, object, NODE_OPS, "In, NotIn, Exists, DoesNotExist, Gt or Lt");
}

static void check_node_field(struct decode *d, struct doc_value v, const void *object)
{
    const struct expression *e = object;
    struct span key = sym_text(d->syms, e->key);
    if (!span_eq(key, SPAN("metadata.name")))
        decode_invalid_in(d, v, "key", "\"%.*s\" is not a field of nodes; use metadata.name",
                          SPAN_ARG(key));
    else if (op_valid(d, v, e, 1 << OP_IN | 1 << OP_NOT_IN, "In or NotIn") && e->values.count != 1)
        decode_invalid_in(d, v, "values", "operator %s needs exactly one name", op_name(e->op));
}

/* Of NodePools and NodeClaims (spec api 1.4: R1, R2, R6, R8 to R10): what values may be is for pool_validate. */
static void check_requirement(struct decode *d, struct doc_value v, const void *object)
{
    const struct expression *e = object;
    struct err err;
    decode_check_key(d, v, "key", e->key);
    if (op_valid(d, v, e, -2, "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte") &&
        !expression_operands_valid(e, d->syms, &err))
        decode_invalid_in(d, v, "values", "%s", err.msg);
}

static void check_overlay_requirement(struct decode *d, struct doc_value v, const void *object)
{
    const struct expression *e = object;
    check_requirement(d, v, object);
    if (e->op == OP_NOT_IN && e->values.count == 0)
        decode_invalid_in(d, v, "values", "operator NotIn needs at least one value");
}

/* ---- tables ---- */

static const struct field wire_fields[] = {
    FIELD(struct expression, key, FIELD_SYM, "key"),
    FIELD(struct expression, op, FIELD_SCALAR, "operator", .scalar = decode_op),
    FIELD(struct expression, values, FIELD_SYMS, "values"),
    FIELD(struct expression, min_values, FIELD_INT32, "minValues", .low = 1, .high = 50),
};

/* Read by a table of its own, because op_text comes with the operator and is no member. */
#define WIRE(name_, count_, check_)                                                                \
    static const struct schema name_ = {                                                           \
        .name = "requirement", .size = sizeof(struct expression), .count = (count_),               \
        .fields = wire_fields, .also = "", .check = (check_)}
enum { WITH_MINIMUM = COUNT_OF(wire_fields), WITHOUT = WITH_MINIMUM - 1 };
WIRE(requirement_wire, WITH_MINIMUM, check_requirement);
WIRE(overlay_wire, WITHOUT, check_overlay_requirement);
WIRE(node_expression_wire, WITHOUT, check_node_expression);
WIRE(node_field_wire, WITHOUT, check_node_field);
WIRE(label_expression_wire, WITHOUT, check_label_expression);

static void expression_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    *(struct expression *)out = *(const struct expression *)wire;
}

static const struct field expression_fields[] = {
    FIELD(struct expression, key, FIELD_SYM, "key"),
    FIELD(struct expression, op_text, FIELD_SPAN, "operator"),
    FIELD(struct expression, values, FIELD_SYMS, "values"),
};
#define EXPRESSION(wire_)                                                                          \
    SCHEMA_WITH(struct expression, "requirement", expression_fields, .wire = &(wire_),             \
                .convert = expression_convert)
const struct schema expression_schema = EXPRESSION(requirement_wire);
const struct schema overlay_expression_schema = EXPRESSION(overlay_wire);
const struct schema node_expression_schema = EXPRESSION(node_expression_wire);
const struct schema node_field_schema = EXPRESSION(node_field_wire);
static const struct schema label_expression_schema = EXPRESSION(label_expression_wire);

static const struct field label_selector_fields[] = {
    FIELD(struct label_selector, match_labels, FIELD_MAP, "matchLabels", .schema = &label_schema),
    FIELD(struct label_selector, match_expressions, FIELD_LIST, "matchExpressions",
          .schema = &label_expression_schema),
};
const struct schema label_selector_schema =
    SCHEMA_WITH(struct label_selector, "selector", label_selector_fields, .also = "");
