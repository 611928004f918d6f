/* DaemonSet, PodDisruptionBudget, Namespace, Service, ReplicaSet, StatefulSet,
 * ReplicationController. */
#include "kube/meta_fields.h"
#include "kube/workload.h"

static const struct field daemon_spec_fields[] = {
    FIELD(struct daemon_set, template, FIELD_OBJECT, "template", .schema = &pod_template_schema),
};
static const struct schema daemon_spec = SCHEMA(struct daemon_set, "spec", daemon_spec_fields);

static const struct field daemon_fields[] = {
    FIELD(struct daemon_set, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &daemon_spec},
};
const struct schema daemon_set_schema = SCHEMA(struct daemon_set, "DaemonSet", daemon_fields);

/* An integer or a percentage, kept as text. */
static bool decode_int_or_string(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    enum doc_type type = doc_type(v);
    if (type != DOC_STRING && type != DOC_NUMBER)
        return decode_refuse(v, "an integer or a percentage", err);
    struct span text = doc_text(v), digits = text;
    if (type == DOC_STRING && span_has_suffix(text, SPAN("%")))
        digits.len--;
    int64_t number;
    if (!span_int64(digits, &number))
        return decode_refuse(v, "an integer or a percentage", err);
    *(struct span *)out = arena_dup(d->arena, text);
    return true;
}

static bool decode_always_allow(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    *(bool *)out = span_eq(doc_text(v), SPAN("AlwaysAllow"));
    return true;
}

static const struct field budget_spec_fields[] = {
    FIELD(struct disruption_budget, selector, FIELD_OBJECT, "selector",
          .schema = &label_selector_schema, FIELD_HAS(struct disruption_budget, has_selector)),
    FIELD(struct disruption_budget, max_unavailable, FIELD_SCALAR, "maxUnavailable",
          .scalar = decode_int_or_string),
    FIELD(struct disruption_budget, min_available, FIELD_SCALAR, "minAvailable",
          .scalar = decode_int_or_string),
    FIELD(struct disruption_budget, evict_unhealthy, FIELD_SCALAR, "unhealthyPodEvictionPolicy",
          .scalar = decode_always_allow),
};
static const struct schema budget_spec =
    SCHEMA(struct disruption_budget, "spec", budget_spec_fields);

static const struct field budget_status_fields[] = {
    FIELD(struct disruption_budget, disruptions_allowed, FIELD_INT32, "disruptionsAllowed"),
    FIELD(struct disruption_budget, expected, FIELD_INT32, "expectedPods"),
    FIELD(struct disruption_budget, desired, FIELD_INT32, "desiredHealthy"),
    FIELD(struct disruption_budget, healthy, FIELD_INT32, "currentHealthy"),
};
static const struct schema budget_status =
    SCHEMA(struct disruption_budget, "status", budget_status_fields);

static const struct field budget_wire_fields[] = {
    FIELD(struct disruption_budget, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &budget_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &budget_status},
};
static const struct schema budget_wire =
    SCHEMA(struct disruption_budget, "PodDisruptionBudget", budget_wire_fields);

/* The same struct: only that the texts read by a scalar are to be packed as texts. */
static void budget_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    *(struct disruption_budget *)out = *(const struct disruption_budget *)wire;
}

static const struct field budget_fields[] = {
    FIELD(struct disruption_budget, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct disruption_budget, selector, FIELD_OBJECT, "selector",
          .schema = &label_selector_schema),
    FIELD(struct disruption_budget, max_unavailable, FIELD_SPAN, "maxUnavailable"),
    FIELD(struct disruption_budget, min_available, FIELD_SPAN, "minAvailable"),
};
const struct schema disruption_budget_schema = {
    .name = "PodDisruptionBudget",
    .size = sizeof(struct disruption_budget),
    .count = COUNT_OF(budget_fields),
    .fields = budget_fields,
    .wire = &budget_wire,
    .convert = budget_convert,
};

static const struct field namespace_fields[] = {
    FIELD(struct ns, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
};
const struct schema namespace_schema = SCHEMA(struct ns, "Namespace", namespace_fields);

static const struct field service_spec_fields[] = {
    FIELD(struct service, selector, FIELD_MAP, "selector", .schema = &label_schema,
          FIELD_HAS(struct service, has_selector)),
};
static const struct schema service_spec = SCHEMA(struct service, "spec", service_spec_fields);

static const struct field service_fields[] = {
    FIELD(struct service, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &service_spec},
};
const struct schema service_schema = SCHEMA(struct service, "Service", service_fields);

static const struct field controller_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
};
static const struct schema controller_spec =
    SCHEMA(struct controller, "spec", controller_spec_fields);

static const struct field controller_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &controller_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &controller_spec},
};
const struct schema controller_schema = SCHEMA(struct controller, "controller", controller_fields);

static const struct field scalable_spec_fields[] = {
    FIELD(struct controller, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    FIELD(struct controller, replicas, FIELD_INT32, "replicas",
          FIELD_HAS(struct controller, has_replicas)),
    FIELD(struct controller, template, FIELD_POINTER, "template", .schema = &pod_template_schema),
};
static const struct schema scalable_spec = SCHEMA(struct controller, "spec", scalable_spec_fields);

static const struct field scalable_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &scaled_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &scalable_spec},
};
const struct schema scalable_schema = SCHEMA(struct controller, "workload", scalable_fields);

static const struct field replication_spec_fields[] = {
    FIELD(struct controller, selector.match_labels, FIELD_MAP, "selector", .schema = &label_schema),
};
static const struct schema replication_spec =
    SCHEMA(struct controller, "spec", replication_spec_fields);

static const struct field replication_fields[] = {
    FIELD(struct controller, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &replication_spec},
};
const struct schema replication_controller_schema =
    SCHEMA(struct controller, "ReplicationController", replication_fields);
