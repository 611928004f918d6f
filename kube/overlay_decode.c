#include "kube/meta_fields.h"
#include "kube/object_bounds.h"
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

static const struct field wire_fields[] = {
    FIELD(struct node_overlay, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
static const struct schema overlay_wire =
    SCHEMA_WITH(struct node_overlay, "NodeOverlay", wire_fields, .also = "apiVersion kind",
                OBJECT_BOUNDS(struct node_overlay, meta));

/* The same struct: only that meta.excess, which is no member, has to be packed as a symbol. */
static void overlay_convert(struct decode *d, const void *wire, void *out)
{
    (void)d;
    *(struct node_overlay *)out = *(const struct node_overlay *)wire;
}

static const struct field overlay_fields[] = {
    FIELD(struct node_overlay, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    FIELD(struct node_overlay, meta.excess, FIELD_SYM, "excess"),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
const struct schema node_overlay_schema = {
    .name = "NodeOverlay",
    .size = sizeof(struct node_overlay),
    .count = COUNT_OF(overlay_fields),
    .fields = overlay_fields,
    .wire = &overlay_wire,
    .convert = overlay_convert,
};
