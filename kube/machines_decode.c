#include "kube/machines.h"

#include "kube/meta_fields.h"

/* ---- MachineDeployment, MachineSet, MachinePool ---- */

static const struct field template_meta_fields[] = {
    FIELD(struct machine_group, machine_labels, FIELD_MAP, "labels", .schema = &label_schema),
};
static const struct schema template_meta = SCHEMA(struct machine_group, "metadata", template_meta_fields);

static const struct field template_spec_fields[] = {
    FIELD(struct machine_group, taints, FIELD_LIST, "taints", .schema = &taint_schema),
};
static const struct schema template_spec = SCHEMA(struct machine_group, "spec", template_spec_fields);

static const struct field template_fields[] = {
    {.name = "metadata", .kind = FIELD_OBJECT, .schema = &template_meta},
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &template_spec},
};
static const struct schema template_schema = SCHEMA(struct machine_group, "template", template_fields);

static const struct field group_spec_fields[] = {
    FIELD(struct machine_group, cluster, FIELD_SPAN, "clusterName"),
    FIELD(struct machine_group, replicas, FIELD_INT32, "replicas", FIELD_HAS(struct machine_group, has_replicas)),
    FIELD(struct machine_group, selector, FIELD_OBJECT, "selector", .schema = &label_selector_schema),
    {.name = "template", .kind = FIELD_OBJECT, .schema = &template_schema},
    FIELD(struct machine_group, ids, FIELD_SPANS, "providerIDList"),
};
static const struct schema group_spec = SCHEMA(struct machine_group, "spec", group_spec_fields);

static const struct field group_status_fields[] = {
    FIELD(struct machine_group, status_replicas, FIELD_INT32, "replicas"),
};
static const struct schema group_status = SCHEMA(struct machine_group, "status", group_status_fields);

static const struct field group_fields[] = {
    FIELD(struct machine_group, meta, FIELD_OBJECT, "metadata", .schema = &machine_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &group_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &group_status},
};
const struct schema machine_group_schema = SCHEMA(struct machine_group, "machine group", group_fields);

/* ---- Machine ---- */

static const struct field machine_spec_fields[] = {
    FIELD(struct cluster_machine, cluster, FIELD_SPAN, "clusterName"),
    FIELD(struct cluster_machine, provider_id, FIELD_SPAN, "providerID"),
};
static const struct schema machine_spec = SCHEMA(struct cluster_machine, "spec", machine_spec_fields);

static const struct field node_ref_fields[] = {FIELD(struct cluster_machine, node, FIELD_SPAN, "name")};
static const struct schema node_ref = SCHEMA(struct cluster_machine, "nodeRef", node_ref_fields);

static const struct field failure_fields[] = {FIELD(struct cluster_machine, failure, FIELD_SPAN, "failureMessage")};
static const struct schema old_failure = SCHEMA(struct cluster_machine, "v1beta1", failure_fields);

static const struct field deprecated_fields[] = {{.name = "v1beta1", .kind = FIELD_OBJECT, .schema = &old_failure}};
static const struct schema deprecated = SCHEMA(struct cluster_machine, "deprecated", deprecated_fields);

static const struct field machine_status_fields[] = {
    {.name = "nodeRef", .kind = FIELD_OBJECT, .schema = &node_ref},
    FIELD(struct cluster_machine, phase, FIELD_SPAN, "phase"),
    FIELD(struct cluster_machine, failure, FIELD_SPAN, "failureMessage"),
    {.name = "deprecated", .kind = FIELD_OBJECT, .schema = &deprecated},
};
static const struct schema machine_status = SCHEMA(struct cluster_machine, "status", machine_status_fields);

static const struct field machine_fields[] = {
    FIELD(struct cluster_machine, meta, FIELD_OBJECT, "metadata", .schema = &machine_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &machine_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &machine_status},
};
const struct schema cluster_machine_schema = SCHEMA(struct cluster_machine, "Machine", machine_fields);

/* ---- ClusterAPINodeClass ---- */

static const struct field class_spec_fields[] = {
    FIELD(struct cluster_api_node_class, selector, FIELD_OBJECT, "scalableResourceSelector", .schema = &label_selector_schema),
};
static const struct schema class_spec = SCHEMA_WITH(struct cluster_api_node_class, "spec", class_spec_fields, .also = "");

static const struct field class_status_fields[] = {
    FIELD(struct cluster_api_node_class, conditions, FIELD_LIST, "conditions", .schema = &condition_schema),
};
static const struct schema class_status = SCHEMA_WITH(struct cluster_api_node_class, "status", class_status_fields, .also = "");

static const struct field class_fields[] = {
    FIELD(struct cluster_api_node_class, meta, FIELD_OBJECT, "metadata", .schema = &meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &class_spec},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &class_status},
};
const struct schema cluster_api_node_class_schema = SCHEMA_WITH(struct cluster_api_node_class, "ClusterAPINodeClass", class_fields,
                                                                .also = "apiVersion kind");
