#include "kube/storage.h"

bool volume_claim_is_bound(const struct volume_claim *c)
{
    return annotations_get(c->meta.annotations, SYM_BIND_COMPLETED).ptr != NULL;
}

struct span volume_claim_selected_node(const struct volume_claim *c)
{
    return annotations_get(c->meta.annotations, SYM_SELECTED_NODE);
}

bool storage_class_is_default(const struct storage_class *c)
{
    return span_eq(annotations_get(c->meta.annotations, SYM_DEFAULT_CLASS), SPAN("true"));
}
