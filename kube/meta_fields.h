/* meta_fields: what the *_decode.c files of this folder share and nobody else needs. */
#ifndef KUBE_META_FIELDS_H
#define KUBE_META_FIELDS_H

#include "kube/pod.h"

extern const struct schema pod_meta_schema;        /* meta without the uid of owners */
extern const struct schema claim_meta_schema;      /* meta with every annotation */
extern const struct schema machine_meta_schema;    /* with the annotations of Cluster API and of its autoscaler */
extern const struct schema quiet_condition_schema; /* condition without its message */
extern const struct schema pod_condition_schema; /* its message lives as long as the text */
extern const struct schema plain_meta_schema;      /* identity, version and deletion alone */
extern const struct schema controller_meta_schema; /* the same, and the owners without their uids */
extern const struct schema scaled_meta_schema;     /* and the generation */
extern const struct schema volume_claim_meta_schema; /* and whether the binding is complete */
extern const struct schema volume_claim_spec_schema; /* of a struct volume_claim */
extern const struct schema storage_class_meta_schema; /* and whether it is the default */
extern const struct schema node_term_schema;       /* struct node_term */
/* Of a PersistentVolumeClaim's spec, beside what is read of one or another. */
#define CLAIM_NAMES                                                                                \
    .also = "accessModes selector resources volumeName storageClassName volumeMode dataSource "    \
            "dataSourceRef volumeAttributesClassName"
/* struct expression, of which expression_schema reads those of NodePools and NodeClaims */
extern const struct schema overlay_expression_schema, node_expression_schema, node_field_schema;

decode_scalar decode_quantity; /* of a struct resource, not below 0 */

/* Sets err to "<the value> is not <what>"; returns false. */
bool decode_refuse(struct doc_value v, const char *what, struct err *err);
/* Of a check: tells that the member, read as `key`, is missing or no label key. */
void decode_check_key(struct decode *d, struct doc_value v, const char *member, sym key);

#endif
