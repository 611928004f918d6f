#include "kube/meta_fields.h"
#include "kube/provisioning_request.h"

static const struct field template_ref_fields[] = {
    FIELD(struct request_pods, template, FIELD_SPAN, "name", .needed = true),
};
static const struct schema template_ref = SCHEMA_WITH(struct request_pods, "podTemplateRef", template_ref_fields, .also = "");

static const struct field pods_fields[] = {
    {.name = "podTemplateRef", .kind = FIELD_OBJECT, .schema = &template_ref, .needed = true},
    FIELD(struct request_pods, count, FIELD_INT32, "count", .needed = true, .low = 1, .high = INT32_MAX),
};
static const struct schema pods_schema = SCHEMA_WITH(struct request_pods, "pod set", pods_fields, .also = "");

static const struct field parameter_fields[] = {
    FIELD(struct request_parameter, key, FIELD_SPAN, "key"),
    FIELD(struct request_parameter, value, FIELD_SPAN, "value"),
};
static const struct schema parameter_schema = SCHEMA(struct request_parameter, "parameter", parameter_fields);

static const struct field spec_fields[] = {
    FIELD(struct provisioning_request, pods, FIELD_LIST, "podSets", .schema = &pods_schema, .needed = true),
    FIELD(struct provisioning_request, class_name, FIELD_SPAN, "provisioningClassName", .needed = true),
    FIELD(struct provisioning_request, parameters, FIELD_MAP, "parameters", .schema = &parameter_schema),
};
static const struct schema spec_schema = SCHEMA_WITH(struct provisioning_request, "spec", spec_fields, .also = "");

static const struct field status_fields[] = {
    FIELD(struct provisioning_request, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
};
static const struct schema status_schema =
    SCHEMA_WITH(struct provisioning_request, "status", status_fields, .also = "provisioningClassDetails");

static const struct field request_fields[] = {
    FIELD(struct provisioning_request, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &spec_schema, .needed = true},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &status_schema},
};
const struct schema provisioning_request_schema =
    SCHEMA_WITH(struct provisioning_request, "ProvisioningRequest", request_fields, .also = "apiVersion kind");

struct span provisioning_request_parameter(const struct provisioning_request *r, struct span key)
{
    for (uint32_t i = 0; i < r->parameters.count; i++)
        if (span_eq(r->parameters.items[i].key, key))
            return r->parameters.items[i].value;
    return (struct span){NULL, 0};
}
