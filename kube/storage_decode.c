/* PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode. */
#include "kube/meta_fields.h"
#include "kube/storage.h"

static bool text_is(struct doc_value v, struct span text, bool *out, struct err *err)
{
    if (doc_type(v) != DOC_STRING)
        return decode_refuse(v, "a string", err);
    *out = span_eq(doc_text(v), text);
    return true;
}

/* --- PersistentVolumeClaim --- */

static bool decode_lost(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    return text_is(v, SPAN("Lost"), out, err);
}

static const struct field claim_spec_fields[] = {
    FIELD(struct volume_claim, volume, FIELD_SPAN, "volumeName"),
    FIELD(struct volume_claim, storage_class, FIELD_SYM, "storageClassName"),
};
const struct schema volume_claim_spec_schema =
    SCHEMA_WITH(struct volume_claim, "spec", claim_spec_fields, CLAIM_NAMES);

static const struct field claim_status_fields[] = {
    FIELD(struct volume_claim, lost, FIELD_SCALAR, "phase", .scalar = decode_lost),
};
static const struct schema claim_status =
    SCHEMA(struct volume_claim, "status", claim_status_fields);

static const struct field claim_fields[] = {
    FIELD(struct volume_claim, meta, FIELD_OBJECT, "metadata", .schema = &volume_claim_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &volume_claim_spec_schema},
    {.name = "status", .kind = FIELD_OBJECT, .schema = &claim_status},
};
const struct schema volume_claim_schema =
    SCHEMA_WITH(struct volume_claim, "PersistentVolumeClaim", claim_fields,
                .also = "apiVersion kind");

/* --- PersistentVolume --- */

static const struct schema presence = {.name = "object", .size = sizeof(struct volume)};

static const struct field csi_fields[] = {
    FIELD(struct volume, driver, FIELD_SYM, "driver"),
};
static const struct schema csi =
    SCHEMA_WITH(struct volume, "csi", csi_fields,
                .also = "volumeHandle readOnly fsType volumeAttributes controllerPublishSecretRef "
                        "nodeStageSecretRef nodePublishSecretRef controllerExpandSecretRef "
                        "nodeExpandSecretRef");

static const struct field affinity_terms_fields[] = {
    FIELD(struct volume, affinity, FIELD_LIST, "nodeSelectorTerms", .schema = &node_term_schema),
};
static const struct schema affinity_terms =
    SCHEMA_WITH(struct volume, "node selector", affinity_terms_fields, .also = "");

static const struct field volume_affinity_fields[] = {
    {.name = "required",
     .kind = FIELD_OBJECT,
     .present = offsetof(struct volume, has_affinity),
     .schema = &affinity_terms},
};
static const struct schema volume_affinity =
    SCHEMA_WITH(struct volume, "nodeAffinity", volume_affinity_fields, .also = "");

#define VOLUME_SOURCE(name_, flag)                                                                 \
    {                                                                                              \
        .name = (name_), .kind = FIELD_OBJECT, .schema = &presence,                                \
        .present = offsetof(struct volume, flag)                                                   \
    }

static const struct field volume_spec_fields[] = {
    {.name = "csi", .kind = FIELD_OBJECT, .schema = &csi},
    VOLUME_SOURCE("awsElasticBlockStore", is_ebs),
    VOLUME_SOURCE("local", is_local),
    VOLUME_SOURCE("hostPath", is_local),
    {.name = "nodeAffinity", .kind = FIELD_OBJECT, .schema = &volume_affinity},
};
static const struct schema volume_spec =
    SCHEMA_WITH(struct volume, "spec", volume_spec_fields,
                .also = "capacity accessModes claimRef persistentVolumeReclaimPolicy "
                        "storageClassName mountOptions volumeMode volumeAttributesClassName "
                        "gcePersistentDisk glusterfs nfs rbd iscsi cinder cephfs fc flocker "
                        "flexVolume azureFile vsphereVolume quobyte azureDisk "
                        "photonPersistentDisk portworxVolume scaleIO storageos");

static const struct field volume_fields[] = {
    FIELD(struct volume, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &volume_spec},
};
const struct schema volume_schema =
    SCHEMA_WITH(struct volume, "PersistentVolume", volume_fields, .also = "apiVersion kind status");

/* --- StorageClass --- */

static bool decode_waits(struct decode *d, struct doc_value v, void *out, struct err *err)
{
    (void)d;
    return text_is(v, SPAN("WaitForFirstConsumer"), out, err);
}

static const struct field label_values_fields[] = {
    FIELD(struct expression, key, FIELD_SYM, "key"),
    FIELD(struct expression, values, FIELD_SYMS, "values"),
};
static void check_label_values(struct decode *d, struct doc_value v, const void *object)
{
    const struct expression *e = object;
    decode_check_key(d, v, "key", e->key);
    if (e->values.count == 0)
        decode_invalid_in(d, v, "values", "is empty; at least one is needed");
}

