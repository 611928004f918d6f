/* Deployments and ReplicaSets. A changed template replaces all pods at once: rolling updates are not
 * what this cluster is for. */
#include "sim/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>

static const enum kind watched[] = {KIND_DEPLOYMENT, KIND_REPLICA_SET, KIND_POD, KIND_NONE};
enum { HASH_LABEL_DIGITS = 10 };

/* ---- Deployments ---- */

/* The template without the label that the Deployment controller adds. */
static json_t *plain_template(const json_t *owner)
{
    json_t *template = json_deep_copy(tree_get(owner, "spec.template"));
    json_object_del(tree_get(template, "metadata.labels"), "pod-template-hash");
    tree_remove(template, "metadata.creationTimestamp");
    return template;
}

static void template_hash(const json_t *template, char out[HASH_LABEL_DIGITS + 1])
{
    char *text = json_dumps(template, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    snprintf(out, HASH_LABEL_DIGITS + 1, "%010llx",
             (unsigned long long)(span_hash(span_of(text)) & 0xffffffffff));
    free(text);
}

static json_t *replica_set_of(const json_t *deployment, json_t *template)
{
    char hash[HASH_LABEL_DIGITS + 1], name[OBJECTS_KEY_MAX];
    template_hash(template, hash);
    snprintf(name, sizeof name, "%.*s-%s", SPAN_ARG(tree_string(deployment, "metadata.name")), hash);
    json_t *set = json_pack("{s:s, s:s}", "apiVersion", "apps/v1", "kind", "ReplicaSet");
    tree_set(set, "metadata.name", json_string(name));
    tree_set(set, "metadata.ownerReferences",
             json_pack("[{s:s, s:s, s:O, s:O, s:b, s:b}]", "apiVersion", "apps/v1", "kind",
                       "Deployment", "name", tree_get(deployment, "metadata.name"), "uid",
                       tree_get(deployment, "metadata.uid"), "controller", 1, "blockOwnerDeletion",
                       1));
    tree_set(set, "spec.replicas", json_integer(tree_int(deployment, "spec.replicas", 1)));
    json_t *selector = tree_get(deployment, "spec.selector");
    tree_set(set, "spec.selector", selector != NULL ? json_deep_copy(selector) : json_object());
    tree_set(set, "spec.template", json_deep_copy(template));
    json_t *labels = tree_get(set, "spec.template.metadata.labels");
    if (labels == NULL) {
        labels = json_object();
        tree_set(set, "spec.template.metadata.labels", labels);
    }
    json_object_set_new(labels, "pod-template-hash", json_string(hash));
    tree_set(set, "spec.selector.matchLabels.pod-template-hash", json_string(hash));
    tree_set(set, "metadata.labels", json_deep_copy(labels));
    return set;
}

static void scale(struct objects *o, const json_t *set, int64_t replicas)
{
    if (tree_int(set, "spec.replicas", 1) == replicas)
        return;
    json_t *fresh = json_deep_copy(set);
    tree_set(fresh, "spec.replicas", json_integer(replicas));
    standin_update(o, KIND_REPLICA_SET, set, fresh);
}

/* Scales what the Deployment owns; true when one of them has its template. */
static bool scale_owned(struct objects *o, const json_t *deployment, const json_t *template)
{
    size_t i;
    json_t *set, *owned = json_array();
    const char *key;
    bool current = false;
    json_object_foreach(o->kinds[KIND_REPLICA_SET], key, set) {
        if (tree_owned_by(set, tree_string(deployment, "metadata.uid")))
            json_array_append(owned, set);
    }
    json_array_foreach(owned, i, set) {
        json_t *its = plain_template(set);
        bool same = !current && json_equal(its, template);
        json_decref(its);
        scale(o, set, same ? tree_int(deployment, "spec.replicas", 1) : 0);
        current = current || same;
    }
    json_decref(owned);
    return current;
}

static void report_deployment(struct objects *o, const json_t *deployment)
{
    int64_t replicas = 0, ready = 0;
    const char *key;
    json_t *set;
    json_object_foreach(o->kinds[KIND_REPLICA_SET], key, set) {
        if (tree_owned_by(set, tree_string(deployment, "metadata.uid"))) {
            replicas += tree_int(set, "status.replicas", 0);
            ready += tree_int(set, "status.readyReplicas", 0);
        }
    }
    json_t *fresh = json_deep_copy(deployment);
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(deployment, "metadata.generation", 0)));
    tree_set(fresh, "status.replicas", json_integer(replicas));
    tree_set(fresh, "status.readyReplicas", json_integer(ready));
    tree_set(fresh, "status.availableReplicas", json_integer(ready));
    registry_put_status(o, KIND_DEPLOYMENT, deployment, fresh);
}

