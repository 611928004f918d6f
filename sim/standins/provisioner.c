/* PersistentVolumeClaims get volumes: the persistent volume controller and a CSI provisioner in one. A class that waits
 * (WaitForFirstConsumer) has its volume made in the zone of the node where the first pod of the claim was bound, so that who
 * comes after it has to stay there; any other class at once, where its allowedTopologies say, or within everybody's reach.
 *
 * Left out: volumes that were there before are given to nobody (kubernetes.io/no-provisioner makes none), and claims of
 * ephemeral volumes are not made. A pod may start before its claims are bound. */
#include "sim/standins/standin.h"

#include <stdio.h>

static const enum kind watched[] = {KIND_VOLUME_CLAIM, KIND_POD, KIND_STORAGE_CLASS, KIND_NONE};
static const char *const zone_label = "topology.kubernetes.io/zone";
static const struct span everywhere = {NULL, 0};

/* ---- the class ---- */

static const json_t *default_class(const struct objects *o)
{
    const char *key;
    json_t *class;
    json_object_foreach(o->kinds[KIND_STORAGE_CLASS], key, class) {
        const json_t *is = json_object_get(tree_get(class, "metadata.annotations"),
                                           "storageclass.kubernetes.io/is-default-class");
        if (json_is_string(is) && strcmp(json_string_value(is), "true") == 0)
            return class;
    }
    return NULL;
}

/* The empty name asks for no class, none at all for the default one. */
static const json_t *class_of(const struct objects *o, const json_t *claim)
{
    if (tree_get(claim, "spec.storageClassName") == NULL)
        return default_class(o);
    return objects_find(o, KIND_STORAGE_CLASS, everywhere, tree_string(claim, "spec.storageClassName"));
}

/* ---- where ---- */

static json_t *terms_of_zone(const json_t *node)
{
    json_t *zone = json_object_get(tree_get(node, "metadata.labels"), zone_label);
    if (!json_is_string(zone))
        return NULL;
    return json_pack("[{s:[{s:s, s:s, s:[O]}]}]", "matchExpressions", "key", zone_label, "operator", "In", "values", zone);
}

static json_t *terms_of_class(const json_t *class)
{
    size_t i;
    json_t *e, *expressions = json_array();
    const json_t *first = json_array_get(tree_get(class, "allowedTopologies"), 0);
    json_array_foreach(tree_get(first, "matchLabelExpressions"), i, e) {
        json_array_append_new(expressions, json_pack("{s:O, s:s, s:[O]}", "key", tree_get(e, "key"), "operator", "In",
                                                     "values", json_array_get(tree_get(e, "values"), 0)));
    }
    if (json_array_size(expressions) != 0)
        return json_pack("[{s:o}]", "matchExpressions", expressions);
    json_decref(expressions);
    return NULL;
}

/* ---- the volume ---- */

static json_t *volume_for(const json_t *claim, const json_t *class, const char *name, json_t *terms /* taken */)
{
    struct span policy = tree_string(class, "reclaimPolicy");
    json_t *volume = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:O?, s:O?, s:O, s:o, s:{s:s, s:O, s:O, s:O}, s:{s:O, s:s}}, s:{s:s}}", "apiVersion", "v1",
        "kind", "PersistentVolume", "metadata", "name", name, "spec", "capacity", tree_get(claim, "spec.resources.requests"),
        "accessModes", tree_get(claim, "spec.accessModes"), "storageClassName", tree_get(class, "metadata.name"),
        "persistentVolumeReclaimPolicy", tree_of_span(policy.len != 0 ? policy : SPAN("Delete")), "claimRef", "kind",
        "PersistentVolumeClaim", "namespace", tree_get(claim, "metadata.namespace"), "name",
        tree_get(claim, "metadata.name"), "uid", tree_get(claim, "metadata.uid"), "csi", "driver",
        tree_get(class, "provisioner"), "volumeHandle", name, "status", "phase", "Bound");
    if (terms != NULL)
        tree_set(volume, "spec.nodeAffinity.required.nodeSelectorTerms", terms);
    return volume;
}

static void bind(struct objects *o, const json_t *claim, const json_t *class, json_t *terms /* taken */)
{
    char name[OBJECTS_KEY_MAX];
    json_t *fresh = json_deep_copy(claim), *annotations = json_object();
    snprintf(name, sizeof name, "pvc-%.*s", SPAN_ARG(tree_string(claim, "metadata.uid")));
    registry_import(o, KIND_VOLUME, volume_for(claim, class, name, terms));
    if (tree_get(claim, "metadata.annotations") != NULL)
        json_object_update(annotations, tree_get(claim, "metadata.annotations"));
    json_object_set_new(annotations, "pv.kubernetes.io/bind-completed", json_string("yes"));
    json_object_set_new(annotations, "pv.kubernetes.io/bound-by-controller", json_string("yes"));
    tree_set(fresh, "metadata.annotations", annotations);
    tree_set(fresh, "spec.storageClassName", json_incref(tree_get(class, "metadata.name")));
    tree_set(fresh, "spec.volumeName", json_string(name));
    tree_set(fresh, "status.phase", json_string("Bound"));
    registry_import(o, KIND_VOLUME_CLAIM, fresh);
}

