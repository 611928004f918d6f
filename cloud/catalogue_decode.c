/* Two forms of file in one schema: kwok's array, where what is not known is passed over as kwok
 * does, and the superset's object, where it is a mistake. Within either an entry with
 * `requirements` is explicit. Keys are compared without case. */
#include "cloud/catalogue.h"

#include "cloud/catalogue_check.h"

enum {
    TYPES_MAX = 100000,    /* a hundred clouds' worth; each takes a few kilobytes */
    MISTAKES_MAX = 1000,   /* of one file: nobody reads more, and each is looked for its line */
};

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

/* {"linux": {}} is how the provider's files had it before. */
static bool decode_systems(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    enum doc_type t = doc_type(v);
    struct spans *systems = out;
    if (t != DOC_ARRAY && t != DOC_OBJECT)
        return err_set(err, ERR_INVALID, "is %s, not a list", doc_type_name(t));
    *systems = (struct spans){ARENA_ARRAY(d->arena, struct span, doc_count(v)), 0};
    for (struct doc_iter it = doc_iter_of(v); doc_next(&it);) {
        if (t == DOC_ARRAY && doc_type(it.value) != DOC_STRING)
            return err_set(err, ERR_INVALID, "holds %s, not only strings", doc_type_name(doc_type(it.value)));
        systems->items[systems->count++] = arena_dup(d->arena, t == DOC_OBJECT ? it.key : doc_text(it.value));
    }
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

#define TABLES(form, is_strict, ...)                                                               \
    static const struct schema requirement_##form = {.name = "requirement",                        \
                                                     .size = sizeof(struct source_requirement),    \
                                                     .count = COUNT_OF(requirement_fields),        \
                                                     .fields = requirement_fields,                 \
                                                     .strict = is_strict, .also = ""};             \
    static const struct schema overhead_##form = {.name = "overhead",                              \
                                                  .size = sizeof(struct source_overhead),          \
                                                  .count = COUNT_OF(overhead_fields),              \
                                                  .fields = overhead_fields,                       \
                                                  .strict = is_strict, .also = ""};                \
    static const struct field offering_fields_##form[] = {                                         \
        FIELD(struct source_offering, requirements, FIELD_LIST, "requirements", FOLD,              \
              .schema = &requirement_##form),                                                      \
        FIELD(struct source_offering, price, FIELD_DOUBLE, "price", FOLD,                          \
              FIELD_HAS(struct source_offering, has_price)),                                       \
        FIELD(struct source_offering, available, FIELD_BOOL, "available", FOLD),                   \
        FIELD(struct source_offering, reservation_capacity, FIELD_INT64, "reservationCapacity",    \
              FOLD),                                                                               \
        FIELD(struct source_offering, capacity_override, FIELD_MAP, "capacityOverride", FOLD,      \
              .schema = &amount_schema, FIELD_HAS(struct source_offering, has_capacity_override)), \
        FIELD(struct source_offering, overhead_override, FIELD_OBJECT, "overheadOverride", FOLD,   \
              .schema = &overhead_##form,                                                          \
              FIELD_HAS(struct source_offering, has_overhead_override)),                           \
        __VA_ARGS__                                                                                \
    };                                                                                             \
    static const struct schema offering_##form = {.name = "offering",                              \
                                                  .size = sizeof(struct source_offering),          \
                                                  .count = COUNT_OF(offering_fields_##form),       \
                                                  .fields = offering_fields_##form,                \
                                                  .strict = is_strict, .also = ""};                \
    static const struct field type_fields_##form[] = {                                             \
        FIELD(struct source_type, name, FIELD_SPAN, "name", FOLD, .required = true),               \
        FIELD(struct source_type, architecture, FIELD_SPAN, "architecture", FOLD),                 \
        FIELD(struct source_type, operating_systems, FIELD_SCALAR, "operatingSystems", FOLD,       \
              .scalar = decode_systems),                                                           \
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
                                              .strict = is_strict, .also = ""};

/* Before it had requirements, an offering of kwok's had these two. */
TABLES(kwok, false, FIELD(struct source_offering, flat_capacity_type, FIELD_SPAN, "capacityType", FOLD),
       FIELD(struct source_offering, flat_zone, FIELD_SPAN, "zone", FOLD))
TABLES(superset, true, )

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
    struct doc_value types;
    struct span reservation_id_label;
    struct spans well_known, drivers, topology_keys;
    struct repair_texts repair;
};

/* Read one by one, so that each mistake has its type's name. */
static bool decode_types(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_ARRAY)
        return err_set(err, ERR_INVALID, "is %s, not a list", doc_type_name(doc_type(v)));
    *(struct doc_value *)out = v;
    return true;
}

