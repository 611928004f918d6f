/* Field tables of what every kind is made of. JSON names stand here and in the kinds' own
 * *_decode.c, and nowhere else. */
#include "kube/meta_fields.h"
#include "kube/wellknown.h"

bool decode_refuse(struct doc_value v, const char *what, struct err *err)
{
    enum doc_type type = doc_type(v);
    if (type != DOC_STRING && type != DOC_NUMBER)
        return err_set(err, ERR_INVALID, "%s is not %s", doc_type_name(type), what);
    return err_set(err, ERR_INVALID, "\"%.*s\" is not %s", SPAN_ARG(doc_text(v)), what);
}

static bool decode_signed_quantity(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    amount *value = out;
    const struct resource *r = (const void *)((const char *)out - offsetof(struct resource, value));
    enum doc_type type = doc_type(v);
    if (type != DOC_STRING && type != DOC_NUMBER)
        return decode_refuse(v, "a quantity", err);
    struct span text = doc_text(v);
    if (quantity_parse(text, r->name == SYM_CPU ? 1000 : 1, value, err))
        return true;
    struct span better = quantity_suggest(d->arena, text);
    if (better.ptr != NULL)
        err_set(err, ERR_INVALID, "\"%.*s\" is not a quantity; did you mean \"%.*s\"?",
                SPAN_ARG(text), SPAN_ARG(better));
    return false;
}

/* Of what a pod asks for or a node has the API server admits no negative amount. */
bool decode_quantity(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    if (!decode_signed_quantity(d, v, out, err))
        return false;
    if (*(const amount *)out < 0)
        err_set(err, ERR_INVALID, "\"%.*s\" must not be negative", SPAN_ARG(doc_text(v)));
    return true;
}

/* The value's scale hangs on the key, which stands in the struct before the value is read. */
static const struct field resource_fields[] = {
    FIELD(struct resource, name, FIELD_SYM, "name"),
    FIELD(struct resource, value, FIELD_SCALAR, "value", .scalar = decode_quantity),
};
const struct schema resource_schema = SCHEMA(struct resource, "quantity", resource_fields);

static const struct field signed_resource_fields[] = {
    FIELD(struct resource, name, FIELD_SYM, "name"),
    FIELD(struct resource, value, FIELD_SCALAR, "value", .scalar = decode_signed_quantity),
};
const struct schema signed_resource_schema =
    SCHEMA(struct resource, "quantity", signed_resource_fields);

bool decode_time(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) == DOC_STRING && time_parse(doc_text(v), out))
        return true;
    return decode_refuse(v, "a time; write it like \"2026-11-20T12:00:00Z\"", err);
}

bool decode_duration(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) == DOC_STRING && duration_parse(doc_text(v), out))
        return true;
    return decode_refuse(v, "a duration; write it like \"1h30m\"", err);
}

static bool decode_version(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    int64_t number;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    /* Opaque by the API's contract; one that is no number compares as unknown. */
    *(uint64_t *)out = span_int64(doc_text(v), &number) && number > 0 ? (uint64_t)number : 0;
    return true;
}

static bool decode_status(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    struct span text = doc_text(v);
    *(enum condition_status *)out = span_eq(text, SPAN("True"))    ? CONDITION_TRUE
                                    : span_eq(text, SPAN("False")) ? CONDITION_FALSE
                                                                   : CONDITION_UNKNOWN;
    return true;
}

static bool is_read_annotation(struct span key)
{
    static const struct span domains[] = {
        SPAN_INIT("karpenter.sh"),
        SPAN_INIT("stowage.dev"),
        SPAN_INIT("kwok.x-k8s.io"),
        SPAN_INIT("controller.kubernetes.io"),
        SPAN_INIT("cluster-autoscaler.kubernetes.io"),
        SPAN_INIT("autoscaling.x-k8s.io"),
        SPAN_INIT("delay-deletion.cluster-autoscaler.kubernetes.io"),
        SPAN_INIT("cluster-autoscaler.kwok.nodegroup"),
    };
    struct span name;
    struct span domain = span_cut(key, '/', &name);
    if (span_eq(key, wellknown_text[SYM_MIRROR - 1]))
        return true; /* whose domain has much that nobody asks for */
    for (size_t i = 0; i < COUNT_OF(domains); i++)
        if (span_eq(domain, domains[i]))
            return true;
    return false;
}

