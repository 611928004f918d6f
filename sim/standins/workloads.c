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

static void keep_deployment(struct workloads *w, const json_t *deployment)
{
    struct objects *o = w->objects;
    if (tree_get(deployment, "metadata.deletionTimestamp") != NULL)
        return;
    json_t *template = plain_template(deployment);
    if (!scale_owned(o, deployment, template) &&
        !standin_create(o, KIND_REPLICA_SET, tree_string(deployment, "metadata.namespace"),
                        replica_set_of(deployment, template)))
        marks_add(&w->deployments, deployment); /* once more at the next look */
    json_decref(template);
    report_deployment(o, deployment);
}

/* ---- ReplicaSets ---- */

/* The active pods of a controller, oldest first. */
static json_t *pods_of(const struct workloads *w, const json_t *controller)
{
    size_t i;
    json_t *pod, *active = json_array();
    json_t *all = objects_by_age(w->objects, KIND_POD,
                                 groups_keys(&w->by_controller, tree_string(controller, "metadata.uid")));
    json_array_foreach(all, i, pod) {
        if (standin_pod_is_active(pod))
            json_array_append(active, pod);
    }
    json_decref(all);
    return active;
}

/* What its annotation says, between nothing and all that is an int32; 0: it says nothing, or no such number. */
static int64_t deletion_cost(const json_t *pod)
{
    int64_t value;
    const json_t *text = json_object_get(tree_get(pod, "metadata.annotations"), "controller.kubernetes.io/pod-deletion-cost");
    bool is = json_is_string(text) && span_int64(span_of(json_string_value(text)), &value) && value >= INT32_MIN && value <= INT32_MAX;
    return is ? value : 0;
}

/* Which pod goes first when there are too many: the less it is, the sooner. Who is not bound goes before who is not ready, and
 * among who is ready the annotation says it, as in Kubernetes. */
static int64_t worth(const json_t *pod)
{
    if (tree_string(pod, "spec.nodeName").len == 0)
        return INT64_MIN;
    return deletion_cost(pod) + (tree_condition_is(pod, "Ready", "True") ? 0 : INT64_MIN / 2);
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

static void keep_replica_set(struct workloads *w, const json_t *set)
{
    struct objects *o = w->objects;
    if (tree_get(set, "metadata.deletionTimestamp") != NULL)
        return;
    json_t *pods = pods_of(w, set);
    int64_t want = tree_int(set, "spec.replicas", 1), have = (int64_t)json_array_size(pods);
    for (int64_t i = have; i < want; i++)
        if (!standin_create(o, KIND_POD, tree_string(set, "metadata.namespace"),
                            standin_pod_of(set, KIND_REPLICA_SET)))
            marks_add(&w->sets, set); /* once more at the next look */
    if (have > want)
        drop_pods(o, pods, (size_t)(have - want));
    report_set(o, set, pods);
    json_decref(pods);
}

/* ---- what changed ---- */

static void mark_owners(struct marks *m, const json_t *object)
{
    size_t i;
    json_t *owner;
    json_array_foreach(tree_get(object, "metadata.ownerReferences"), i, owner) {
        if (tree_is(owner, "kind", kind_info(m->kind)->name))
            marks_add_named(m, tree_string(object, "metadata.namespace"), tree_string(owner, "name"));
    }
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    struct workloads *w = user;
    const json_t *object = fresh != NULL ? fresh : old;
    if (k == KIND_DEPLOYMENT) {
        marks_add(&w->deployments, object);
    } else if (k == KIND_REPLICA_SET) {
        marks_add(&w->sets, object);
        mark_owners(&w->deployments, old);
        mark_owners(&w->deployments, fresh);
    } else if (k == KIND_POD) {
        objects_key_of(key, k, object);
        groups_move(&w->by_controller, key, tree_string(tree_controller(old), "uid"),
                    tree_string(tree_controller(fresh), "uid"));
        mark_owners(&w->sets, old);
        mark_owners(&w->sets, fresh);
    }
}

wall_ms workloads_step(struct workloads *w)
{
    size_t i;
    json_t *object, *list;
    if (!pacer_is_due(&w->pacer, w->objects))
        return pacer_due(&w->pacer);
    list = marks_take(&w->deployments, w->objects);
    json_array_foreach(list, i, object) {
        keep_deployment(w, object);
    }
    json_decref(list);
    list = marks_take(&w->sets, w->objects);
    json_array_foreach(list, i, object) {
        keep_replica_set(w, object);
    }
    json_decref(list);
    return pacer_due(&w->pacer);
}

void workloads_init(struct workloads *w, struct objects *o, span_ms delay)
{
    *w = (struct workloads){.objects = o, .pacer = {.kinds = watched, .delay = delay}};
    marks_init(&w->deployments, KIND_DEPLOYMENT);
    marks_init(&w->sets, KIND_REPLICA_SET);
    groups_init(&w->by_controller);
    objects_listen(o, heard, w);
}

void workloads_release(struct workloads *w)
{
    objects_unlisten(w->objects, w);
    groups_release(&w->by_controller);
    marks_release(&w->deployments);
    marks_release(&w->sets);
}