static const struct field file_fields[] = {
    FIELD(struct source_file, types, FIELD_SCALAR, "instanceTypes", FOLD, .required = true,
          .scalar = decode_types),
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

struct reading {
    struct catalogue_source *s;
    struct decode decode;
    struct span entry; /* of what is being read: "c-4x", "[3]"; absent: the file as a whole */
    bool converts;     /* the provider's older form is taken, too */
    catalogue_told *tell;
    void *user;
    uint32_t wrong, passed_over; /* mistakes told; and fields that mean nothing */
};

static void on_mistake(void *user, uint32_t line, struct span path, struct span text)
{
    struct reading *r = user;
    struct span said = arena_printf(&r->s->arena, "%.*s%s%.*s%s%.*s", SPAN_ARG(r->entry),
                                    r->entry.len != 0 && path.len != 0 ? ": " : "", SPAN_ARG(path),
                                    r->entry.len + path.len != 0 ? ": " : "", SPAN_ARG(text));
    r->wrong++;
    r->tell(r->user, CATALOGUE_UNREADABLE, line, said);
}

static void on_unknown(void *user, uint32_t line, struct span path, struct span text)
{
    struct reading *r = user;
    (void)text;
    if (++r->passed_over == MISTAKES_MAX)
        r->decode.unknown = NULL;
    r->tell(r->user, CATALOGUE_WARNS, line,
            arena_printf(&r->s->arena,
                         "%.*s: %.*s: is passed over, as the kwok provider does. Fix: remove it, or write the "
                         "entry with requirements (docs/catalogue.md)",
                         SPAN_ARG(r->entry), SPAN_ARG(path)));
}

static void mistake(struct reading *r, struct doc_value v, const char *field, const char *what)
{
    on_mistake(r, doc_line(v), span_of(field), span_of(what));
}

static bool has_amount(const struct source_amounts *amounts, struct span name)
{
    for (uint32_t i = 0; i < amounts->count; i++)
        if (span_eq(amounts->items[i].name, name))
            return true;
    return false;
}

/* What no field table can say: a type without a name or, of kwok's form, without cpu and memory. */
static void check_type(struct reading *r, struct doc_value v, const struct source_type *t)
{
    bool derived = !t->explicit_form;
    if (t->name.len == 0)
        mistake(r, v, "name", "is empty");
    if (derived && !has_amount(&t->resources, SPAN("cpu")))
        mistake(r, v, "resources", "has no cpu");
    if (derived && !has_amount(&t->resources, SPAN("memory")))
        mistake(r, v, "resources", "has no memory");
}

static struct source_requirement one_value(struct arena *a, sym key, struct span value)
{
    struct span *items = ARENA_NEW(a, struct span);
    *items = value;
    return (struct source_requirement){
        .key = wellknown_text[key - 1], .op = OP_IN, .values = {items, 1}};
}

/* In the provider's older form an offering's zone and capacity type are fields of their own. */
static void from_flat(struct reading *r, struct doc_value v, struct source_type *t)
{
    uint32_t flat = 0;
    for (uint32_t i = 0; i < t->offerings.count; i++) {
        struct source_offering *o = &t->offerings.items[i];
        if (o->flat_zone.ptr == NULL && o->flat_capacity_type.ptr == NULL)
            continue;
        flat++;
        o->requirements = (struct source_requirements){ARENA_ARRAY(&r->s->arena, struct source_requirement, 2), 0};
        if (o->flat_capacity_type.ptr != NULL)
            o->requirements.items[o->requirements.count++] =
                one_value(&r->s->arena, SYM_CAPACITY_TYPE, o->flat_capacity_type);
        if (o->flat_zone.ptr != NULL)
            o->requirements.items[o->requirements.count++] = one_value(&r->s->arena, SYM_ZONE, o->flat_zone);
    }
    if (flat != 0 && !r->converts)
        mistake(r, v, "offerings",
                "have a capacityType and a zone instead of requirements, as the kwok provider wrote them before; "
                "convert the file: stowage catalogue from-kwok FILE");
}

static void read_type(struct reading *r, struct doc_value v, const struct schema *schema, struct source_type *t)
{
    struct span name = doc_text_at(v, SPAN("name"));
    if (name.len != 0)
        r->entry = arena_dup(&r->s->arena, name);
    decode_value(&r->decode, v, schema, t);
    check_type(r, v, t);
    from_flat(r, v, t);
}

static void read_types(struct reading *r, struct doc_value list, const struct schema *schema, const char *path)
{
    uint32_t capacity = 0, index = 0;
    for (struct doc_iter it = doc_iter_of(list); doc_next(&it); index++) {
        struct source_type t;
        r->entry = (struct span){0};
        if (index == TYPES_MAX || r->wrong >= MISTAKES_MAX) {
            mistake(r, it.value, path, index == TYPES_MAX ? "more than 100000 instance types" : "the rest is not read");
            return;
        }
        r->entry = arena_printf(&r->s->arena, "%s[%u]", path, index);
        if (doc_type(it.value) != DOC_OBJECT) {
            on_mistake(r, doc_line(it.value), (struct span){0},
                       arena_printf(&r->s->arena, "is %s, not an instance type", doc_type_name(doc_type(it.value))));
            continue;
        }
        uint32_t before = r->wrong;
        read_type(r, it.value, schema, &t);
        t.index = index;
        if (r->wrong == before) /* of one that cannot be read nothing else is told */
            ARENA_PUSH(&r->s->arena, r->s->types, r->s->count, capacity, t);
    }
    r->entry = (struct span){0};
}

/* False: it is nothing that could be a catalogue. */
static bool read_root(struct reading *r, struct doc_value root, struct doc_value *types_out)
{
    struct source_file f;
    struct catalogue_source *s = r->s;
    switch (doc_type(root)) {
    case DOC_ARRAY:
        *types_out = root;
        read_types(r, root, &type_kwok, "");
        return true;
    case DOC_OBJECT:
        decode_value(&r->decode, root, &file_schema, &f);
        *types_out = f.types;
        if (f.types.doc != NULL)
            read_types(r, f.types, &type_superset, "instanceTypes");
        s->reservation_id_label = f.reservation_id_label;
        s->well_known = f.well_known;
        s->unsupported_drivers = f.drivers;
        s->repair = f.repair;
        s->unsupported_topology_keys = f.topology_keys;
        return true;
    default:
        on_mistake(r, 0, (struct span){0},
                   arena_printf(&s->arena,
                                "holds %s; an instance type catalogue is a JSON array, or an object "
                                "with instanceTypes",
                                doc_type_name(doc_type(root))));
        return false;
    }
}

/* Line and reason of what is no JSON at all: the parser says "line 3: why". */
static void tell_syntax(struct reading *r, const struct doc_parser *p, const struct err *err)
{
    struct span why, told = span_of(err->msg);
    uint32_t line = doc_fault_line(p);
    if (line != 0 && span_has_prefix(span_cut(told, ':', &why), SPAN("line ")))
        span_cut(why, ' ', &told);
    on_mistake(r, line, (struct span){0}, told);
}

/* NULL: a mistake was told. */
static struct catalogue_source *read_all(struct span json, struct span name, struct reading *r, bool and_check)
{
    struct doc_parser *p = doc_parser_new();
    const struct doc *doc;
    struct err err = {0};
    struct doc_value types = {0};
    r->s = catalogue_source_new();
    r->decode = (struct decode){.arena = &r->s->arena,
                                .mistake = on_mistake,
                                .unknown = and_check ? on_unknown : NULL,
                                .user = r};
    if (!doc_parse_json(p, json, &doc, &err))
        tell_syntax(r, p, &err);
    else if (read_root(r, doc_root(doc), &types) && and_check && types.doc != NULL)
        catalogue_check_types(r->s, types, r->tell, r->user);
    doc_parser_free(p);
    if (r->wrong != 0) {
        catalogue_source_free(r->s);
        return NULL;
    }
    r->s->name = arena_dup(&r->s->arena, name);
    catalogue_source_finish(r->s);
    return r->s;
}

struct first_mistake {
    struct span file;
    struct err *err;
    bool told;
};

static void keep_first(void *user, enum catalogue_level level, uint32_t line, struct span text)
{
    struct first_mistake *m = user;
    if (m->told || level != CATALOGUE_UNREADABLE)
        return;
    m->told = true;
    if (line != 0)
        err_set(m->err, ERR_INVALID, "%.*s:%u: %.*s", SPAN_ARG(m->file), line, SPAN_ARG(text));
    else
        err_set(m->err, ERR_INVALID, "%.*s: %.*s", SPAN_ARG(m->file), SPAN_ARG(text));
}

static bool read_first(struct span json, struct span name, bool converts, struct catalogue_source **out, struct err *err)
{
    struct first_mistake m = {.file = name, .err = err};
    struct reading r = {.tell = keep_first, .user = &m, .converts = converts};
    struct catalogue_source *s = read_all(json, name, &r, false);
    if (s != NULL)
        *out = s;
    return s != NULL;
}

bool catalogue_decode(struct span json, struct span name, struct catalogue_source **out, struct err *err)
{
    return read_first(json, name, false, out, err);
}

bool catalogue_decode_kwok(struct span json, struct span name, struct catalogue_source **out, struct err *err)
{
    return read_first(json, name, true, out, err);
}

struct catalogue_source *catalogue_check(struct span json, struct span name, catalogue_told *tell, void *user)
{
    struct reading r = {.tell = tell, .user = user};
    return read_all(json, name, &r, true);
}
