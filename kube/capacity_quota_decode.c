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

static const struct field quota_fields[] = {
    FIELD(struct capacity_quota, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema, .needed = true},
};
const struct schema capacity_quota_schema =
    SCHEMA_WITH(struct capacity_quota, "CapacityQuota", quota_fields, .also = "apiVersion kind status");

bool capacity_quota_valid(const struct capacity_quota *q)
{
    for (uint32_t i = 0; i < q->selector.match_expressions.count; i++) {
        const struct expression *e = &q->selector.match_expressions.items[i];
        bool listed = e->op == OP_IN || e->op == OP_NOT_IN, bare = e->op == OP_EXISTS || e->op == OP_DOES_NOT_EXIST;
        if (e->key == SYM_NONE || !(listed || bare) || listed != (e->values.count != 0))
            return false;
    }
    return true;
}
