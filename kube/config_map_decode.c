#include "kube/config_map.h"

#include "kube/meta_fields.h"

static const struct field entry_fields[] = {
    FIELD(struct config_entry, key, FIELD_SPAN, "key"),
    FIELD(struct config_entry, value, FIELD_SPAN, "value"),
};
static const struct schema entry_schema = SCHEMA(struct config_entry, "text", entry_fields);

static const struct field config_map_fields[] = {
    FIELD(struct config_map, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    FIELD(struct config_map, data, FIELD_MAP, "data", .schema = &entry_schema),
};
const struct schema config_map_schema =
    SCHEMA_WITH(struct config_map, "ConfigMap", config_map_fields, .also = "apiVersion kind binaryData immutable");
