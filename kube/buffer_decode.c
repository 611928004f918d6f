#include "kube/buffer.h"
#include "kube/meta_fields.h"

static const struct field template_ref_fields[] = {
    FIELD(struct capacity_buffer, pod_template, FIELD_SPAN, "name"),
};
static const struct schema template_ref =
    SCHEMA_WITH(struct capacity_buffer, "podTemplateRef", template_ref_fields, .also = "");

static const struct field scalable_ref_fields[] = {
    FIELD(struct capacity_buffer, scalable_group, FIELD_SPAN, "apiGroup"),
    FIELD(struct capacity_buffer, scalable_kind, FIELD_SPAN, "kind"),
    FIELD(struct capacity_buffer, scalable_name, FIELD_SPAN, "name"),
};
static const struct schema scalable_ref =
    SCHEMA_WITH(struct capacity_buffer, "scalableRef", scalable_ref_fields, .also = "");

static const struct field spec_fields[] = {
    {.name = "podTemplateRef", .kind = FIELD_OBJECT, .schema = &template_ref},
    {.name = "scalableRef", .kind = FIELD_OBJECT, .schema = &scalable_ref,
     FIELD_HAS(struct capacity_buffer, has_scalable)},
    FIELD(struct capacity_buffer, replicas, FIELD_INT32, "replicas", .low = 0, .high = INT32_MAX,
          FIELD_HAS(struct capacity_buffer, has_replicas)),
    FIELD(struct capacity_buffer, percentage, FIELD_INT32, "percentage", .low = 0,
          .high = INT32_MAX, FIELD_HAS(struct capacity_buffer, has_percentage)),
    FIELD(struct capacity_buffer, limits, FIELD_MAP, "limits", .schema = &resource_schema),
    FIELD(struct capacity_buffer, strategy, FIELD_SPAN, "provisioningStrategy"),
};
static const struct schema spec_schema =
    SCHEMA_WITH(struct capacity_buffer, "spec", spec_fields, .also = "");

static const struct field status_template_fields[] = {
    FIELD(struct capacity_buffer, status_template, FIELD_SPAN, "name"),
};
static const struct schema status_template =
    SCHEMA_WITH(struct capacity_buffer, "podTemplateRef", status_template_fields, .also = "");

static const struct field status_fields[] = {
    FIELD(struct capacity_buffer, conditions, FIELD_LIST, "conditions",
          .schema = &condition_schema),
    FIELD(struct capacity_buffer, status_replicas, FIELD_INT32, "replicas",
          FIELD_HAS(struct capacity_buffer, has_status_replicas)),
    FIELD(struct capacity_buffer, template_generation, FIELD_INT64, "podTemplateGeneration",
          FIELD_HAS(struct capacity_buffer, has_template_generation)),
    FIELD(struct capacity_buffer, status_strategy, FIELD_SPAN, "provisioningStrategy"),
    {.name = "podTemplateRef", .kind = FIELD_OBJECT, .schema = &status_template},
};
static const struct schema status_schema =
    SCHEMA_WITH(struct capacity_buffer, "status", status_fields, .also = "");

static const struct field buffer_fields[] = {
    FIELD(struct capacity_buffer, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
const struct schema capacity_buffer_schema =
    SCHEMA_WITH(struct capacity_buffer, "CapacityBuffer", buffer_fields, .also = "apiVersion kind");

static const struct field template_fields[] = {
    FIELD(struct pod_template, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct pod_template, template, FIELD_OBJECT, "template", .schema = &pod_template_schema),
};
const struct schema pod_template_object_schema =
    SCHEMA_WITH(struct pod_template, "PodTemplate", template_fields, .also = "apiVersion kind");
