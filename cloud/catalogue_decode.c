/* Two forms of file in one schema: kwok's array, where what is not known is passed over as kwok
 * does, and the superset's object, where it is a mistake. Within either an entry with
 * `requirements` is explicit. Keys are compared without case. */
#include "cloud/catalogue.h"

#include "cloud/catalogue_source.h"

enum { TYPES_MAX = 100000 };

/* ---- scalars ---- */

static bool decode_op(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return err_set(err, ERR_INVALID, "is %s, not a string", doc_type_name(doc_type(v)));
    for (enum op op = OP_IN; op <= OP_LTE; op++)
        if (span_eq(doc_text(v), span_of(op_name(op)))) {
            *(enum op *)out = op;
            return true;
        }
    return err_set(
        err, ERR_INVALID,
        "\"%.*s\" is not an operator; there are In, NotIn, Exists, DoesNotExist, Gt, Lt, "
        "Gte and Lte",
        SPAN_ARG(doc_text(v)));
}

static bool decode_quantity(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    enum doc_type t = doc_type(v);
    amount value;
    struct err why;
    if (t != DOC_STRING && t != DOC_NUMBER)
        return err_set(err, ERR_INVALID, "is %s, not a quantity", doc_type_name(t));
    if (!quantity_parse(doc_text(v), 1, &value, &why)) {
        struct span better = quantity_suggest(d->arena, doc_text(v));
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a quantity%s%.*s%s",
                       SPAN_ARG(doc_text(v)), better.ptr != NULL ? "; did you mean \"" : "",
                       SPAN_ARG(better), better.ptr != NULL ? "\"?" : "");
    }
    *(struct span *)out = arena_dup(d->arena, doc_text(v));
    return true;
}

static bool decode_count(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    int64_t n;
    if (doc_type(v) != DOC_NUMBER || !doc_int64(v, &n) || n < 0)
        return err_set(err, ERR_INVALID, "is not a whole number of at least 0");
    *(struct span *)out = arena_dup(d->arena, doc_text(v));
    return true;
}

/* ---- field tables, each once lenient (kwok) and once strict (superset) ---- */

#define FOLD .fold_case = true

static const struct field amount_fields[] = {
    FIELD(struct source_amount, name, FIELD_SPAN, ""),
    FIELD(struct source_amount, quantity, FIELD_SCALAR, "", .scalar = decode_quantity),
};
static const struct schema amount_schema =
    SCHEMA(struct source_amount, "quantities", amount_fields);

static const struct field count_fields[] = {
    FIELD(struct source_amount, name, FIELD_SPAN, ""),
    FIELD(struct source_amount, quantity, FIELD_SCALAR, "", .scalar = decode_count),
};
static const struct schema count_schema = SCHEMA(struct source_amount, "limits", count_fields);

static const struct field requirement_fields[] = {
    FIELD(struct source_requirement, key, FIELD_SPAN, "key", FOLD, .required = true),
    FIELD(struct source_requirement, op, FIELD_SCALAR, "operator", FOLD, .required = true,
          .scalar = decode_op),
    FIELD(struct source_requirement, values, FIELD_SPANS, "values", FOLD),
    FIELD(struct source_requirement, min_values, FIELD_INT32, "minValues", FOLD),
};

static const struct field overhead_fields[] = {
    FIELD(struct source_overhead, kube_reserved, FIELD_MAP, "kubeReserved", FOLD,
          .schema = &amount_schema),
    FIELD(struct source_overhead, system_reserved, FIELD_MAP, "systemReserved", FOLD,
          .schema = &amount_schema),
    FIELD(struct source_overhead, eviction_threshold, FIELD_MAP, "evictionThreshold", FOLD,
          .schema = &amount_schema),
};

