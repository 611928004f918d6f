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
static json_t *dependents_of(const struct collector *c, struct span uid)
{
    size_t i;
    json_t *found = json_array(), *object;
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        json_t *all = objects_by_age(c->objects, k, groups_keys(&c->by_owner[k], uid));
        json_array_foreach(all, i, object) {
            json_array_append_new(found, json_pack("[i, O]", (int)k, object));
        }
        json_decref(all);
    }
    return found;
}

/* Foreground: dependents first, then the owner. */
static void delete_foreground(struct collector *c, enum kind k, const json_t *owner)
{
    struct objects *o = c->objects;
    json_t *dependents = dependents_of(c, tree_string(owner, "metadata.uid")), *pair;
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

static void orphan(struct collector *c, enum kind k, const json_t *owner)
{
    struct objects *o = c->objects;
    struct span uid = tree_string(owner, "metadata.uid");
    json_t *dependents = dependents_of(c, uid), *pair;
    size_t i;
    json_array_foreach(dependents, i, pair) {
        drop_element(o, (enum kind)json_integer_value(json_array_get(pair, 0)),
                     json_array_get(pair, 1), "metadata.ownerReferences", "uid", uid);
    }
    json_decref(dependents);
    drop_element(o, k, owner, "metadata.finalizers", NULL, SPAN("orphan"));
}

static void collect_kind(struct collector *c, enum kind k)
{
    struct objects *o = c->objects;
    json_t *object, *all = marks_take(&c->marks[k], o);
    size_t i;
    json_array_foreach(all, i, object) {
        bool deleting = tree_get(object, "metadata.deletionTimestamp") != NULL;
        if (deleting && has_finalizer(object, "foregroundDeletion"))
            delete_foreground(c, k, object);
        else if (deleting && has_finalizer(object, "orphan"))
            orphan(c, k, object);
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

/* ---- what changed ---- */

static const json_t *owners_of(const json_t *object)
{
    return tree_get(object, "metadata.ownerReferences");
}

static void move_owned(struct collector *c, enum kind k, const char *key, const json_t *old, const json_t *fresh)
{
    size_t i;
    json_t *owner;
    json_array_foreach(owners_of(old), i, owner) {
        groups_drop(&c->by_owner[k], tree_string(owner, "uid"), key);
    }
    json_array_foreach(owners_of(fresh), i, owner) {
        groups_add(&c->by_owner[k], tree_string(owner, "uid"), key);
    }
}

/* One that goes waits for them, perhaps. */
static void mark_owners(struct collector *c, const json_t *object)
{
    size_t i;
    json_t *owner;
    json_array_foreach(owners_of(object), i, owner) {
        enum kind k = kind_find(tree_string(owner, "apiVersion"), tree_string(owner, "kind"));
        if (k != KIND_NONE)
            marks_add_named(&c->marks[k], tree_string(object, "metadata.namespace"), tree_string(owner, "name"));
    }
}

static void mark_contents(struct collector *c, struct span ns)
{
    const char *key;
    json_t *object;
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        json_object_foreach(c->objects->kinds[k], key, object) {
            if (kind_info(k)->namespaced && span_eq(tree_string(object, "metadata.namespace"), ns))
                marks_add(&c->marks[k], object);
        }
    }
}

static void hear_gone(struct collector *c, enum kind k, const json_t *old)
{
    for (enum kind d = 0; d < KIND_COUNT; d++)
        marks_add_keys(&c->marks[d], groups_keys(&c->by_owner[d], tree_string(old, "metadata.uid")));
    if (k == KIND_NAMESPACE)
        mark_contents(c, tree_string(old, "metadata.name"));
}

static void heard(void *user, enum kind k, const json_t *old, const json_t *fresh)
{
    char key[OBJECTS_KEY_MAX];
    struct collector *c = user;
    bool same = old != NULL && fresh != NULL &&
                (owners_of(old) == NULL ? owners_of(fresh) == NULL : json_equal(owners_of(old), owners_of(fresh)));
    if (fresh != NULL && (!same || tree_get(fresh, "metadata.deletionTimestamp") != NULL))
        marks_add(&c->marks[k], fresh);
    if (same)
        return;
    objects_key_of(key, k, fresh != NULL ? fresh : old);
    move_owned(c, k, key, old, fresh);
    mark_owners(c, old);
    mark_owners(c, fresh);
    if (fresh == NULL) {
        json_object_del(c->marks[k].keys, key); /* what comes and goes unheard, Events, must not add up */
        hear_gone(c, k, old);
    }
}

wall_ms collector_step(struct collector *c)
{
    struct objects *o = c->objects;
    if (pacer_is_due(&c->pacer, o)) {
        for (enum kind k = 0; k < KIND_COUNT; k++)
            collect_kind(c, k);
    }
    if (c->expiry <= o->now)
        c->expiry = expire_events(o);
    wall_ms due = pacer_due(&c->pacer);
    /* An Event that comes later lives longer: looking once an hour is enough while there is none. */
    if (c->expiry == INT64_MAX)
        c->expiry = o->now + EVENT_LIFE_MS;
    return c->expiry < due ? c->expiry : due;
}

void collector_init(struct collector *c, struct objects *o, span_ms delay)
{
    *c = (struct collector){.objects = o, .pacer = {.kinds = watched, .delay = delay}};
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        marks_init(&c->marks[k], k);
        groups_init(&c->by_owner[k]);
    }
    objects_listen(o, heard, c);
}

void collector_release(struct collector *c)
{
    objects_unlisten(c->objects, c);
    for (enum kind k = 0; k < KIND_COUNT; k++) {
        marks_release(&c->marks[k]);
        groups_release(&c->by_owner[k]);
    }
}
