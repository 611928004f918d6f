#include "sim/standins/standin.h"

#include <stdio.h>

void kubelet_init(struct kubelet *k, struct objects *o, const struct sim_delays *delays)
{
    *k = (struct kubelet){.objects = o, .delays = delays, .due = json_object()};
}

void kubelet_release(struct kubelet *k)
{
    json_decref(k->due);
}

struct pass { /* one look at all nodes and pods */
    struct kubelet *kubelet;
    json_t *due; /* what stays due, replaces the kubelet's */
    wall_ms next;
};

/* True when `delay` has gone by since the first pass that asked this. */
static bool ripe(struct pass *p, const char *what, const json_t *object, span_ms delay)
{
    char key[OBJECTS_KEY_MAX];
    wall_ms now = p->kubelet->objects->now;
    snprintf(key, sizeof key, "%s %.*s", what, SPAN_ARG(tree_string(object, "metadata.uid")));
    const json_t *since = json_object_get(p->kubelet->due, key);
    wall_ms due = since != NULL ? json_integer_value(since) : now + delay;
    if (due <= now)
        return true;
    json_object_set_new(p->due, key, json_integer(due));
    p->next = due < p->next ? due : p->next;
    return false;
}

/* ---- nodes ---- */

static void make_ready(struct objects *o, const json_t *node)
{
    static const char *const pressures[] = {"MemoryPressure", "DiskPressure", "PIDPressure",
                                            "NetworkUnavailable"};
    json_t *fresh = json_deep_copy(node);
    for (size_t i = 0; i < COUNT_OF(pressures); i++)
        tree_condition_set(fresh, pressures[i], "False", "KubeletHasNoPressure", "", o->now);
    tree_condition_set(fresh, "Ready", "True", "KubeletReady", "kubelet is posting ready status",
                       o->now);
    tree_set(fresh, "status.phase", json_string("Running"));
    if (tree_get(fresh, "status.allocatable") == NULL) /* what kwok says of a node that does not say */
        tree_set(fresh, "status.allocatable",
                 json_pack("{s:s, s:s, s:s}", "cpu", "1k", "memory", "1Ti", "pods", "1M"));
    if (tree_get(fresh, "status.capacity") == NULL)
        tree_set(fresh, "status.capacity", json_deep_copy(tree_get(fresh, "status.allocatable")));
    registry_put_status(o, KIND_NODE, node, fresh);
}

static bool has_taint(const json_t *taints, const char *key)
{
    size_t i;
    json_t *taint;
    json_array_foreach(taints, i, taint) {
        if (tree_is(taint, "key", key) && tree_is(taint, "effect", "NoSchedule"))
            return true;
    }
    return false;
}

static void drop_taint(json_t *taints, const char *key)
{
    size_t i;
    json_t *taint;
    json_array_foreach(taints, i, taint) {
        if (tree_is(taint, "key", key) && tree_is(taint, "effect", "NoSchedule")) {
            json_array_remove(taints, i);
            return;
        }
    }
}

/* The node lifecycle controller's part: taints follow readiness and spec.unschedulable. */
static void keep_taints(struct objects *o, const json_t *node)
{
    static const char *const not_ready = "node.kubernetes.io/not-ready";
    static const char *const unschedulable = "node.kubernetes.io/unschedulable";
    const json_t *old = tree_get(node, "spec.taints");
    bool drops = tree_condition_is(node, "Ready", "True") && has_taint(old, not_ready);
    bool cordoned = json_is_true(tree_get(node, "spec.unschedulable"));
    bool marked = has_taint(old, unschedulable);
    if (!drops && cordoned == marked)
        return;
    json_t *taints = old != NULL ? json_deep_copy(old) : json_array(), *fresh = json_deep_copy(node);
    if (drops)
        drop_taint(taints, not_ready);
    if (marked && !cordoned)
        drop_taint(taints, unschedulable);
    if (cordoned && !marked)
        json_array_append_new(taints, json_pack("{s:s, s:s, s:o}", "key", unschedulable, "effect",
                                                "NoSchedule", "timeAdded", tree_of_time(o->now)));
    if (json_array_size(taints) != 0)
        tree_set(fresh, "spec.taints", json_incref(taints));
    else
        tree_remove(fresh, "spec.taints");
    json_decref(taints);
    standin_update(o, KIND_NODE, node, fresh);
}