static void keep_deployment(struct objects *o, const json_t *deployment)
{
    if (tree_get(deployment, "metadata.deletionTimestamp") != NULL)
        return;
    json_t *template = plain_template(deployment);
    if (!scale_owned(o, deployment, template))
        standin_create(o, KIND_REPLICA_SET, tree_string(deployment, "metadata.namespace"),
                       replica_set_of(deployment, template));
    json_decref(template);
    report_deployment(o, deployment);
}

/* ---- ReplicaSets ---- */

/* uid of the controller → its active pods, oldest first */
static json_t *pods_by_controller(const struct objects *o)
{
    json_t *all = json_object(), *pod;
    const char *key;
    json_object_foreach(o->kinds[KIND_POD], key, pod) {
        struct span uid = tree_string(tree_controller(pod), "uid");
        if (uid.len == 0 || !standin_pod_is_active(pod))
            continue;
        json_t *list = json_object_getn(all, uid.ptr, uid.len);
        if (list == NULL) {
            list = json_array();
            json_object_setn_new(all, uid.ptr, uid.len, list);
        }
        json_array_append(list, pod);
    }
    return all;
}

/* Which pod goes first when there are too many: the less it is, the sooner. */
static int worth(const json_t *pod)
{
    if (tree_string(pod, "spec.nodeName").len == 0)
        return 0;
    return tree_condition_is(pod, "Ready", "True") ? 2 : 1;
}

static void drop_pods(struct objects *o, json_t *pods, size_t count)
{
    while (count-- > 0) {
        size_t i, chosen = 0;
        json_t *pod;
        json_array_foreach(pods, i, pod) {
            if (worth(pod) <= worth(json_array_get(pods, chosen)))
                chosen = i; /* among equals the newest */
        }
        standin_delete(o, KIND_POD, json_array_get(pods, chosen), NULL);
        json_array_remove(pods, chosen);
    }
}

static void report_set(struct objects *o, const json_t *set, const json_t *pods)
{
    size_t i;
    json_t *pod;
    int64_t ready = 0;
    json_array_foreach(pods, i, pod) {
        ready += tree_condition_is(pod, "Ready", "True");
    }
    json_t *fresh = json_deep_copy(set);
    tree_set(fresh, "status.replicas", json_integer((int64_t)json_array_size(pods)));
    tree_set(fresh, "status.readyReplicas", json_integer(ready));
    tree_set(fresh, "status.availableReplicas", json_integer(ready));
    tree_set(fresh, "status.observedGeneration",
             json_integer(tree_int(set, "metadata.generation", 0)));
    registry_put_status(o, KIND_REPLICA_SET, set, fresh);
}

static void keep_replica_set(struct objects *o, const json_t *set, const json_t *by_controller)
{
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    struct span uid = tree_string(set, "metadata.uid");
    json_t *known = json_object_getn(by_controller, uid.ptr, uid.len);
    json_t *pods = known != NULL ? json_copy(known) : json_array();
    int64_t want = tree_int(set, "spec.replicas", 1), have = (int64_t)json_array_size(pods);
    for (int64_t i = have; i < want; i++)
        standin_create(o, KIND_POD, tree_string(set, "metadata.namespace"),
                       standin_pod_of(set, KIND_REPLICA_SET));
    if (have > want)
        drop_pods(o, pods, (size_t)(have - want));
    report_set(o, set, pods);
    json_decref(pods);
}

/* The objects of a kind as they are now, safe against changes while walking. */
static json_t *list_of(const struct objects *o, enum kind k)
{
    json_t *all = json_array(), *object;
    const char *key;
    json_object_foreach(o->kinds[k], key, object) {
        json_array_append(all, object);
    }
    return all;
}

wall_ms workloads_step(struct workloads *w)
{
    size_t i;
    json_t *object, *list;
    w->pacer.kinds = watched;
    if (!pacer_is_due(&w->pacer, w->objects))
        return pacer_due(&w->pacer);
    list = list_of(w->objects, KIND_DEPLOYMENT);
    json_array_foreach(list, i, object) {
        keep_deployment(w->objects, object);
    }
    json_decref(list);
    list = list_of(w->objects, KIND_REPLICA_SET);
    json_t *pods = pods_by_controller(w->objects);
    json_array_foreach(list, i, object) {
        keep_replica_set(w->objects, object, pods);
    }
    json_decref(pods);
    json_decref(list);
    return pacer_due(&w->pacer);
}
