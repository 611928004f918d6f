#include "sim/standins/standin.h"

#include <stdlib.h>

/* ---- what is due when ---- */

/* By time; what was put off since, or is of no use any more, goes when it comes to the front. */
static void put_off(struct kubelet *k, wall_ms when, enum kind kind, const char *key)
{
    uint32_t at = k->later_count++;
    if (at == k->later_capacity) {
        k->later_capacity = at != 0 ? at * 2 : 64;
        k->later = mem_grow(k->later, k->later_capacity, sizeof *k->later);
    }
    for (; at > 0 && k->later[(at - 1) / 2].when > when; at = (at - 1) / 2)
        k->later[at] = k->later[(at - 1) / 2];
    k->later[at] = (struct kubelet_later){when, kind, json_string(key)};
}

static void drop_first(struct kubelet *k)
{
    struct kubelet_later last = k->later[--k->later_count];
    json_decref(k->later_count != 0 ? k->later[0].key : last.key);
    for (uint32_t at = 0, child = 1; k->later_count != 0; at = child, child = 2 * at + 1) {
        if (child + 1 < k->later_count && k->later[child + 1].when < k->later[child].when)
            child++;
        if (child >= k->later_count || k->later[child].when >= last.when) {
            k->later[at] = last;
            break;
        }
        k->later[at] = k->later[child];
    }
}

static json_t *waits_of(const struct kubelet *k, enum kind kind)
{
    return kind == KIND_NODE ? k->nodes_due : k->pods_due;
}

static bool is_stale(const struct kubelet *k, const struct kubelet_later *l)
{
    const json_t *due = json_object_get(waits_of(k, l->kind), json_string_value(l->key));
    return due == NULL || tree_int(due, "when", 0) != l->when;
}

static wall_ms next_due(struct kubelet *k)
{
    while (k->later_count != 0 && is_stale(k, &k->later[0]))
        drop_first(k);
    return k->later_count != 0 ? k->later[0].when : INT64_MAX;
}

/* True when `delay` has gone by since the look at the object that asked this first; NULL: it asks nothing. */
static bool ripe(struct kubelet *k, enum kind kind, const char *what, const json_t *object, span_ms delay)
{
    char key[OBJECTS_KEY_MAX];
    wall_ms now = k->objects->now;
    objects_key_of(key, kind, object);
    json_t *waits = waits_of(k, kind);
    const json_t *known = json_object_get(waits, key);
    bool same = known != NULL && what != NULL && tree_is(known, "what", what) &&
                span_eq(tree_string(known, "uid"), tree_string(object, "metadata.uid"));
    wall_ms due = same ? tree_int(known, "when", 0) : now + delay;
    if (what == NULL || due <= now) {
        json_object_del(waits, key);
        return what != NULL;
    }
    if (!same) {
        json_object_set_new(waits, key, json_pack("{s:s, s:O, s:I}", "what", what, "uid",
                                                  tree_get(object, "metadata.uid"), "when", (json_int_t)due));
        put_off(k, due, kind, key);
    }
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

static void keep_node(struct kubelet *k, const json_t *node)
{
    bool ready = tree_condition_is(node, "Ready", "True");
    if (ripe(k, KIND_NODE, ready ? NULL : "ready", node, k->delays->node_ready))
        make_ready(k->objects, node);
    else
        keep_taints(k->objects, node);
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

static void keep_pod(struct kubelet *k, const json_t *pod)
{
    struct objects *o = k->objects;
    struct span bound = tree_string(pod, "spec.nodeName");
    const json_t *node = objects_find(o, KIND_NODE, (struct span){NULL, 0}, bound);
    span_ms grace = tree_int(pod, "metadata.deletionGracePeriodSeconds", 0) * MS_SECOND;
    const char *what = NULL;
    span_ms delay = 0;
    if (bound.len != 0 && node == NULL) {
        what = "gc";
        delay = k->delays->pod_gc;
    } else if (bound.len != 0 && tree_get(pod, "metadata.deletionTimestamp") != NULL) {
        what = "stop";
        delay = grace < k->delays->pod_stop ? grace : k->delays->pod_stop;
    } else if (bound.len != 0 && tree_is(pod, "status.phase", "Pending") &&
               tree_condition_is(node, "Ready", "True")) {
        what = "start";
        delay = k->delays->pod_start;
    }
    if (!ripe(k, KIND_POD, what, pod, delay))
        return;
    if (strcmp(what, "start") == 0)
        start(o, pod);
    else
        finish(o, pod);
}

/* ---- what changed ---- */

/* Pods live by whether their node is there, and Ready. */
static void heard(void *user, enum kind kind, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    struct kubelet *k = user;
    const json_t *object = fresh != NULL ? fresh : old;
    if (kind != KIND_NODE && kind != KIND_POD)
        return;
    objects_key_of(key, kind, object);
    if (fresh == NULL)
        json_object_del(waits_of(k, kind), key);
    marks_add(kind == KIND_NODE ? &k->nodes : &k->pods, object);
    if (kind == KIND_POD)
        groups_move(&k->by_node, key, tree_string(old, "spec.nodeName"), tree_string(fresh, "spec.nodeName"));
    else if (old == NULL || fresh == NULL ||
             tree_condition_is(old, "Ready", "True") != tree_condition_is(fresh, "Ready", "True"))
        marks_add_keys(&k->pods, groups_keys(&k->by_node, span_of(key)));
}

static void mark_due(struct kubelet *k)
{
    while (next_due(k) <= k->objects->now) {
        struct marks *m = k->later[0].kind == KIND_NODE ? &k->nodes : &k->pods;
        json_object_set_new(m->keys, json_string_value(k->later[0].key), json_true());
        drop_first(k);
    }
}

static void for_each(struct kubelet *k, json_t *all /* taken */, void (*keep)(struct kubelet *, const json_t *))
{
    size_t i;
    json_t *object;
    json_array_foreach(all, i, object) {
        keep(k, object);
    }
    json_decref(all);
}

wall_ms kubelet_step(struct kubelet *k)
{
    mark_due(k);
    if (marks_any(&k->nodes) || marks_any(&k->pods)) {
        for_each(k, marks_take(&k->nodes, k->objects), keep_node);
        for_each(k, marks_take(&k->pods, k->objects), keep_pod);
    }
    return next_due(k);
}

void kubelet_init(struct kubelet *k, struct objects *o, const struct sim_delays *delays)
{
    *k = (struct kubelet){.objects = o, .delays = delays, .nodes_due = json_object(),
                          .pods_due = json_object()};
    marks_init(&k->nodes, KIND_NODE);
    marks_init(&k->pods, KIND_POD);
    groups_init(&k->by_node);
    objects_listen(o, heard, k);
}

void kubelet_release(struct kubelet *k)
{
    objects_unlisten(k->objects, k);
    while (k->later_count != 0)
        drop_first(k);
    free(k->later);
    groups_release(&k->by_node);
    marks_release(&k->nodes);
    marks_release(&k->pods);
    json_decref(k->nodes_due);
    json_decref(k->pods_due);
}