static const struct schema label_values_wire =
    SCHEMA_WITH(struct expression, "topology", label_values_fields, .also = "",
                .check = check_label_values);

/* The operator is not written: it is always In. */
static void label_values_convert(struct decode *d, const void *wire, void *out)
{
    struct expression *e = out;
    (void)d;
    *e = *(const struct expression *)wire;
    e->op = OP_IN;
}

static const struct schema label_values = {
    .name = "topology",
    .size = sizeof(struct expression),
    .count = COUNT_OF(label_values_fields),
    .fields = label_values_fields,
    .wire = &label_values_wire,
    .convert = label_values_convert,
};

static const struct field topology_term_fields[] = {
    FIELD(struct topology_term, expressions, FIELD_LIST, "matchLabelExpressions",
          .schema = &label_values),
};
static const struct schema topology_term_schema =
    SCHEMA_WITH(struct topology_term, "topology term", topology_term_fields, .also = "");

static const struct field class_fields[] = {
    FIELD(struct storage_class, meta, FIELD_OBJECT, "metadata",
          .schema = &storage_class_meta_schema),
    FIELD(struct storage_class, provisioner, FIELD_SYM, "provisioner", .needed = true),
    FIELD(struct storage_class, waits, FIELD_SCALAR, "volumeBindingMode", .scalar = decode_waits),
    FIELD(struct storage_class, topologies, FIELD_LIST, "allowedTopologies",
          .schema = &topology_term_schema),
};
static void check_class(struct decode *d, struct doc_value v, const void *object)
{
    (void)object;
    struct span mode = doc_text_at(v, SPAN("volumeBindingMode"));
    if (mode.ptr != NULL && !span_eq(mode, SPAN("Immediate")) &&
        !span_eq(mode, SPAN("WaitForFirstConsumer")))
        decode_invalid_in(d, v, "volumeBindingMode",
                          "\"%.*s\" is not a mode; use Immediate or WaitForFirstConsumer", SPAN_ARG(mode));
}

const struct schema storage_class_schema =
    SCHEMA_WITH(struct storage_class, "StorageClass", class_fields,
                .check = check_class,
                .also = "apiVersion kind parameters reclaimPolicy mountOptions "
                        "allowVolumeExpansion");

/* --- CSINode --- */

static const struct field allocatable_fields[] = {
    FIELD(struct csi_driver, limit, FIELD_INT32, "count", .low = 0, .high = INT32_MAX,
          FIELD_HAS(struct csi_driver, has_limit)),
};
static const struct schema allocatable_schema =
    SCHEMA_WITH(struct csi_driver, "allocatable", allocatable_fields, .also = "");

static const struct field csi_driver_fields[] = {
    FIELD(struct csi_driver, name, FIELD_SYM, "name"),
    {.name = "allocatable", .kind = FIELD_OBJECT, .schema = &allocatable_schema},
};
static const struct schema csi_driver_schema =
    SCHEMA_WITH(struct csi_driver, "driver", csi_driver_fields, .also = "nodeID topologyKeys");

static const struct field csi_spec_fields[] = {
    FIELD(struct csi_node, drivers, FIELD_LIST, "drivers", .schema = &csi_driver_schema),
};
static const struct schema csi_spec =
    SCHEMA_WITH(struct csi_node, "spec", csi_spec_fields, .also = "");

static const struct field csi_node_fields[] = {
    FIELD(struct csi_node, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &csi_spec},
};
const struct schema csi_node_schema =
    SCHEMA_WITH(struct csi_node, "CSINode", csi_node_fields, .also = "apiVersion kind");

/* --- VolumeAttachment --- */

static const struct field attachment_source_fields[] = {
    FIELD(struct volume_attachment, volume, FIELD_SPAN, "persistentVolumeName"),
};
static const struct schema attachment_source =
    SCHEMA_WITH(struct volume_attachment, "source", attachment_source_fields,
                .also = "inlineVolumeSpec");

static const struct field attachment_spec_fields[] = {
    FIELD(struct volume_attachment, node, FIELD_SYM, "nodeName"),
    {.name = "source", .kind = FIELD_OBJECT, .schema = &attachment_source},
};
static const struct schema attachment_spec =
    SCHEMA_WITH(struct volume_attachment, "spec", attachment_spec_fields, .also = "attacher");

static const struct field attachment_fields[] = {
    FIELD(struct volume_attachment, meta, FIELD_OBJECT, "metadata", .schema = &plain_meta_schema),
    {.name = "spec", .kind = FIELD_OBJECT, .schema = &attachment_spec},
};
const struct schema volume_attachment_schema =
    SCHEMA_WITH(struct volume_attachment, "VolumeAttachment", attachment_fields,
                .also = "apiVersion kind status");
