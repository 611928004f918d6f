#include "sim/standins/standin.h"

enum { EVENT_LIFE_MS = MS_HOUR };

static const enum kind watched[] = {
    KIND_POD,        KIND_NODE,        KIND_NODE_CLAIM, KIND_NODE_POOL, KIND_KWOK_NODE_CLASS,
    KIND_DAEMON_SET, KIND_DEPLOYMENT,  KIND_REPLICA_SET, KIND_NAMESPACE, KIND_DISRUPTION_BUDGET,
    KIND_SECRET,     KIND_VOLUME_CLAIM, KIND_SERVICE,   KIND_STATEFUL_SET,
    KIND_REPLICATION_CONTROLLER,        KIND_NONE};

static bool has_finalizer(const json_t *object, const char *finalizer)
{
    size_t i;
    json_t *f;
    json_array_foreach(tree_get(object, "metadata.finalizers"), i, f) {
        if (json_is_string(f) && strcmp(json_string_value(f), finalizer) == 0)
            return true;
    }
    return false;
}

static void drop_element(struct objects *o, enum kind k, const json_t *object, const char *path,
                         const char *member, struct span text)
{
    json_t *fresh = json_deep_copy(object), *list = tree_get(fresh, path), *v;
    size_t i;
    json_array_foreach(list, i, v) {
        struct span is = member != NULL ? tree_string(v, member) : span_of(json_string_value(v));
        if (span_eq(is, text)) {
            json_array_remove(list, i);
            break;
        }
    }
    if (json_array_size(list) == 0)
        tree_remove(fresh, path);
    standin_update(o, k, object, fresh);
}

static bool orphaned(const struct objects *o, const json_t *object)
{
    size_t i;
    json_t *owner;
    const json_t *owners = tree_get(object, "metadata.ownerReferences");
    json_array_foreach(owners, i, owner) {
        if (objects_alive(o, tree_string(owner, "uid")))
            return false;
    }
    return json_array_size(owners) != 0;
}

static bool homeless(const struct objects *o, enum kind k, const json_t *object)
{
    return kind_info(k)->namespaced &&
           objects_find(o, KIND_NAMESPACE, (struct span){NULL, 0},
                        tree_string(object, "metadata.namespace")) == NULL;
}

/* All objects that name `uid` as an owner: as an array of [kind, object]. */
static json_t *dependents_of(const struct objects *o, struct span uid)
{
    json_t *found = json_array(), *object;
    const char *key;
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        json_object_foreach(o->kinds[k], key, object) {
            if (tree_owned_by(object, uid))
                json_array_append_new(found, json_pack("[i, O]", (int)k, object));
        }
    }
    return found;
}

/* Foreground: dependents first, then the owner. */
static void delete_foreground(struct objects *o, enum kind k, const json_t *owner)
{
    json_t *dependents = dependents_of(o, tree_string(owner, "metadata.uid")), *pair;
    size_t i;
    json_array_foreach(dependents, i, pair) {
        const json_t *object = json_array_get(pair, 1);
        if (tree_get(object, "metadata.deletionTimestamp") == NULL)
            standin_delete(o, (enum kind)json_integer_value(json_array_get(pair, 0)), object, NULL);
    }
    if (json_array_size(dependents) == 0)
        drop_element(o, k, owner, "metadata.finalizers", NULL, SPAN("foregroundDeletion"));
    json_decref(dependents);
}

static void orphan(struct objects *o, enum kind k, const json_t *owner)
{
    struct span uid = tree_string(owner, "metadata.uid");
    json_t *dependents = dependents_of(o, uid), *pair;
    size_t i;
    json_array_foreach(dependents, i, pair) {
        drop_element(o, (enum kind)json_integer_value(json_array_get(pair, 0)),
                     json_array_get(pair, 1), "metadata.ownerReferences", "uid", uid);
    }
    json_decref(dependents);
    drop_element(o, k, owner, "metadata.finalizers", NULL, SPAN("orphan"));
}

static void collect_kind(struct objects *o, enum kind k)
{
    json_t *all = json_array(), *object;
    const char *key;
    size_t i;
    json_object_foreach(o->kinds[k], key, object) {
        json_array_append(all, object);
    }
    json_array_foreach(all, i, object) {
        bool deleting = tree_get(object, "metadata.deletionTimestamp") != NULL;
        if (deleting && has_finalizer(object, "foregroundDeletion"))
            delete_foreground(o, k, object);
        else if (deleting && has_finalizer(object, "orphan"))
            orphan(o, k, object);
        else if (!deleting && (orphaned(o, object) || homeless(o, k, object)))
            standin_delete(o, k, object, NULL);
    }
    json_decref(all);
}

static wall_ms expire_events(struct objects *o)
{
    json_t *event, *old = json_array();
    const char *key;
    size_t i;
    wall_ms next = INT64_MAX;
    json_object_foreach(o->kinds[KIND_EVENT], key, event) {
        wall_ms made;
        if (!time_parse(tree_string(event, "metadata.creationTimestamp"), &made))
            continue;
        if (made + EVENT_LIFE_MS > o->now) {
            next = made + EVENT_LIFE_MS;
            break; /* oldest first */
        }
        json_array_append(old, event);
    }
    json_array_foreach(old, i, event) {
        standin_delete(o, KIND_EVENT, event, NULL);
    }
    json_decref(old);
    return next;
}

wall_ms collector_step(struct collector *c)
{
    struct objects *o = c->objects;
    c->pacer.kinds = watched;
    if (pacer_is_due(&c->pacer, o)) {
        for (enum kind k = 0; k < KIND_COUNT; k++)
            collect_kind(o, k);
    }
    if (c->expiry <= o->now)
        c->expiry = expire_events(o);
    wall_ms due = pacer_due(&c->pacer);
    /* An Event that comes later lives longer: looking once an hour is enough while there is none. */
    if (c->expiry == INT64_MAX)
        c->expiry = o->now + EVENT_LIFE_MS;
    return c->expiry < due ? c->expiry : due;
}
