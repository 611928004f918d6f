/* Deletion (spec kubernetes-contracts 4.8). Three things can keep an object after its DELETE: its
 * finalizers, the grace of a pod that runs somewhere, and finalizers that the propagation policy
 * adds for the garbage collector. */
#include "sim/registry.h"

#include "kube/meta.h"

static bool precondition_holds(const json_t *object, const json_t *options, const char *option,
                               const char *member, const char *name, const char *label,
                               struct reply *out)
{
    struct span wanted = tree_string(options, option), is = tree_string(object, member);
    if (wanted.len == 0 || span_eq(wanted, is))
        return true;
    return reply_fail(out, 409, "Conflict",
                      "Operation cannot be fulfilled on %s: Precondition failed: %s in precondition: "
                      "%.*s, %s in object meta: %.*s",
                      label, name, SPAN_ARG(wanted), name, SPAN_ARG(is));
}

static bool preconditions_hold(enum kind k, const json_t *object, const json_t *options,
                               struct reply *out)
{
    char label[OBJECTS_KEY_MAX];
    registry_label(label, k, tree_string(object, "metadata.name"));
    return precondition_holds(object, options, "preconditions.uid", "metadata.uid", "UID", label,
                              out) &&
           precondition_holds(object, options, "preconditions.resourceVersion",
                              "metadata.resourceVersion", "ResourceVersion", label, out);
}

static void add_finalizer(json_t *object, const char *finalizer)
{
    json_t *list = tree_get(object, "metadata.finalizers");
    size_t i;
    json_t *v;
    if (list == NULL) {
        list = json_array();
        tree_set(object, "metadata.finalizers", list);
    }
    json_array_foreach(list, i, v) {
        if (json_is_string(v) && strcmp(json_string_value(v), finalizer) == 0)
            return;
    }
    json_array_append_new(list, json_string(finalizer));
}

static int64_t pod_grace(const json_t *pod, const json_t *options)
{
    int64_t grace = tree_int(pod, "spec.terminationGracePeriodSeconds", 30);
    grace = tree_int(options, "gracePeriodSeconds", grace);
    if (tree_string(pod, "spec.nodeName").len == 0 || tree_is(pod, "status.phase", "Succeeded") ||
        tree_is(pod, "status.phase", "Failed"))
        return 0;
    return grace < 0 ? 1 : grace;
}

static void mark_deleting(const struct objects *o, json_t *object, int64_t grace)
{
    int64_t generation = tree_int(object, "metadata.generation", 0);
    tree_set(object, "metadata.deletionTimestamp", tree_of_time(o->now + grace * MS_SECOND));
    tree_set(object, "metadata.deletionGracePeriodSeconds", json_integer(grace));
    if (generation > 0)
        tree_set(object, "metadata.generation", json_integer(generation + 1));
}

/* A second DELETE can only shorten the grace. False when it changes nothing. */
static bool shorten(json_t *pod, const json_t *options)
{
    int64_t old = tree_int(pod, "metadata.deletionGracePeriodSeconds", 0);
    int64_t grace = tree_int(options, "gracePeriodSeconds", old);
    wall_ms until;
    if (grace >= old || !time_parse(tree_string(pod, "metadata.deletionTimestamp"), &until))
        return false;
    tree_set(pod, "metadata.deletionTimestamp", tree_of_time(until + (grace - old) * MS_SECOND));
    tree_set(pod, "metadata.deletionGracePeriodSeconds", json_integer(grace));
    return true;
}

bool registry_delete(struct objects *o, enum kind k, const json_t *object, const json_t *options,
                     struct reply *out)
{
    if (!preconditions_hold(k, object, options, out))
        return false;
    bool deleting = tree_get(object, "metadata.deletionTimestamp") != NULL;
    bool changed = true;
    json_t *fresh = json_deep_copy(object);
    if (tree_is(options, "propagationPolicy", "Foreground"))
        add_finalizer(fresh, "foregroundDeletion");
    if (tree_is(options, "propagationPolicy", "Orphan"))
        add_finalizer(fresh, "orphan");
    if (!deleting)
        mark_deleting(o, fresh, k == KIND_POD ? pod_grace(fresh, options) : 0);
    else
        changed = shorten(fresh, options);
    bool held = json_array_size(tree_get(fresh, "metadata.finalizers")) != 0 ||
                tree_int(fresh, "metadata.deletionGracePeriodSeconds", 0) != 0;
    if (held && changed) {
        reply_object(out, 200, objects_put(o, k, fresh));
        return true;
    }
    if (held || k == KIND_POD)
        reply_object(out, 200, held ? object : fresh);
    else
        reply_success(out, 200);
    if (!held)
        objects_remove(o, k, fresh);
    json_decref(fresh);
    return true;
}