static const struct field annotation_fields[] = {
    FIELD(struct annotation, key, FIELD_SYM, "key"),
    FIELD(struct annotation, value, FIELD_SPAN, "value"),
};
static const struct schema annotation_schema =
    SCHEMA(struct annotation, "annotation", annotation_fields);

static const struct field owner_fields[] = {
    FIELD(struct owner, api_version, FIELD_SYM, "apiVersion"),
    FIELD(struct owner, kind, FIELD_SYM, "kind"),
    FIELD(struct owner, name, FIELD_SPAN, "name"),
    FIELD(struct owner, controller, FIELD_BOOL, "controller"),
    FIELD(struct owner, uid, FIELD_SPAN, "uid"),
    FIELD(struct owner, blocks, FIELD_BOOL, "blockOwnerDeletion"),
};
static const struct schema owner_schema =
    SCHEMA(struct owner, "owner", owner_fields);
static const struct schema pod_owner_schema = {
    .name = "owner",
    .size = sizeof(struct owner),
    .fields = owner_fields,
    .count = COUNT_OF(owner_fields) - 2, /* without uid and blockOwnerDeletion */
    .also = "uid blockOwnerDeletion",
};

/* Of every kind's metadata. */
#define META_NAMES                                                                                 \
    .also = "name generateName namespace selfLink uid resourceVersion generation "                 \
            "creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations "   \
            "ownerReferences finalizers managedFields"

#define META_IDENTITY                                                                              \
    FIELD(struct meta, name, FIELD_SPAN, "name"), FIELD(struct meta, ns, FIELD_SPAN, "namespace"), \
        FIELD(struct meta, uid, FIELD_SPAN, "uid"),                                                \
        FIELD(struct meta, resource_version, FIELD_SCALAR, "resourceVersion",                      \
              .scalar = decode_version),                                                           \
        FIELD(struct meta, created, FIELD_SCALAR, "creationTimestamp", .scalar = decode_time),     \
        FIELD(struct meta, deleted, FIELD_SCALAR, "deletionTimestamp", .scalar = decode_time)

/* `common_`: labels and owners are those of many objects. */
#define META_FIELDS(owners_schema, keep_annotation, common_)                                       \
    META_IDENTITY, FIELD(struct meta, generation, FIELD_INT64, "generation"),                      \
        FIELD(struct meta, labels, FIELD_MAP, "labels", .schema = &label_schema, .common = (common_)), \
        FIELD(struct meta, annotations, FIELD_MAP, "annotations", .schema = &annotation_schema,    \
              .keep = keep_annotation),                                                            \
        FIELD(struct meta, finalizers, FIELD_SYMS, "finalizers"),                                  \
        FIELD(struct meta, owners, FIELD_LIST, "ownerReferences", .schema = &owners_schema, .common = (common_))

static const struct field meta_fields[] = {META_FIELDS(owner_schema, is_read_annotation, false)};
const struct schema meta_schema = SCHEMA_WITH(struct meta, "metadata", meta_fields, META_NAMES);

/* The API server keeps, by writer, which fields are as he wrote them, and drops who has none left. */
static bool decode_writers(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    (void)err;
    struct doc_iter it = doc_iter_of(v);
    while (doc_next(&it))
        *(bool *)out |= span_eq(doc_text_at(it.value, SPAN("manager")), SPAN(FIELD_MANAGER)) &&
                        span_eq(doc_text_at(it.value, SPAN("subresource")), SPAN("status"));
    return true;
}

static const struct field pod_meta_fields[] = {
    META_FIELDS(pod_owner_schema, is_read_annotation, true),
    FIELD(struct meta, wrote_status, FIELD_SCALAR, "managedFields", .scalar = decode_writers),
};
const struct schema pod_meta_schema = SCHEMA_WITH(struct meta, "metadata", pod_meta_fields, META_NAMES);

/* All annotations of a NodeClaim reach its Node, also those that we never read. */
static const struct field claim_meta_fields[] = {META_FIELDS(owner_schema, NULL, false)};
const struct schema claim_meta_schema = SCHEMA_WITH(struct meta, "metadata", claim_meta_fields, META_NAMES);

