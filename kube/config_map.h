/* config_map: a ConfigMap's texts. */
#ifndef KUBE_CONFIG_MAP_H
#define KUBE_CONFIG_MAP_H

#include "kube/meta.h"

struct config_entry {
    struct span key, value;
};

struct config_map {
    struct meta meta;
    struct {
        struct config_entry *items;
        uint32_t count;
    } data;
};

/* Of the expander `priority`, in the namespace of --namespace; its key is "priorities". */
#define PRIORITY_CONFIG_MAP "cluster-autoscaler-priority-expander"

extern const struct schema config_map_schema;

#endif