static void keep_node(struct pass *p, const json_t *node)
{
    struct objects *o = p->kubelet->objects;
    if (!tree_condition_is(node, "Ready", "True") &&
        ripe(p, "ready", node, p->kubelet->delays->node_ready))
        make_ready(o, node);
    else
        keep_taints(o, node);
}

/* ---- pods ---- */

static json_t *container_statuses(const json_t *pod, wall_ms now)
{
    json_t *list = json_array(), *c;
    size_t i;
    json_array_foreach(tree_get(pod, "spec.containers"), i, c) {
        json_array_append_new(
            list, json_pack("{s:O?, s:b, s:b, s:i, s:{s:{s:o}}}", "name", tree_get(c, "name"),
                            "ready", 1, "started", 1, "restartCount", 0, "state", "running",
                            "startedAt", tree_of_time(now)));
    }
    return list;
}

static void start(struct objects *o, const json_t *pod)
{
    static const char *const conditions[] = {"PodReadyToStartContainers", "Initialized",
                                             "ContainersReady", "Ready"};
    json_t *fresh = json_deep_copy(pod);
    for (size_t i = 0; i < COUNT_OF(conditions); i++)
        tree_condition_set(fresh, conditions[i], "True", "", "", o->now);
    tree_set(fresh, "status.phase", json_string("Running"));
    tree_set(fresh, "status.startTime", tree_of_time(o->now));
    tree_set(fresh, "status.containerStatuses", container_statuses(pod, o->now));
    registry_put_status(o, KIND_POD, pod, fresh);
}

static void finish(struct objects *o, const json_t *pod)
{
    json_t *now = json_pack("{s:i}", "gracePeriodSeconds", 0);
    standin_delete(o, KIND_POD, pod, now);
    json_decref(now);
}

static void keep_pod(struct pass *p, const json_t *pod)
{
    struct objects *o = p->kubelet->objects;
    const struct sim_delays *delays = p->kubelet->delays;
    struct span bound = tree_string(pod, "spec.nodeName");
    if (bound.len == 0)
        return;
    const json_t *node = objects_find(o, KIND_NODE, (struct span){NULL, 0}, bound);
    if (node == NULL) {
        if (ripe(p, "gc", pod, delays->pod_gc))
            finish(o, pod);
    } else if (tree_get(pod, "metadata.deletionTimestamp") != NULL) {
        span_ms grace = tree_int(pod, "metadata.deletionGracePeriodSeconds", 0) * MS_SECOND;
        if (ripe(p, "stop", pod, grace < delays->pod_stop ? grace : delays->pod_stop))
            finish(o, pod);
    } else if (tree_is(pod, "status.phase", "Pending") &&
               tree_condition_is(node, "Ready", "True") &&
               ripe(p, "start", pod, delays->pod_start)) {
        start(o, pod);
    }
}

static void for_each(struct pass *p, enum kind k, void (*keep)(struct pass *, const json_t *))
{
    json_t *all = json_array(), *object;
    const char *key;
    size_t i;
    json_object_foreach(p->kubelet->objects->kinds[k], key, object) {
        json_array_append(all, object);
    }
    json_array_foreach(all, i, object) {
        keep(p, object);
    }
    json_decref(all);
}

wall_ms kubelet_step(struct kubelet *k)
{
    const struct objects *o = k->objects;
    uint64_t newest = o->kind_versions[KIND_POD] > o->kind_versions[KIND_NODE]
                          ? o->kind_versions[KIND_POD]
                          : o->kind_versions[KIND_NODE];
    if (newest == k->seen && k->next > o->now)
        return k->next;
    struct pass p = {.kubelet = k, .due = json_object(), .next = INT64_MAX};
    k->seen = newest;
    for_each(&p, KIND_NODE, keep_node);
    for_each(&p, KIND_POD, keep_pod);
    json_decref(k->due);
    k->due = p.due;
    k->next = p.next;
    return k->next;
}
