/* Taints and tolerations. */
#include "kube/meta_fields.h"
#include "kube/requirement.h"

static bool decode_effect(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    enum taint_effect *effect = out;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    struct span text = doc_text(v);
    *effect = text.len == 0 ? TAINT_NONE : TAINT_OTHER;
    for (int e = TAINT_NO_SCHEDULE; e <= TAINT_NO_EXECUTE; e++)
        if (span_eq(text, span_of(taint_effect_name((enum taint_effect)e))))
            *effect = (enum taint_effect)e;
    return true;
}

static bool decode_toleration_operator(struct decode *d, struct doc_value v, void *out,
                                       struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    struct span text = doc_text(v);
    static const struct span texts[] = {
        [TOLERATION_EQUAL] = SPAN_INIT("Equal"), [TOLERATION_EXISTS] = SPAN_INIT("Exists"),
        [TOLERATION_LT] = SPAN_INIT("Lt"),       [TOLERATION_GT] = SPAN_INIT("Gt"),
    };
    enum toleration_op *op = out;
    *op = text.len == 0 ? TOLERATION_EQUAL : TOLERATION_OTHER;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (span_eq(text, texts[i]))
            *op = (enum toleration_op)i;
    return true;
}

static void check_effect(struct decode *d, struct doc_value v, enum taint_effect effect, bool needed)
{
    static const char use[] = "use NoSchedule, PreferNoSchedule or NoExecute";
    struct span text = doc_text_at(v, SPAN("effect"));
    if (effect == TAINT_OTHER)
        decode_invalid_in(d, v, "effect", "\"%.*s\" is not an effect; %s", SPAN_ARG(text), use);
    else if (effect == TAINT_NONE && needed)
        decode_invalid_in(d, v, "effect", "is missing; %s", use);
}

static void check_value(struct decode *d, struct doc_value v, struct span value)
{
    if (!label_value_valid(value))
        decode_invalid_in(d, v, "value", "\"%.*s\" is not a label value; " LABEL_VALUE_RULE,
                          SPAN_ARG(value));
}

/* A NodePool's value may have a domain, too (spec api 1.2). */
static void check_taint(struct decode *d, struct doc_value v, const void *object)
{
    const struct taint *t = object;
    struct span value = sym_text(d->syms, t->value);
    decode_check_key(d, v, "key", t->key);
    check_effect(d, v, t->effect, true);
    if (!qualified_name_valid(value))
        check_value(d, v, value);
}

static void check_toleration_value(struct decode *d, struct doc_value v, const struct toleration *t)
{
    struct span value = sym_text(d->syms, t->value);
    switch (t->op) {
    case TOLERATION_EQUAL:
        check_value(d, v, value);
        return;
    case TOLERATION_EXISTS:
        if (value.len != 0)
            decode_invalid_in(d, v, "value", "operator Exists takes no value");
        return;
    case TOLERATION_LT: /* one that is no number tolerates nothing */
    case TOLERATION_GT:
        return;
    case TOLERATION_OTHER:
        decode_invalid_in(d, v, "operator", "\"%.*s\" is not an operator; use Equal, Exists, Lt or Gt",
                          SPAN_ARG(doc_text_at(v, SPAN("operator"))));
        return;
    }
}

static void check_toleration(struct decode *d, struct doc_value v, const void *object)
{
    const struct toleration *t = object;
    struct doc_value seconds;
    check_toleration_value(d, v, t);
    check_effect(d, v, t->effect, false);
    if (sym_text(d->syms, t->key).len != 0)
        decode_check_key(d, v, "key", t->key);
    else if (t->op == TOLERATION_EQUAL)
        decode_invalid_in(d, v, "key", "is missing; without one, the operator must be Exists");
    if (doc_find(v, SPAN("tolerationSeconds"), &seconds) && doc_type(seconds) != DOC_NULL &&
        t->effect != TAINT_NO_EXECUTE)
        decode_invalid_in(d, v, "tolerationSeconds", "needs the effect NoExecute");
}

static const struct field taint_fields[] = {
    FIELD(struct taint, key, FIELD_SYM, "key"),
    FIELD(struct taint, value, FIELD_SYM, "value"),
    FIELD(struct taint, effect, FIELD_SCALAR, "effect", .scalar = decode_effect),
    FIELD(struct taint, added, FIELD_SCALAR, "timeAdded", .scalar = decode_time),
};
const struct schema taint_schema =
    SCHEMA_WITH(struct taint, "taint", taint_fields, .also = "", .check = check_taint);

static const struct field toleration_fields[] = {
    FIELD(struct toleration, key, FIELD_SYM, "key"),
    FIELD(struct toleration, value, FIELD_SYM, "value"),
    FIELD(struct toleration, op, FIELD_SCALAR, "operator",
          .scalar = decode_toleration_operator),
    FIELD(struct toleration, effect, FIELD_SCALAR, "effect", .scalar = decode_effect),
};
const struct schema toleration_schema =
    SCHEMA_WITH(struct toleration, "toleration", toleration_fields, .also = "tolerationSeconds",
                .check = check_toleration);
