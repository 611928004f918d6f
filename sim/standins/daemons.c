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
static json_t *nodes_served(const struct daemons *d, const json_t *set)
{
    size_t i;
    json_t *pod, *served = json_object();
    json_t *pods = objects_by_age(d->objects, KIND_POD,
                                  groups_keys(&d->by_controller, tree_string(set, "metadata.uid")));
    json_array_foreach(pods, i, pod) {
        struct span node = target_of(pod);
        if (node.len != 0)
            json_object_setn_new(served, node.ptr, node.len, json_true());
    }
    json_decref(pods);
    return served;
}

static void keep_daemon_set(struct daemons *d, const json_t *set)
{
    struct objects *o = d->objects;
    json_t *node, *served, *pod;
    const char *key;
    int64_t desired = 0;
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    served = nodes_served(d, set);
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
        if (!standin_create(o, KIND_POD, tree_string(set, "metadata.namespace"), one))
            marks_add(&d->sets, set); /* once more at the next look */
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

/* ---- what changed ---- */

static void mark_all(struct daemons *d)
{
    marks_add_keys(&d->sets, d->objects->kinds[KIND_DAEMON_SET]);
}

static bool differs(const json_t *old, const json_t *fresh, const char *path)
{
    const json_t *was = tree_get(old, path), *is = tree_get(fresh, path);
    return (was == NULL) != (is == NULL) || (was != NULL && !json_equal(was, is));
}

/* Whether pods are made for a node is asked of these, and of nothing that its kubelet reports. */
static bool node_matters(const json_t *old, const json_t *fresh)
{
    return old == NULL || fresh == NULL || differs(old, fresh, "metadata.labels") || differs(old, fresh, "spec") ||
           differs(old, fresh, "metadata.deletionTimestamp");
}

static void hear_pod(struct daemons *d, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    const json_t *object = fresh != NULL ? fresh : old, *owner = tree_controller(object);
    objects_key_of(key, KIND_POD, object);
    if (!tree_is(owner, "kind", "DaemonSet") ||
        (old != NULL && fresh != NULL && !differs(old, fresh, "spec.nodeName")))
        return;
    marks_add_named(&d->sets, tree_string(object, "metadata.namespace"), tree_string(owner, "name"));
    if (fresh != NULL)
        groups_add(&d->by_controller, tree_string(owner, "uid"), key);
    else
        groups_drop(&d->by_controller, tree_string(owner, "uid"), key);
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct daemons *d = user;
    if (k == KIND_DAEMON_SET)
        marks_add(&d->sets, fresh != NULL ? fresh : old);
    else if (k == KIND_NODE && node_matters(old, fresh))
        mark_all(d);
    else if (k == KIND_POD)
        hear_pod(d, old, fresh);
}

wall_ms daemons_step(struct daemons *d)
{
    json_t *set;
    size_t i;
    if (!pacer_is_due(&d->pacer, d->objects))
        return pacer_due(&d->pacer);
    json_t *sets = marks_take(&d->sets, d->objects);
    json_array_foreach(sets, i, set) {
        keep_daemon_set(d, set);
    }
    json_decref(sets);
    return pacer_due(&d->pacer);
}

void daemons_init(struct daemons *d, struct objects *o, span_ms delay)
{
    *d = (struct daemons){.objects = o, .pacer = {.kinds = watched, .delay = delay}};
    marks_init(&d->sets, KIND_DAEMON_SET);
    groups_init(&d->by_controller);
    objects_listen(o, heard, d);
}

void daemons_release(struct daemons *d)
{
    objects_unlisten(d->objects, d);
    groups_release(&d->by_controller);
    marks_release(&d->sets);
}