#define TABLES(form, is_strict)                                                                    \
    static const struct schema requirement_##form = {.name = "requirement",                        \
                                                     .size = sizeof(struct source_requirement),    \
                                                     .count = COUNT_OF(requirement_fields),        \
                                                     .fields = requirement_fields,                 \
                                                     .strict = is_strict};                         \
    static const struct schema overhead_##form = {.name = "overhead",                              \
                                                  .size = sizeof(struct source_overhead),          \
                                                  .count = COUNT_OF(overhead_fields),              \
                                                  .fields = overhead_fields,                       \
                                                  .strict = is_strict};                            \
    static const struct field offering_fields_##form[] = {                                         \
        FIELD(struct source_offering, requirements, FIELD_LIST, "requirements", FOLD,              \
              .schema = &requirement_##form),                                                      \
        FIELD(struct source_offering, price, FIELD_DOUBLE, "price", FOLD),                         \
        FIELD(struct source_offering, available, FIELD_BOOL, "available", FOLD),                   \
        FIELD(struct source_offering, reservation_capacity, FIELD_INT64, "reservationCapacity",    \
              FOLD),                                                                               \
        FIELD(struct source_offering, capacity_override, FIELD_MAP, "capacityOverride", FOLD,      \
              .schema = &amount_schema, FIELD_HAS(struct source_offering, has_capacity_override)), \
        FIELD(struct source_offering, overhead_override, FIELD_OBJECT, "overheadOverride", FOLD,   \
              .schema = &overhead_##form,                                                          \
              FIELD_HAS(struct source_offering, has_overhead_override)),                           \
    };                                                                                             \
    static const struct schema offering_##form = {.name = "offering",                              \
                                                  .size = sizeof(struct source_offering),          \
                                                  .count = COUNT_OF(offering_fields_##form),       \
                                                  .fields = offering_fields_##form,                \
                                                  .strict = is_strict};                            \
    static const struct field type_fields_##form[] = {                                             \
        FIELD(struct source_type, name, FIELD_SPAN, "name", FOLD, .required = true),               \
        FIELD(struct source_type, architecture, FIELD_SPAN, "architecture", FOLD),                 \
        FIELD(struct source_type, operating_systems, FIELD_SPANS, "operatingSystems", FOLD),       \
        FIELD(struct source_type, node_pools, FIELD_SPANS, "nodePools", FOLD),                     \
        FIELD(struct source_type, requirements, FIELD_LIST, "requirements", FOLD,                  \
              .schema = &requirement_##form, FIELD_HAS(struct source_type, explicit_form)),        \
        FIELD(struct source_type, resources, FIELD_MAP, "resources", FOLD,                         \
              .schema = &amount_schema),                                                           \
        FIELD(struct source_type, overhead, FIELD_OBJECT, "overhead", FOLD,                        \
              .schema = &overhead_##form),                                                         \
        FIELD(struct source_type, volume_limits, FIELD_MAP, "volumeAttachmentLimits", FOLD,        \
              .schema = &count_schema),                                                            \
        FIELD(struct source_type, offerings, FIELD_LIST, "offerings", FOLD,                        \
              .schema = &offering_##form),                                                         \
    };                                                                                             \
    static const struct schema type_##form = {.name = "instance type",                             \
                                              .size = sizeof(struct source_type),                  \
                                              .count = COUNT_OF(type_fields_##form),               \
                                              .fields = type_fields_##form,                        \
                                              .strict = is_strict};

TABLES(kwok, false)
TABLES(superset, true)

/* Texts only: whether they mean anything is asked by who repairs. */
static const struct field repair_fields[] = {
    FIELD(struct repair_text, condition_type, FIELD_SPAN, "conditionType", FOLD),
    FIELD(struct repair_text, condition_status, FIELD_SPAN, "conditionStatus", FOLD),
    FIELD(struct repair_text, reason_regex, FIELD_SPAN, "reasonRegex", FOLD),
    FIELD(struct repair_text, toleration, FIELD_SPAN, "tolerationDuration", FOLD),
    FIELD(struct repair_text, grace, FIELD_SPAN, "terminationGracePeriod", FOLD),
    FIELD(struct repair_text, priority, FIELD_INT64, "priority", FOLD),
    FIELD(struct repair_text, action, FIELD_SPAN, "action", FOLD),
};
static const struct schema repair_schema = {.name = "repair policy",
                                            .size = sizeof(struct repair_text),
                                            .count = COUNT_OF(repair_fields),
                                            .fields = repair_fields,
                                            .strict = true};

struct source_file {
    struct {
        struct source_type *items;
        uint32_t count;
    } types;
    struct span reservation_id_label;
    struct spans well_known, drivers, topology_keys;
    struct repair_texts repair;
};

static const struct field file_fields[] = {
    FIELD(struct source_file, types, FIELD_LIST, "instanceTypes", FOLD, .required = true,
          .schema = &type_superset),
    FIELD(struct source_file, reservation_id_label, FIELD_SPAN, "reservationIDLabel", FOLD),
    FIELD(struct source_file, well_known, FIELD_SPANS, "wellKnownLabels", FOLD),
    FIELD(struct source_file, drivers, FIELD_SPANS, "unsupportedProvisioners", FOLD),
    FIELD(struct source_file, topology_keys, FIELD_SPANS, "unsupportedTopologyKeys", FOLD),
    FIELD(struct source_file, repair, FIELD_LIST, "repairPolicies", FOLD, .schema = &repair_schema),
};
static const struct schema file_schema = {.name = "catalogue",
                                          .size = sizeof(struct source_file),
                                          .count = COUNT_OF(file_fields),
                                          .fields = file_fields,
                                          .strict = true};

/* ---- the file ---- */

struct first_mistake {
    struct span file, entry; /* entry: "[3]", or absent */
    struct err *err;
    bool told;
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    struct first_mistake *m = user;
    if (m->told)
        return;
    m->told = true;
    err_set(m->err, ERR_INVALID, "%.*s:%u: %.*s%s%.*s: %.*s", SPAN_ARG(m->file), line,
            SPAN_ARG(m->entry), m->entry.len != 0 && path.len != 0 ? "." : "", SPAN_ARG(path),
            SPAN_ARG(text));
}

static bool decode_array(struct decode *d, struct doc_value root, struct catalogue_source *s,
                         struct first_mistake *m)
{
    uint32_t capacity = 0, index = 0;
    for (struct doc_iter it = doc_iter_of(root); doc_next(&it); index++) {
        struct source_type t;
        m->entry = arena_printf(&s->arena, "[%u]", index);
        if (index == TYPES_MAX)
            return err_set(m->err, ERR_INVALID, "%.*s: more than %d instance types",
                           SPAN_ARG(m->file), TYPES_MAX);
        if (doc_type(it.value) != DOC_OBJECT)
            return err_set(m->err, ERR_INVALID, "%.*s:%u: [%u]: is %s, not an instance type",
                           SPAN_ARG(m->file), doc_line(it.value), index,
                           doc_type_name(doc_type(it.value)));
        if (!decode_value(d, it.value, &type_kwok, &t))
            return false;
        ARENA_PUSH(&s->arena, s->types, s->count, capacity, t);
    }
    return true;
}

static bool decode_object(struct decode *d, struct doc_value root, struct catalogue_source *s)
{
    struct source_file f;
    if (!decode_value(d, root, &file_schema, &f))
        return false;
    s->types = f.types.items;
    s->count = f.types.count;
    s->reservation_id_label = f.reservation_id_label;
    s->well_known = f.well_known;
    s->unsupported_drivers = f.drivers;
    s->repair = f.repair;
    s->unsupported_topology_keys = f.topology_keys;
    return true;
}

/* What no field table can say: a type without a name or, of kwok's form, without cpu and memory. */
static bool check(const struct catalogue_source *s, struct span file, struct err *err)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct source_type *t = &s->types[i];
        bool cpu = t->explicit_form, memory = t->explicit_form;
        if (t->name.len == 0)
            return err_set(err, ERR_INVALID, "%.*s: [%u].name: is empty", SPAN_ARG(file), i);
        for (uint32_t r = 0; r < t->resources.count; r++) {
            cpu = cpu || span_eq(t->resources.items[r].name, SPAN("cpu"));
            memory = memory || span_eq(t->resources.items[r].name, SPAN("memory"));
        }
        if (!cpu || !memory)
            return err_set(err, ERR_INVALID, "%.*s: %.*s: resources has no %s", SPAN_ARG(file),
                           SPAN_ARG(t->name), cpu ? "memory" : "cpu");
    }
    return true;
}