/* It names no class and there is a default one. */
static void name_class(struct objects *o, const json_t *claim, const json_t *class)
{
    json_t *fresh = json_deep_copy(claim);
    tree_set(fresh, "spec.storageClassName", json_incref(tree_get(class, "metadata.name")));
    standin_update(o, KIND_VOLUME_CLAIM, claim, fresh);
}

static void keep_claim(struct provisioner *p, const json_t *claim)
{
    char key[OBJECTS_KEY_MAX];
    struct objects *o = p->objects;
    const json_t *class = class_of(o, claim), *placed;
    objects_key_of(key, KIND_VOLUME_CLAIM, claim);
    placed = json_object_get(p->placed, key);
    if (class == NULL || tree_string(claim, "spec.volumeName").len != 0 ||
        tree_get(claim, "metadata.deletionTimestamp") != NULL ||
        tree_is(class, "provisioner", "kubernetes.io/no-provisioner"))
        return;
    if (!tree_is(class, "volumeBindingMode", "WaitForFirstConsumer"))
        bind(o, claim, class, terms_of_class(class));
    else if (placed != NULL)
        bind(o, claim, class,
             terms_of_zone(objects_find(o, KIND_NODE, everywhere, span_of(json_string_value(placed)))));
    else if (tree_get(claim, "spec.storageClassName") == NULL)
        name_class(o, claim, class);
}

/* Of a claim that is gone, if its class says so. */
static void drop_released(struct provisioner *p)
{
    const char *name;
    json_t *value;
    json_object_foreach(p->released, name, value) {
        const json_t *volume = objects_find(p->objects, KIND_VOLUME, everywhere, span_of(name));
        if (tree_is(volume, "spec.persistentVolumeReclaimPolicy", "Delete"))
            standin_delete(p->objects, KIND_VOLUME, volume, NULL);
    }
    json_object_clear(p->released);
}

/* ---- what changed ---- */

/* Its claims that are still unbound are made where it is. */
static void hear_bound(struct provisioner *p, const json_t *pod)
{
    size_t i;
    json_t *volume;
    struct span ns = tree_string(pod, "metadata.namespace");
    json_array_foreach(tree_get(pod, "spec.volumes"), i, volume) {
        char key[OBJECTS_KEY_MAX];
        struct span name = tree_string(volume, "persistentVolumeClaim.claimName");
        const json_t *claim = objects_find(p->objects, KIND_VOLUME_CLAIM, ns, name);
        if (!objects_key(key, KIND_VOLUME_CLAIM, ns, name) || tree_string(claim, "spec.volumeName").len != 0 ||
            json_object_get(p->placed, key) != NULL)
            continue;
        json_object_set(p->placed, key, tree_get(pod, "spec.nodeName"));
        marks_add_named(&p->claims, ns, name);
    }
}

static void hear_claim(struct provisioner *p, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    struct span volume = tree_string(old, "spec.volumeName");
    objects_key_of(key, KIND_VOLUME_CLAIM, fresh != NULL ? fresh : old);
    if (fresh == NULL && volume.len != 0)
        json_object_setn_new(p->released, volume.ptr, volume.len, json_true());
    if (fresh == NULL || tree_string(fresh, "spec.volumeName").len != 0)
        json_object_del(p->placed, key);
    else
        marks_add(&p->claims, fresh);
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    struct provisioner *p = user;
    if (k == KIND_VOLUME_CLAIM)
        hear_claim(p, old, fresh);
    else if (k == KIND_STORAGE_CLASS)
        marks_add_keys(&p->claims, p->objects->kinds[KIND_VOLUME_CLAIM]);
    else if (k == KIND_POD && tree_string(fresh, "spec.nodeName").len != 0 && tree_string(old, "spec.nodeName").len == 0)
        hear_bound(p, fresh);
}

wall_ms provisioner_step(struct provisioner *p)
{
    json_t *claim;
    size_t i;
    if (!pacer_is_due(&p->pacer, p->objects))
        return pacer_due(&p->pacer);
    json_t *claims = marks_take(&p->claims, p->objects);
    json_array_foreach(claims, i, claim) {
        keep_claim(p, claim);
    }
    json_decref(claims);
    drop_released(p);
    return pacer_due(&p->pacer);
}

void provisioner_init(struct provisioner *p, struct objects *o, span_ms delay)
{
    *p = (struct provisioner){.objects = o, .pacer = {.kinds = watched, .delay = delay}, .placed = json_object(),
                              .released = json_object()};
    marks_init(&p->claims, KIND_VOLUME_CLAIM);
    objects_listen(o, heard, p);
}

void provisioner_release(struct provisioner *p)
{
    objects_unlisten(p->objects, p);
    marks_release(&p->claims);
    json_decref(p->placed);
    json_decref(p->released);
}
