/* node_groups: the file of node groups, kind NodeGroups of stowage.dev/v1alpha1 (spec groups-contract 2): fixed shapes of
 * nodes with a minimum, a maximum and a size, as a cloud has them, and what a controller that scales them remembers.
 *
 * As it is written: what is absent has its flag false, is an absent span, or a time of 0. Names of nodes are Nodes' names
 * or providerIDs. */
#ifndef KUBE_NODE_GROUPS_H
#define KUBE_NODE_GROUPS_H

#include "kube/node.h"

/* Of one group; what a target, and what was asked for, may come to: each such node is looked at. Kubernetes supports 5,000 in
 * a cluster. */
enum { GROUP_NODES_MAX = 100000 };

enum instance_state { INSTANCE_RUNNING, INSTANCE_CREATING, INSTANCE_DELETING };
enum instance_error { INSTANCE_ERROR_NONE, INSTANCE_OUT_OF_RESOURCES, INSTANCE_OTHER_ERROR };

struct group_error_info {
    enum instance_error class;
    struct span code, message;
};

struct group_machine { /* instances[]: a machine as its cloud knows it */
    struct span id;    /* a Node's providerID */
    enum instance_state state;
    struct group_error_info error;
    bool error_known;             /* the pass before saw it already */
    wall_ms unregistered_since;   /* 0: this pass is the first that sees no Node for it */
};

struct group_machines {
    struct group_machine *items;
    uint32_t count;
};

/* Of a group, or of all by the flags of the same names. */
struct group_scaling {
    double utilization_threshold, gpu_utilization_threshold;
    span_ms unneeded_time, unready_time, provision_time, startup_time;
    bool ignore_daemon_sets, zero_or_max, partly_to_max /* allowNonAtomicScaleUpToMax */;
};

struct group_options { /* options: what the group has of its own */
    struct group_scaling of;
    bool has_utilization_threshold, has_gpu_utilization_threshold, has_unneeded_time, has_unready_time;
    bool has_provision_time, has_startup_time, has_ignore_daemon_sets, has_zero_or_max, has_partly_to_max;
};

struct group_backoff {
    wall_ms until; /* 0: none */
    struct span code, message;
};

struct group_request { /* scaleUpRequest: asked for, and not yet all there */
    int32_t increase;
    wall_ms time;
};

struct group_mismatch { /* sizeMismatch: has stood since */
    int32_t registered, target;
    wall_ms since;
};

struct node_group {
    struct span name;
    uint32_t line; /* of the file, where the name stands */
    int32_t min, max, target;
    bool has_target, has_machines, has_price;
    bool has_request, has_mismatch;
    bool rolls_out; /* its provider replaces its machines, one after the other: none is removed. Not of a file */
    struct spans nodes;
    struct sym_pairs selector;     /* empty: selects none */
    struct group_machines machines; /* instances */
    struct node *template;         /* NULL: none */
    struct node *learned;          /* what its nodes were when it had some; NULL: nobody remembers */
    double price;                  /* of a node, in an hour */
    struct group_options options;
    struct group_backoff backoff;
    struct group_request request;
    struct group_mismatch mismatch;
    wall_ms last_scale_up, last_scale_down, last_scale_down_fail; /* 0: never */
    span_ms unneeded_at_least; /* so long, whatever scaleDownUnneededTime says; 0: that alone counts. Not of a file */
};

struct group_list {
    struct node_group *items;
    uint32_t count;
};

struct node_time { /* of a map from nodes to times */
    struct span node;
    wall_ms time;
};

struct node_times {
    struct node_time *items;
    uint32_t count;
};

struct group_state { /* state */
    wall_ms last_scale_up, last_scale_down_delete, last_scale_down_fail; /* 0: an hour ago */
    struct node_times unneeded, unremovable_until;
    struct spans deleting_empty, deleting_drain; /* deletions */
    bool has_pass_interval;
    span_ms pass_interval; /* minPassInterval */
};

struct resource_price { /* in an hour: of a core, a GiB of memory, one of any other */
    sym resource;
    double price;
};

struct resource_prices {
    struct resource_price *items;
    uint32_t count;
};

enum group_cloud { GROUP_CLOUD_OTHER, GROUP_CLOUD_AWS, GROUP_CLOUD_GCE, GROUP_CLOUD_AZURE };

struct node_groups {
    struct meta meta; /* nobody asks for it; of the file of --node-groups */
    struct span api_version, kind;
    enum group_cloud cloud; /* provider: whose labels balancing does not look at */
    sym gpu_label;          /* SYM_NONE: no node is a GPU node */
    bool has_pod_prices;
    struct resource_prices pod_prices;
    struct group_list groups;
    struct group_state state;
};

/* What a node of a group costs in an hour, where its provider goes by annotations: dollars. False: it is no price. */
#define GROUP_PRICE_KEY "stowage.dev/price"
bool node_group_price(struct span text, double *out);

/* Members that they do not list are mistakes, and their checks tell `invalid` of the rest that is wrong within the file.
 * A decoded object is not to be packed. */
extern const struct schema node_groups_schema, node_group_schema;
/* Of the groups as a whole, which may have come as a bare list: two of one name. Tells `invalid`; `items` is the list. */
void node_groups_check_names(struct decode *d, struct doc_value items, const struct group_list *groups);

#endif
