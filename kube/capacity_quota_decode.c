#include "kube/capacity_quota.h"
#include "kube/meta_fields.h"

static const struct field limits_fields[] = {
    FIELD(struct capacity_quota, limits, FIELD_MAP, "resources", .schema = &resource_schema, .needed = true),
};
static const struct schema limits_schema = SCHEMA_WITH(struct capacity_quota, "limits", limits_fields, .also = "");

static const struct field spec_fields[] = {
    FIELD(struct capacity_quota, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    {.name = "limits", .kind = FIELD_OBJECT, .schema = &limits_schema, .needed = true},
};
static const struct schema spec_schema = SCHEMA_WITH(struct capacity_quota, "spec", spec_fields, .also = "");

static const struct field used_fields[] = {
    FIELD(struct capacity_quota, used, FIELD_MAP, "resources", .schema = &resource_schema),
};
static const struct schema used_schema = SCHEMA_WITH(struct capacity_quota, "used", used_fields, .also = "");

static const struct field status_fields[] = {
    FIELD(struct capacity_quota, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
    FIELD(struct capacity_quota, observed_generation, FIELD_INT64, "observedGeneration"),
    {.name = "used", .kind = FIELD_OBJECT, .schema = &used_schema},
};
static const struct schema status_schema = SCHEMA_WITH(struct capacity_quota, "status", status_fields, .also = "");

static const struct field quota_fields[] = {
    FIELD(struct capacity_quota, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema, .needed = true},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
const struct schema capacity_quota_schema =
    SCHEMA_WITH(struct capacity_quota, "CapacityQuota", quota_fields, .also = "apiVersion kind");
