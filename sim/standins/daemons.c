#include "sim/standins/standin.h"

static const enum kind watched[] = {KIND_DAEMON_SET, KIND_NODE, KIND_POD, KIND_NONE};

/* Tolerations that the DaemonSet controller adds to every pod. */
static const struct {
    const char *key, *effect;
} added[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
};

static json_t *pod_for(const json_t *set)
{
    json_t *pod = standin_pod_of(set, KIND_DAEMON_SET);
    json_t *list = tree_get(pod, "spec.tolerations");
    if (list == NULL) {
        list = json_array();
        tree_set(pod, "spec.tolerations", list);
    }
    for (size_t i = 0; i < COUNT_OF(added); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "key", added[i].key, "operator",
                                              "Exists", "effect", added[i].effect));
    return pod;
}

/* The pod is bound by the scheduler; this is how it is told where. */
static void pin(json_t *pod, const json_t *node)
{
    tree_set(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
             json_pack("{s:[{s:[{s:s, s:s, s:[O]}]}]}", "nodeSelectorTerms", "matchFields", "key",
                       "metadata.name", "operator", "In", "values",
                       tree_get(node, "metadata.name")));
}

/* The node that a pod was made for, or an absent span. */
static struct span target_of(const json_t *pod)
{
    struct span bound = tree_string(pod, "spec.nodeName");
    if (bound.len != 0)
        return bound;
    const json_t *terms = tree_get(pod, "spec.affinity.nodeAffinity."
                                        "requiredDuringSchedulingIgnoredDuringExecution."
                                        "nodeSelectorTerms");
    const json_t *field = json_array_get(tree_get(json_array_get(terms, 0), "matchFields"), 0);
    const json_t *name = json_array_get(tree_get(field, "values"), 0);
    return json_is_string(name) ? span_of(json_string_value(name)) : (struct span){NULL, 0};
}

/* Node name → true for the set's pods that are there, leaving ones included. */
static json_t *nodes_served(const struct objects *o, const json_t *set)
{
    json_t *served = json_object(), *pod;
    const char *key;
    json_object_foreach(o->kinds[KIND_POD], key, pod) {
        struct span node = target_of(pod);
        if (node.len != 0 && tree_owned_by(pod, tree_string(set, "metadata.uid")))
            json_object_setn_new(served, node.ptr, node.len, json_true());
    }
    return served;
}

static void keep_daemon_set(struct objects *o, const json_t *set)
{
    json_t *node, *served, *pod;
    const char *key;
    int64_t desired = 0;
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    served = nodes_served(o, set);
    pod = pod_for(set);
    struct match *match = match_new(tree_get(pod, "spec"));
    json_object_foreach(o->kinds[KIND_NODE], key, node) {
        if (!match_node(match, node))
            continue;
        desired++;
        if (json_object_get(served, key) != NULL ||
            tree_get(node, "metadata.deletionTimestamp") != NULL)
            continue;
        json_t *one = json_deep_copy(pod);
        pin(one, node);
        standin_create(o, KIND_POD, tree_string(set, "metadata.namespace"), one);
    }
    json_t *fresh = json_deep_copy(set);
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(set, "metadata.generation", 0)));
    tree_set(fresh, "status.desiredNumberScheduled", json_integer(desired));
    tree_set(fresh, "status.currentNumberScheduled",
             json_integer((int64_t)json_object_size(served)));
    registry_put_status(o, KIND_DAEMON_SET, set, fresh);
    match_free(match);
    json_decref(pod);
    json_decref(served);
}

wall_ms daemons_step(struct daemons *d)
{
    struct objects *o = d->objects;
    const char *key;
    json_t *set;
    size_t i;
    d->pacer.kinds = watched;
    if (!pacer_is_due(&d->pacer, o))
        return pacer_due(&d->pacer);
    json_t *sets = json_array();
    json_object_foreach(o->kinds[KIND_DAEMON_SET], key, set) {
        json_array_append(sets, set);
    }
    json_array_foreach(sets, i, set) {
        keep_daemon_set(o, set);
    }
    json_decref(sets);
    return pacer_due(&d->pacer);
}
