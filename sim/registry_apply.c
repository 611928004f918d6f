/* Server-side apply for one field manager, "stowage", the only one that applies here.
 *
 * The server remembers the manager's last intent: a field that was in it and no longer is goes away.
 * A field whose value is neither the one applied now nor the one applied last was set by somebody
 * else: a conflict unless forced. That is less than field ownership (two managers that agree on a
 * value are not told apart), and enough for what Stowage applies: caBundle and our own resources. */
#include "sim/registry.h"

#include <stdio.h>

struct conflicts {
    char fields[512];
    uint32_t count;
};

/* The member by which elements of a list are the same, or NULL for a list that is replaced. */
static const char *merge_key(const json_t *list)
{
    static const char *const keys[] = {"type", "name", "uid"};
    const json_t *first = json_array_get(list, 0);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (json_is_string(json_object_get(first, keys[i])))
            return keys[i];
    }
    return NULL;
}

static json_t *element_of(const json_t *list, const char *key, const json_t *like, size_t *at_out)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        if (json_equal(json_object_get(v, key), json_object_get(like, key))) {
            *at_out = i;
            return v;
        }
    }
    return NULL;
}

static void apply_value(json_t *live, const json_t *intent, const json_t *last, struct conflicts *c,
                        const char *path);

static void apply_list(json_t *live, const json_t *intent, const json_t *last, const char *key,
                       struct conflicts *c, const char *path)
{
    size_t i, at;
    json_t *v;
    json_array_foreach(last, i, v) {
        if (element_of(intent, key, v, &at) == NULL && element_of(live, key, v, &at) != NULL)
            json_array_remove(live, at);
    }
    json_array_foreach(intent, i, v) {
        json_t *there = element_of(live, key, v, &at);
        if (there == NULL)
            json_array_append_new(live, json_deep_copy(v));
        else
            apply_value(there, v, element_of(last, key, v, &at), c, path);
    }
}

static void note_conflict(struct conflicts *c, const char *path)
{
    size_t used = strlen(c->fields);
    snprintf(c->fields + used, sizeof c->fields - used, "%s%s", c->count++ != 0 ? ", " : "", path);
}

static void apply_member(json_t *live, const char *key, const json_t *intent, const json_t *last,
                         struct conflicts *c, const char *path)
{
    json_t *there = json_object_get(live, key);
    if (json_is_object(intent) && json_is_object(there)) {
        apply_value(there, intent, last, c, path);
        return;
    }
    const char *by = json_is_array(intent) && json_is_array(there) ? merge_key(intent) : NULL;
    if (by != NULL) {
        apply_list(there, intent, last, by, c, path);
        return;
    }
    if (there != NULL && !json_equal(there, intent) && !json_equal(there, last))
        note_conflict(c, path);
    json_object_set_new(live, key, json_deep_copy(intent));
}

static void apply_value(json_t *live, const json_t *intent, const json_t *last, struct conflicts *c,
                        const char *path)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)last, key, v) {
        if (json_object_get(intent, key) == NULL)
            json_object_del(live, key);
    }
    json_object_foreach((json_t *)(uintptr_t)intent, key, v) {
        char below[256];
        snprintf(below, sizeof below, "%s.%s", path, key);
        apply_member(live, key, v, json_object_get(last, key), c, below);
    }
}

static void remember(struct objects *o, const char *key, const json_t *intent)
{
    json_t *kept = json_deep_copy(intent);
    tree_remove(kept, "metadata.resourceVersion"); /* a lock, not an intent */
    tree_remove(kept, "metadata.uid");
    json_object_set_new(o->applied, key, kept);
}

static bool apply_to(struct objects *o, const struct api_request *r, const json_t *old,
                     const json_t *intent, const char *key, struct reply *out)
{
    struct conflicts c = {.count = 0};
    json_t *fresh = json_deep_copy(old);
    apply_value(fresh, intent, json_object_get(o->applied, key), &c, "");
    if (c.count != 0 && !r->force) {
        json_decref(fresh);
        reply_fail(out, 409, "Conflict", "Apply failed with %u conflict%s: %s", c.count,
                   c.count == 1 ? "" : "s", c.fields);
        reply_cause(out, "FieldManagerConflict", c.fields);
        return false;
    }
    if (!registry_store(o, r->kind, old, fresh, r->subresource, out))
        return false;
    remember(o, key, intent);
    return true;
}

static bool create_by(struct objects *o, const struct api_request *r, const json_t *intent,
                      const char *key, struct reply *out)
{
    if (r->subresource.len != 0)
        return registry_not_found(out, r->kind, r->name);
    if (tree_get(intent, "metadata.uid") != NULL)
        return reply_fail(out, 409, "Conflict", "uid mismatch: the object is not there");
    json_t *object = json_deep_copy(intent);
    tree_remove(object, "metadata.resourceVersion");
    if (!registry_create(o, r, object, out))
        return false;
    remember(o, key, intent);
    return true;
}

void registry_keep_writer(const struct objects *o, const json_t *old, json_t *fresh)
{
    struct span now = tree_string(fresh, "status.nominatedNodeName");
    if (span_eq(now, tree_string(old, "status.nominatedNodeName")))
        return;
    tree_remove(fresh, "metadata.managedFields");
    if (now.len != 0 && o->writer != NULL)
        tree_set(fresh, "metadata.managedFields",
                 json_pack("[{s:s, s:s, s:s}]", "manager", o->writer, "operation", "Update",
                           "subresource", "status"));
}

bool registry_apply(struct objects *o, const struct api_request *r, json_t *body, struct reply *out)
{
    char key[OBJECTS_KEY_MAX], named[OBJECTS_KEY_MAX + 64];
    struct span name = tree_string(body, "metadata.name");
    const json_t *old = objects_find(o, r->kind, r->ns, r->name);
    bool ok;
    if (name.len != 0 && !span_eq(name, r->name))
        ok = reply_fail(out, 400, "BadRequest", "name in the body is not the one in the URL");
    else if (!objects_key(key, r->kind, r->ns, r->name))
        ok = reply_fail(out, 400, "BadRequest", "the object has no name");
    else {
        snprintf(named, sizeof named, "%s%.*s %s", kind_info(r->kind)->plural,
                 SPAN_ARG(r->subresource), key);
        if (name.len == 0)
            tree_set(body, "metadata.name", tree_of_span(r->name));
        ok = old != NULL ? apply_to(o, r, old, body, named, out) : create_by(o, r, body, named, out);
    }
    json_decref(body);
    return ok;
}