static bool is_machine_annotation(struct span key)
{
    static const struct span domains[] = {
        SPAN_INIT("cluster.x-k8s.io/"),
        SPAN_INIT("capacity.cluster-autoscaler.kubernetes.io/"),
        SPAN_INIT("machinedeployment.clusters.x-k8s.io/"),
        SPAN_INIT("stowage.dev/"),
    };
    for (size_t i = 0; i < COUNT_OF(domains); i++)
        if (span_has_prefix(key, domains[i]))
            return true;
    return false;
}

static const struct field machine_meta_fields[] = {META_FIELDS(pod_owner_schema, is_machine_annotation, false)};
const struct schema machine_meta_schema = SCHEMA_WITH(struct meta, "metadata", machine_meta_fields, META_NAMES);

static const struct field plain_meta_fields[] = {META_IDENTITY};
const struct schema plain_meta_schema = SCHEMA_WITH(struct meta, "metadata", plain_meta_fields, META_NAMES);

#define META_OWNERS FIELD(struct meta, owners, FIELD_LIST, "ownerReferences", .schema = &pod_owner_schema)

static const struct field controller_meta_fields[] = {META_IDENTITY, META_OWNERS};
const struct schema controller_meta_schema =
    SCHEMA_WITH(struct meta, "metadata", controller_meta_fields, META_NAMES);

static const struct field scaled_meta_fields[] = {
    META_IDENTITY, META_OWNERS, FIELD(struct meta, generation, FIELD_INT64, "generation")};
const struct schema scaled_meta_schema = SCHEMA_WITH(struct meta, "metadata", scaled_meta_fields, META_NAMES);

static bool is_binding_annotation(struct span key)
{
    return span_eq(key, SPAN("pv.kubernetes.io/bind-completed")) ||
           span_eq(key, SPAN("volume.kubernetes.io/selected-node"));
}

static const struct field volume_claim_meta_fields[] = {
    META_IDENTITY,
    FIELD(struct meta, annotations, FIELD_MAP, "annotations", .schema = &annotation_schema,
          .keep = is_binding_annotation),
};
const struct schema volume_claim_meta_schema =
    SCHEMA_WITH(struct meta, "metadata", volume_claim_meta_fields, META_NAMES);

static bool is_default_annotation(struct span key)
{
    return span_eq(key, SPAN("storageclass.kubernetes.io/is-default-class"));
}

static const struct field storage_class_meta_fields[] = {
    META_IDENTITY,
    FIELD(struct meta, annotations, FIELD_MAP, "annotations", .schema = &annotation_schema,
          .keep = is_default_annotation),
};
const struct schema storage_class_meta_schema =
    SCHEMA_WITH(struct meta, "metadata", storage_class_meta_fields, META_NAMES);

#define CONDITION_FIELDS                                                                           \
    FIELD(struct condition, type, FIELD_SPAN, "type"),                                             \
        FIELD(struct condition, reason, FIELD_SPAN, "reason"),                                     \
        FIELD(struct condition, status, FIELD_SCALAR, "status", .scalar = decode_status),          \
        FIELD(struct condition, observed_generation, FIELD_INT64, "observedGeneration"),           \
        FIELD(struct condition, transition, FIELD_SCALAR, "lastTransitionTime",                    \
              .scalar = decode_time)

static const struct field condition_fields[] = {
    CONDITION_FIELDS,
    FIELD(struct condition, message, FIELD_SPAN, "message"),
};
const struct schema condition_schema =
    SCHEMA_WITH(struct condition, "condition", condition_fields, .also = "");

static const struct field quiet_condition_fields[] = {CONDITION_FIELDS};
const struct schema quiet_condition_schema =
    SCHEMA(struct condition, "condition", quiet_condition_fields);

/* The message of a Pod's is read, but no fault of it makes the Pod one. */
static bool decode_said(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    (void)err;
    if (doc_type(v) == DOC_STRING)
        *(struct span *)out = doc_text(v);
    return true;
}

static const struct field pod_condition_fields[] = {
    CONDITION_FIELDS,
    FIELD(struct condition, message, FIELD_SCALAR, "message", .scalar = decode_said),
};
const struct schema pod_condition_schema =
    SCHEMA(struct condition, "condition", pod_condition_fields);
