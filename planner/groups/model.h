/* model: node groups beside the cluster that they are of: which Nodes and machines are whose, and what one more node of a
 * group would be. Made before the world, to which it adds a Node, and pods, for each template. */
#ifndef PLANNER_GROUPS_MODEL_H
#define PLANNER_GROUPS_MODEL_H

#include "base/err.h"
#include "kube/workload.h"
#include "planner/groups/requests.h"

struct config_map;
struct group_bought;
struct places;

struct group_wish { /* where a plan over pools and groups has the pod go (offers.h): it does, if that will do */
    const struct pod *pod;
    struct span group;
    uint32_t machine, turn; /* of the plan's, and of its pods: numbers that tell one from another */
};
int group_wishes_by_name(const void *a, const void *b); /* of struct group_wish: by the pods' namespace and name */

/* The cluster's objects that a pass looks at beside the world. Any order. */
struct group_objects {
    struct symtab *syms;
    const struct node *const *nodes;
    const struct pod *const *pods;
    const struct daemon_set *const *daemon_sets;
    const struct controller *const *replica_sets, *const *stateful_sets, *const *replication_controllers;
    const struct job *const *jobs;
    const struct disruption_budget *const *budgets;
    const struct capacity_quota *const *quotas; /* of effect with flags.capacity_quotas alone */
    const struct config_map *const *config_maps;
    const struct places *places; /* where pods that wait are planned already; NULL: nowhere. Who is there is seated first */
    struct capacity_requests *requests; /* NULL: there are none */
    const struct group_bought *bought;  /* by NodePools, on their way (bought.h); NULL: none */
    const struct group_wish *wishes;    /* by the pods' namespace and name; of no effect as_upstream */
    size_t node_count, pod_count, daemon_set_count, replica_set_count, stateful_set_count;
    size_t replication_controller_count, job_count, budget_count, quota_count, config_map_count, wish_count;
};

struct group_readiness {
    uint32_t registered, ready, unready, not_started, suspended, deleted, unregistered, long_unregistered;
};

enum group_template_origin {
    TEMPLATE_NONE,
    TEMPLATE_OF_NODE,     /* a node of the group that is ready, and has been for a minute */
    TEMPLATE_LEARNED,     /* no node is; what its nodes were. Not with --search greedy */
    TEMPLATE_OF_PROVIDER, /* nor does anybody remember; the file, or the group's provider, says what one would be */
    TEMPLATE_OF_ANY_NODE, /* nor does anybody say; a node of the group as it is */
};

struct group_template {
    const struct node *node;  /* NULL: none; named template-node-for-GROUP, its hostname label too */
    enum group_template_origin origin;
    const struct node *of;    /* what it was made of: a Node, what was learned, or the file's template */
    const struct pod **pods;  /* bound to it: mirror and DaemonSet pods */
    const void **pods_of;     /* of what each was made: a pod, or a DaemonSet */
    uint32_t pod_count;
};

struct group_instance {
    struct span id;
    const struct group_machine *told; /* NULL: the file lists none, and this is a Node's */
    const struct node *node;          /* NULL: it has not registered */
    int32_t node_at;                  /* in the model's nodes; -1 */
};

struct group {
    const struct node_group *spec;
    struct group_scaling scaling; /* its options, or the flags' */
    int32_t target;               /* as the file has it */
    const struct node **nodes;    /* by name */
    struct group_instance *instances;
    uint32_t node_count, instance_count;
    struct group_template template;
};

struct node_key {
    struct span id; /* providerID */
    uint32_t node;
};

struct group_model {
    const struct node_groups *file;
    struct group *groups; /* by name */
    const struct node **nodes; /* all of the cluster, by name */
    int32_t *owners;           /* of each of these its group; -1: none */
    struct node_key *keys;     /* the same nodes by providerID */
    uint32_t group_count, node_count;
};

/* NULL, and err says what the file and the cluster disagree about, when they do. The model borrows from both. */
struct group_model *group_model_make(const struct node_groups *file, const struct group_flags *flags,
                                     const struct group_objects *objects, wall_ms now, struct arena *a, struct err *err);

/* What the world of a pass is made of: the cluster's Nodes and pods, and behind them those of the templates, of the
 * requests and of what NodePools buy. In `a`. */
struct group_ground {
    const struct node **nodes;
    const struct pod **pods;
    size_t node_count, pod_count;
};
struct group_ground group_model_ground(const struct group_model *m, const struct group_objects *objects, struct arena *a);

int32_t group_model_group(const struct group_model *m, struct span name);                /* -1: there is none */
int32_t group_model_node(const struct group_model *m, struct span name_or_provider_id); /* -1: there is none */
struct span node_provider_id(const struct node *n); /* its name where it says none */
bool group_node_is_gpu(const struct group_model *m, const struct node *n); /* it has the label of `gpuLabel` */

#endif
