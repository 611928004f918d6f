/* What a world is made of, by kind. */
#include "planner/columns.h"

bool world_input_take(struct world_input *in, enum kind k, const void *const *items, size_t count)
{
    switch (k) {
#define TAKE(kind_, list, number)                                                                  \
    case kind_:                                                                                    \
        in->list = (const void *)items;                                                            \
        in->number = count;                                                                        \
        return true
        TAKE(KIND_POD, pods, pod_count);
        TAKE(KIND_NODE, nodes, node_count);
        TAKE(KIND_NODE_CLAIM, claims, claim_count);
        TAKE(KIND_NODE_POOL, pools, pool_count);
        TAKE(KIND_DAEMON_SET, daemon_sets, daemon_set_count);
        TAKE(KIND_DISRUPTION_BUDGET, budgets, budget_count);
        TAKE(KIND_NAMESPACE, namespaces, namespace_count);
        TAKE(KIND_VOLUME_CLAIM, volume_claims, volume_claim_count);
        TAKE(KIND_VOLUME, volumes, volume_count);
        TAKE(KIND_STORAGE_CLASS, storage_classes, storage_class_count);
        TAKE(KIND_CSI_NODE, csi_nodes, csi_node_count);
        TAKE(KIND_SERVICE, services, service_count);
        TAKE(KIND_REPLICA_SET, replica_sets, replica_set_count);
        TAKE(KIND_STATEFUL_SET, stateful_sets, stateful_set_count);
        TAKE(KIND_REPLICATION_CONTROLLER, replication_controllers, replication_controller_count);
        TAKE(KIND_NODE_OVERLAY, overlays, overlay_count);
        TAKE(KIND_CAPACITY_BUFFER, buffers, buffer_count);
        TAKE(KIND_POD_TEMPLATE, pod_templates, pod_template_count);
        TAKE(KIND_DEPLOYMENT, deployments, deployment_count);
#undef TAKE
    default:
        return false;
    }
}

bool world_reads(const struct world *w, enum kind k)
{
    const struct world_options *o = &w->settings;
    bool spreads = w->spread.rule_count != 0;
    struct world_input ignored;
    switch (k) {
    case KIND_SERVICE:
    case KIND_REPLICATION_CONTROLLER:
        return spreads;
    case KIND_STATEFUL_SET:
        return spreads || o->capacity_buffer;
    case KIND_REPLICA_SET:
        return spreads || o->capacity_buffer || w->split.owner_count != 0;
    case KIND_DEPLOYMENT:
    case KIND_CAPACITY_BUFFER:
    case KIND_POD_TEMPLATE:
        return o->capacity_buffer;
    case KIND_NODE_OVERLAY:
        return o->node_overlay;
    default:
        return world_input_take(&ignored, k, NULL, 0);
    }
}