static bool decode_root(struct doc_value root, struct span name, struct catalogue_source *s,
                        struct err *err)
{
    struct first_mistake m = {.file = name, .err = err};
    struct decode d = {.arena = &s->arena, .mistake = on_mistake, .user = &m};
    switch (doc_type(root)) {
    case DOC_ARRAY:
        return decode_array(&d, root, s, &m) && check(s, name, err);
    case DOC_OBJECT:
        return decode_object(&d, root, s) && check(s, name, err);
    default:
        return err_set(err, ERR_INVALID,
                       "%.*s: holds %s; an instance type catalogue is a JSON array, or an object "
                       "with instanceTypes",
                       SPAN_ARG(name), doc_type_name(doc_type(root)));
    }
}

bool catalogue_decode(struct span json, struct span name, struct catalogue_source **out,
                      struct err *err)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct catalogue_source *s = catalogue_source_new();
    bool ok = doc_parse_json(p, json, &doc, err);
    if (!ok)
        err_wrap(err, "%.*s", SPAN_ARG(name));
    else
        ok = decode_root(doc_root(doc), name, s, err);
    doc_parser_free(p);
    if (!ok) {
        catalogue_source_free(s);
        return false;
    }
    s->name = arena_dup(&s->arena, name);
    catalogue_source_finish(s);
    *out = s;
    return true;
}
