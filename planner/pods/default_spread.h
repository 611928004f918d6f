/* default_spread: the topology spread of pods that state none, as the cluster's kube-scheduler gives it
 * (its PodTopologySpread plugin's defaultConstraints) and Karpenter v1.15.0's --scheduler-config repeats it.
 *
 * The constraints come without a selector; each pod gets the one that finds its fellows: the labels of all
 * Services that select the pod, a later one's value winning (in the order of their names), then the
 * selector of its controller: a ReplicationController's labels laid over them, a ReplicaSet's or
 * StatefulSet's expressions beside them. A pod for which nothing comes together stays without.
 *
 * Pure. Built and asked while the world is built, by one thread. What is deduced is kept by namespace,
 * controller and labels, so that the pods of a workload cost one deduction. */
#ifndef PLANNER_PODS_DEFAULT_SPREAD_H
#define PLANNER_PODS_DEFAULT_SPREAD_H

#include "planner/intern.h"
#include "planner/pods/object_index.h"
#include "planner/world.h"

struct default_constraint {
    int32_t max_skew, min_domains; /* min_domains 0: absent */
    struct span topology_key;
    bool hard; /* DoNotSchedule */
    bool ignore_affinity, honor_taints;
};

/* --scheduler-config, read. It knows no symbol table: it outlives many. */
struct default_spread_config {
    const struct default_constraint *items;
    uint32_t count;
};

/* YAML or JSON; empty text: no constraints. Unknown fields are mistakes, and everything that kube-scheduler
 * would refuse: err names the field, as "podTopologySpread.defaultConstraints[0].maxSkew: …". */
bool default_spread_decode(struct arena *a, struct span text, struct default_spread_config *out,
                           struct err *err);

struct default_spread {
    struct arena *arena;
    struct symtab *syms;
    const struct default_constraint *rules;
    const sym *keys; /* of the rules */
    uint32_t rule_count;
    struct object_index replica_sets, stateful_sets, replication_controllers;
    const struct service **services; /* by namespace, then name */
    uint32_t service_count;
    struct intern shapes;
    struct spreads *deduced; /* by shape */
    uint32_t capacity;
    struct sym_pair *sorted; /* room for a pod's labels */
    uint32_t sorted_capacity;
};

/* `config` may be NULL: nothing is given. */
void default_spread_init(struct default_spread *d, struct arena *a, const struct world_input *in,
                         const struct default_spread_config *config);

/* The spreads that the pod is planned with: its own if it has any, else the default ones, or none. The
 * list is the arena's, belongs to several pods and is not to be changed: who relaxes makes a copy. */
struct spreads default_spread_look_up(struct default_spread *d, const struct pod *p);
static inline struct spreads default_spread_of(struct default_spread *d, const struct pod *p)
{
    if (d->rule_count == 0 || p->spreads.count != 0)
        return p->spreads;
    return default_spread_look_up(d, p);
}

#endif
