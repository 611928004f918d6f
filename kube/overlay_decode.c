#include "kube/meta_fields.h"
#include "kube/overlay.h"

static const struct field spec_fields[] = {
    FIELD(struct node_overlay, requirements, FIELD_LIST, "requirements",
          .schema = &overlay_expression_schema, .needed = true),
    FIELD(struct node_overlay, price, FIELD_SPAN, "price"),
    FIELD(struct node_overlay, adjustment, FIELD_SPAN, "priceAdjustment"),
    FIELD(struct node_overlay, capacity, FIELD_MAP, "capacity", .schema = &resource_schema,
          FIELD_HAS(struct node_overlay, has_capacity)),
    FIELD(struct node_overlay, weight, FIELD_INT32, "weight", .low = 1, .high = 10000),
};
static const struct schema spec_schema =
    SCHEMA_WITH(struct node_overlay, "spec", spec_fields, .also = "");

static const struct field status_fields[] = {
    FIELD(struct node_overlay, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
};
static const struct schema status_schema =
    SCHEMA_WITH(struct node_overlay, "status", status_fields, .also = "");

static const struct field overlay_fields[] = {
    FIELD(struct node_overlay, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
const struct schema node_overlay_schema =
    SCHEMA_WITH(struct node_overlay, "NodeOverlay", overlay_fields, .also = "apiVersion kind");
