/* The subresource scale: spec.replicas of an object as an autoscaling/v1 Scale. */
#include "sim/registry.h"

static bool has_scale(enum kind k)
{
    switch (k) {
    case KIND_DEPLOYMENT:
    case KIND_REPLICA_SET:
    case KIND_STATEFUL_SET:
    case KIND_REPLICATION_CONTROLLER:
        return true;
    default:
        return kind_is_machines(k) && k != KIND_MACHINE;
    }
}

static void reply_scale(struct reply *out, const json_t *of)
{
    json_t *scale = json_pack("{s:s, s:s, s:{}, s:{s:I}, s:{s:I}}", "apiVersion", "autoscaling/v1", "kind", "Scale", "metadata",
                              "spec", "replicas", (json_int_t)tree_int(of, "spec.replicas", 0), "status", "replicas",
                              (json_int_t)tree_int(of, "status.replicas", 0));
    static const char *const members[] = {"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"};
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (tree_get(of, members[i]) != NULL)
            tree_set(scale, members[i], json_incref(tree_get(of, members[i])));
    reply_object(out, 200, scale);
    json_decref(scale);
}

bool registry_scale(struct objects *o, const struct api_request *r, const json_t *old, const json_t *patch, struct reply *out)
{
    char key[OBJECTS_KEY_MAX];
    if (!has_scale(r->kind))
        return registry_not_found(out, r->kind, r->name);
    if (r->verb == API_GET) {
        reply_scale(out, old);
        return true;
    }
    if (r->verb != API_MERGE)
        return reply_fail(out, 405, "MethodNotAllowed", "a scale is read and patched here");
    struct span lock = tree_string(patch, "metadata.resourceVersion");
    int64_t replicas = tree_int(patch, "spec.replicas", tree_int(old, "spec.replicas", 0));
    if (lock.len != 0 && !span_eq(lock, tree_string(old, "metadata.resourceVersion")))
        return reply_fail(out, 409, "Conflict", "Operation cannot be fulfilled on %s: the object has been modified",
                          registry_label(key, r->kind, r->name));
    if (replicas < 0)
        return reply_fail(out, 422, "Invalid", "spec.replicas: Invalid value: must be greater than or equal to 0");
    json_t *fresh = json_deep_copy(old);
    tree_set(fresh, "spec.replicas", json_integer(replicas));
    if (!registry_store(o, r->kind, old, fresh, (struct span){NULL, 0}, out))
        return false;
    reply_scale(out, objects_find(o, r->kind, r->ns, r->name));
    return true;
}
