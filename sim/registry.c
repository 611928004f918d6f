#include "sim/registry.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- replies ---- */

void reply_release(struct reply *r)
{
    json_decref(r->body);
    *r = (struct reply){0};
}

static void fill_spans(struct reply *r)
{
    r->reason = tree_string(r->body, "reason");
    r->message = tree_string(r->body, "message");
}

bool reply_fail(struct reply *r, int status, const char *reason, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    json_decref(r->body);
    *r = (struct reply){.status = status, .retry_after_s = -1};
    r->body = json_pack("{s:s, s:s, s:{}, s:s, s:o, s:s, s:i}", "kind", "Status", "apiVersion",
                        "v1", "metadata", "status", "Failure", "message",
                        tree_of_span(span_of(message)), "reason", reason, "code", status);
    fill_spans(r);
    return false;
}

void reply_cause(struct reply *r, const char *reason, const char *message)
{
    tree_set(r->body, "details.causes",
             json_pack("[{s:s, s:s}]", "reason", reason, "message", message));
    r->cause = tree_string(json_array_get(tree_get(r->body, "details.causes"), 0), "reason");
}

void reply_object(struct reply *r, int status, const json_t *object)
{
    json_t *kept = json_incref((json_t *)(uintptr_t)object);
    json_decref(r->body);
    *r = (struct reply){.status = status, .body = kept, .retry_after_s = -1};
}

void reply_success(struct reply *r, int status)
{
    json_decref(r->body);
    *r = (struct reply){.status = status, .retry_after_s = -1};
    r->body = json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion", "v1",
                        "metadata", "status", "Success", "code", status);
}

static struct span group_of(enum kind k)
{
    struct span version;
    struct span group = span_cut(span_of(kind_info(k)->api_version), '/', &version);
    return version.ptr != NULL ? group : (struct span){NULL, 0};
}

const char *registry_label(char out[OBJECTS_KEY_MAX], enum kind k, struct span name)
{
    struct span group = group_of(k);
    snprintf(out, OBJECTS_KEY_MAX, "%s%s%.*s \"%.*s\"", kind_info(k)->plural,
             group.len != 0 ? "." : "", SPAN_ARG(group), SPAN_ARG(name));
    return out;
}

bool registry_not_found(struct reply *r, enum kind k, struct span name)
{
    char label[OBJECTS_KEY_MAX];
    return reply_fail(r, 404, "NotFound", "%s not found", registry_label(label, k, name));
}

static bool invalid(struct reply *r, enum kind k, const json_t *object, const char *why)
{
    struct span group = group_of(k);
    return reply_fail(r, 422, "Invalid", "%s%s%.*s \"%.*s\" is invalid: %s", kind_info(k)->name,
                      group.len != 0 ? "." : "", SPAN_ARG(group),
                      SPAN_ARG(tree_string(object, "metadata.name")), why);
}

/* ---- facts about kinds ---- */

static bool has_status(enum kind k)
{
    return k < KIND_STORED_COUNT && k != KIND_STORAGE_CLASS && k != KIND_CSI_NODE &&
           k != KIND_POD_TEMPLATE;
}

static bool has_generation(enum kind k)
{
    switch (k) {
    case KIND_NODE:
    case KIND_NAMESPACE:
    case KIND_VOLUME_CLAIM:
    case KIND_VOLUME:
    case KIND_STORAGE_CLASS:
    case KIND_CSI_NODE:
    case KIND_VOLUME_ATTACHMENT:
    case KIND_SERVICE:
    case KIND_EVENT:
    case KIND_LEASE:
    case KIND_SECRET:
        return false;
    default:
        return true;
    }
}

static bool is_custom(enum kind k)
{
    return k == KIND_NODE_CLAIM || k == KIND_NODE_POOL || k == KIND_KWOK_NODE_CLASS ||
           k == KIND_NODE_OVERLAY || k == KIND_CAPACITY_BUFFER || k == KIND_CLUSTER_API_NODE_CLASS ||
           k == KIND_PROVISIONING_REQUEST || k == KIND_CAPACITY_QUOTA;
}

/* ---- create ---- */

static bool name_it(struct objects *o, enum kind k, json_t *object, struct span ns,
                    struct reply *out)
{
    struct span prefix = tree_string(object, "metadata.generateName");
    if (tree_string(object, "metadata.name").len != 0)
        return true;
    if (prefix.len == 0)
        return invalid(out, k, object, "metadata.name: Required value: name or generateName is required");
    for (int tries = 0; tries < 8; tries++) {
        char suffix[6], name[OBJECTS_KEY_MAX];
        objects_new_suffix(o, suffix);
        snprintf(name, sizeof name, "%.*s%s", SPAN_ARG(prefix), suffix);
        if (objects_find(o, k, ns, span_of(name)) == NULL) {
            tree_set(object, "metadata.name", json_string(name));
            return true;
        }
    }
    return reply_fail(out, 409, "AlreadyExists", "no free name under \"%.*s\"", SPAN_ARG(prefix));
}

static bool place_it(const struct objects *o, enum kind k, json_t *object, struct span ns,
                     struct reply *out)
{
    if (!kind_info(k)->namespaced)
        return true;
    struct span named = tree_string(object, "metadata.namespace");
    if (named.len != 0 && !span_eq(named, ns))
        return reply_fail(out, 400, "BadRequest",
                          "the namespace of the provided object does not match the namespace sent on the request");
    if (objects_find(o, KIND_NAMESPACE, (struct span){NULL, 0}, ns) == NULL)
        return registry_not_found(out, KIND_NAMESPACE, ns);
    tree_set(object, "metadata.namespace", tree_of_span(ns));
    return true;
}

/* A Lease's times are MicroTime: six digits, or the object does not decode. */
static bool micro_time(struct span t)
{
    return t.len == 0 || (t.len == 27 && t.ptr[19] == '.' && t.ptr[26] == 'Z');
}

static bool body_is_readable(enum kind k, const json_t *object, struct reply *out)
{
    const struct kind_info *info = kind_info(k);
    if (!json_is_object(object))
        return reply_fail(out, 400, "BadRequest", "the body is not a JSON object");
    bool known = tree_is(object, "apiVersion", info->api_version) ||
                 (kind_older(k) != NULL && tree_is(object, "apiVersion", kind_older(k)));
    if (!tree_is(object, "kind", info->name) || !known)
        return reply_fail(out, 400, "BadRequest", "the object provided is unrecognized (must be of type %s)",
                          info->name);
    const json_t *version = tree_get(object, "metadata.resourceVersion");
    if (version != NULL && !json_is_string(version))
        return reply_fail(out, 400, "BadRequest",
                          "metadata.resourceVersion: cannot unmarshal into a string");
    if (k == KIND_LEASE && (!micro_time(tree_string(object, "spec.renewTime")) ||
                            !micro_time(tree_string(object, "spec.acquireTime"))))
        return reply_fail(out, 400, "BadRequest", "spec.renewTime: not a MicroTime");
    return true;
}

bool registry_create(struct objects *o, const struct api_request *r, json_t *object,
                     struct reply *out)
{
    char label[OBJECTS_KEY_MAX];
    enum kind k = r->kind;
    bool ok = body_is_readable(k, object, out) && place_it(o, k, object, r->ns, out) &&
              name_it(o, k, object, r->ns, out);
    struct span name = tree_string(object, "metadata.name");
    if (ok && objects_find(o, k, r->ns, name) != NULL)
        ok = reply_fail(out, 409, "AlreadyExists", "%s already exists",
                        registry_label(label, k, name));
    if (ok && is_custom(k) && k != KIND_KWOK_NODE_CLASS && k != KIND_CLUSTER_API_NODE_CLASS && tree_get(object, "spec") == NULL)
        ok = invalid(out, k, object, "spec: Required value");
    if (!ok) {
        json_decref(object);
        return false;
    }
    if (has_status(k) && k != KIND_NODE)
        tree_remove(object, "status");
    tree_remove(object, "metadata.deletionTimestamp");
    tree_remove(object, "metadata.deletionGracePeriodSeconds");
    tree_set(object, "metadata.uid", objects_new_uid(o));
    tree_set(object, "metadata.creationTimestamp", tree_of_time(o->now));
    if (has_generation(k))
        tree_set(object, "metadata.generation", json_integer(1));
    defaults_create(k, object);
    defaults_fill(k, object);
    reply_object(out, 201, objects_put(o, k, object));
    return true;
}

void registry_import(struct objects *o, enum kind k, json_t *object)
{
    if (tree_string(object, "metadata.uid").len == 0)
        tree_set(object, "metadata.uid", objects_new_uid(o));
    if (tree_string(object, "metadata.creationTimestamp").len == 0)
        tree_set(object, "metadata.creationTimestamp", tree_of_time(o->now));
    if (has_generation(k) && tree_get(object, "metadata.generation") == NULL)
        tree_set(object, "metadata.generation", json_integer(1));
    if (k == KIND_POD && tree_get(object, "status.phase") == NULL)
        tree_set(object, "status.phase", json_string("Pending"));
    if (k == KIND_NAMESPACE && tree_get(object, "status.phase") == NULL)
        tree_set(object, "status.phase", json_string("Active"));
    defaults_fill(k, object);
    objects_put(o, k, object);
}

/* ---- update ---- */

static void keep_member(const json_t *old, json_t *fresh, const char *path)
{
    const json_t *v = tree_get(old, path);
    if (v != NULL)
        tree_set(fresh, path, json_deep_copy(v));
    else
        tree_remove(fresh, path);
}

static bool locked_out(enum kind k, const json_t *old, const json_t *fresh, struct reply *out)
{
    char label[OBJECTS_KEY_MAX];
    struct span version = tree_string(fresh, "metadata.resourceVersion");
    if (version.len == 0 || span_eq(version, tree_string(old, "metadata.resourceVersion")))
        return false;
    return !reply_fail(out, 409, "Conflict",
                       "Operation cannot be fulfilled on %s: the object has been modified; "
                       "please apply your changes to the latest version and try again",
                       registry_label(label, k, tree_string(old, "metadata.name")));
}

/* A uid in an update is a precondition; in a patch it is one more field, and immutable. */
static bool is_another(enum kind k, const json_t *old, const json_t *fresh, bool is_patch,
                       struct reply *out)
{
    char label[OBJECTS_KEY_MAX];
    struct span uid = tree_string(fresh, "metadata.uid"), old_uid = tree_string(old, "metadata.uid");
    if (uid.len == 0 || span_eq(uid, old_uid))
        return false;
    if (is_patch)
        return !invalid(out, k, old, "metadata.uid: Invalid value: field is immutable");
    return !reply_fail(out, 409, "Conflict",
                       "Operation cannot be fulfilled on %s: Precondition failed: UID in "
                       "precondition: %.*s, UID in object meta: %.*s",
                       registry_label(label, k, tree_string(old, "metadata.name")), SPAN_ARG(uid),
                       SPAN_ARG(old_uid));
}

static bool list_has(const json_t *list, const json_t *value)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        if (json_equal(v, value))
            return true;
    }
    return false;
}

static bool may_change(enum kind k, const json_t *old, const json_t *fresh, struct reply *out)
{
    size_t i;
    json_t *finalizer;
    if (tree_get(old, "metadata.deletionTimestamp") != NULL) {
        json_array_foreach(tree_get(fresh, "metadata.finalizers"), i, finalizer) {
            if (!list_has(tree_get(old, "metadata.finalizers"), finalizer))
                return invalid(out, k, old,
                               "metadata.finalizers: Forbidden: no new finalizers can be added if the "
                               "object is being deleted");
        }
    }
    if (k == KIND_NODE_CLAIM &&
        !json_equal(json_object_get(old, "spec"), json_object_get(fresh, "spec")))
        return invalid(out, k, old, "spec: Invalid value: spec is immutable");
    if (k == KIND_POD && !span_eq(tree_string(old, "spec.nodeName"), tree_string(fresh, "spec.nodeName")))
        return invalid(out, k, old, "spec.nodeName: Forbidden: may not be changed by an update");
    struct span id = tree_string(old, "spec.providerID");
    if (k == KIND_NODE && id.len != 0 && !span_eq(id, tree_string(fresh, "spec.providerID")))
        return invalid(out, k, old,
                       "spec.providerID: Forbidden: node updates may not change providerID except from "
                       "\"\" to valid");
    return true;
}

/* What the schemas of karpenter.sh ask of a condition (spec api 1.2). */
static bool conditions_valid(enum kind k, const json_t *object, struct reply *out)
{
    static const char *const members[] = {"type", "status", "lastTransitionTime", "reason", "message"};
    size_t i, needed = k == KIND_NODE_CLAIM ? 3 : COUNT_OF(members);
    char why[128];
    json_t *c;
    if (!is_custom(k))
        return true;
    json_array_foreach(tree_get(object, "status.conditions"), i, c) {
        for (size_t m = 0; m < needed; m++) {
            bool may_be_empty = strcmp(members[m], "message") == 0;
            if (tree_string(c, members[m]).len != 0 ||
                (may_be_empty && tree_get(c, members[m]) != NULL))
                continue;
            snprintf(why, sizeof why, "status.conditions[%zu].%s: Required value", i, members[m]);
            return invalid(out, k, object, why);
        }
    }
    return true;
}

static bool content_differs(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, key, value) {
        if (strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0 &&
            !json_equal(value, json_object_get(b, key)))
            return true;
    }
    return false;
}

/* What a write to the object itself may not touch is taken from `old`. */
static json_t *merge_main(enum kind k, const json_t *old, json_t *fresh)
{
    static const char *const kept[] = {
        "metadata.uid",          "metadata.creationTimestamp", "metadata.deletionTimestamp",
        "metadata.deletionGracePeriodSeconds", "metadata.generation",        "metadata.resourceVersion",
        "metadata.name",         "metadata.namespace"};
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        keep_member(old, fresh, kept[i]);
    if (has_status(k))
        keep_member(old, fresh, "status");
    defaults_fill(k, fresh);
    if (has_generation(k) && (content_differs(old, fresh) || content_differs(fresh, old)))
        tree_set(fresh, "metadata.generation",
                 json_integer(tree_int(old, "metadata.generation", 0) + 1));
    return fresh;
}

static json_t *merge_status(enum kind k, const json_t *old, json_t *fresh)
{
    /* All but what is changed here, or gets the new version, is shared with `old`. */
    json_t *merged = json_copy((json_t *)(uintptr_t)old), *status = json_object_get(fresh, "status");
    json_object_set_new(merged, "metadata", json_deep_copy(tree_get(old, "metadata")));
    if (status != NULL)
        json_object_set(merged, "status", status);
    else
        json_object_del(merged, "status");
    if (k == KIND_NODE || k == KIND_POD) { /* of built-in kinds all metadata but system fields goes along */
        keep_member(fresh, merged, "metadata.labels");
        keep_member(fresh, merged, "metadata.annotations");
    }
    json_decref(fresh);
    defaults_fill(k, merged);
    return merged;
}

static bool finished(const json_t *object)
{
    return tree_get(object, "metadata.deletionTimestamp") != NULL &&
           tree_int(object, "metadata.deletionGracePeriodSeconds", 0) == 0 &&
           json_array_size(tree_get(object, "metadata.finalizers")) == 0;
}

bool registry_store(struct objects *o, enum kind k, const json_t *old, json_t *fresh,
                    struct span subresource, struct reply *out)
{
    if (locked_out(k, old, fresh, out)) {
        json_decref(fresh);
        return false;
    }
    bool main = subresource.len == 0;
    fresh = main ? merge_main(k, old, fresh) : merge_status(k, old, fresh);
    if (k == KIND_POD && !main)
        registry_keep_writer(o, old, fresh);
    if (main ? !may_change(k, old, fresh, out) : !conditions_valid(k, fresh, out)) {
        json_decref(fresh);
        return false;
    }
    if (finished(fresh)) {
        reply_object(out, 200, fresh);
        objects_remove(o, k, fresh);
        json_decref(fresh);
    } else if (json_equal(old, fresh)) { /* nothing is written, nobody is told */
        reply_object(out, 200, old);
        json_decref(fresh);
    } else {
        reply_object(out, 200, objects_put(o, k, fresh));
    }
    return true;
}

bool registry_put_status(struct objects *o, enum kind k, const json_t *old, json_t *fresh)
{
    struct reply reply = {0};
    bool ok = registry_store(o, k, old, fresh, SPAN("status"), &reply);
    reply_release(&reply);
    return ok;
}

static bool update(struct objects *o, const struct api_request *r, const json_t *old, json_t *body,
                   struct reply *out)
{
    bool ok = body_is_readable(r->kind, body, out);
    struct span name = tree_string(body, "metadata.name");
    if (ok && !span_eq(name, r->name))
        ok = reply_fail(out, 400, "BadRequest",
                        "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                        SPAN_ARG(name), SPAN_ARG(r->name));
    if (ok && is_custom(r->kind) && tree_string(body, "metadata.resourceVersion").len == 0)
        ok = invalid(out, r->kind, body,
                     "metadata.resourceVersion: Invalid value: 0: must be specified for an update");
    if (!ok || is_another(r->kind, old, body, false, out)) {
        json_decref(body);
        return false;
    }
    return registry_store(o, r->kind, old, body, r->subresource, out);
}

static bool merge(struct objects *o, const struct api_request *r, const json_t *old, json_t *patch,
                  struct reply *out)
{
    if (!json_is_object(patch)) {
        json_decref(patch);
        return reply_fail(out, 400, "BadRequest", "the patch is not a JSON object");
    }
    json_t *fresh = json_deep_copy(old);
    tree_merge(fresh, patch);
    json_decref(patch);
    if (!body_is_readable(r->kind, fresh, out) ||
        is_another(r->kind, old, fresh, true, out)) {
        json_decref(fresh);
        return false;
    }
    return registry_store(o, r->kind, old, fresh, r->subresource, out);
}

/* ---- read ---- */

static bool field_matches(const json_t *object, struct span selector, bool *known)
{
    while (selector.len != 0) {
        struct span rest, value;
        struct span path = span_cut(span_cut(selector, ',', &rest), '=', &value);
        if (value.len != 0 && value.ptr[0] == '=')
            value = (struct span){value.ptr + 1, value.len - 1};
        char text[64];
        snprintf(text, sizeof text, "%.*s", SPAN_ARG(path));
        *known = span_eq(path, SPAN("metadata.name")) || span_eq(path, SPAN("metadata.namespace")) ||
                 span_eq(path, SPAN("spec.nodeName")) || span_eq(path, SPAN("status.phase"));
        if (!*known || !span_eq(tree_string(object, text), value))
            return false;
        selector = rest;
    }
    return true;
}

/* From the one on whose number `from` says; `next_out` is that of the next page's first, 0: there is none. Unlike the
 * API server's, pages are of what there is by then. */
static bool select_items(const struct objects *o, const struct api_request *r, json_t *items, int64_t *next_out)
{
    const char *key;
    json_t *object;
    bool known = true;
    int64_t skip = 0;
    if (r->from.len != 0)
        span_int64(r->from, &skip);
    int64_t at = 0;
    *next_out = 0;
    json_object_foreach(o->kinds[r->kind], key, object) {
        if (r->ns.len != 0 && !span_eq(tree_string(object, "metadata.namespace"), r->ns))
            continue;
        bool matches = field_matches(object, r->field_selector, &known);
        if (!known)
            return false;
        if (!matches || at++ < skip)
            continue;
        if (r->limit != 0 && json_array_size(items) == r->limit) {
            *next_out = at - 1;
            break;
        }
        json_array_append(items, object);
    }
    return true;
}

static bool list(const struct objects *o, const struct api_request *r, struct reply *out)
{
    char version[24], kind[64], next[24];
    json_t *items = json_array();
    int64_t after;
    bool known = select_items(o, r, items, &after);
    if (!known) {
        json_decref(items);
        return reply_fail(out, 400, "BadRequest", "field label not supported: %.*s",
                          SPAN_ARG(r->field_selector));
    }
    snprintf(version, sizeof version, "%llu", (unsigned long long)o->version);
    snprintf(kind, sizeof kind, "%sList", kind_info(r->kind)->name);
    snprintf(next, sizeof next, "%lld", (long long)after);
    json_t *body = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "kind", kind, "apiVersion",
                             kind_info(r->kind)->api_version, "metadata", "resourceVersion",
                             version, "continue", after != 0 ? next : "", "items", items);
    reply_object(out, 200, body);
    json_decref(body);
    return true;
}

/* ---- the one entrance ---- */

static bool dispatch(struct objects *o, const struct api_request *r, json_t *body, struct reply *out)
{
    switch (r->verb) { /* those that need no object */
    case API_LIST:
        return list(o, r, out);
    case API_CREATE:
        return registry_create(o, r, json_incref(body), out);
    case API_APPLY:
        return registry_apply(o, r, json_incref(body), out);
    default:
        break;
    }
    json_t *old = objects_find(o, r->kind, r->ns, r->name);
    if (old == NULL || (r->subresource.len != 0 && !has_status(r->kind)))
        return registry_not_found(out, r->kind, r->name);
    if (span_eq(r->subresource, SPAN("scale")))
        return registry_scale(o, r, old, body, out);
    switch (r->verb) {
    case API_UPDATE:
        return update(o, r, old, json_incref(body), out);
    case API_MERGE:
        return merge(o, r, old, json_incref(body), out);
    case API_DELETE:
        return registry_delete(o, r->kind, old, body, out);
    case API_EVICT:
        return registry_evict(o, r, body, out);
    default:
        reply_object(out, 200, old);
        return true;
    }
}

void registry_do(struct objects *o, const struct api_request *r, struct reply *out)
{
    *out = (struct reply){.retry_after_s = -1};
    json_t *body = r->body.len != 0 ? tree_parse(r->body) : NULL;
    bool optional = r->verb == API_GET || r->verb == API_LIST || r->verb == API_DELETE;
    if (body == NULL && (!optional || r->body.len != 0))
        reply_fail(out, 400, "BadRequest", "the body is not JSON");
    else
        dispatch(o, r, body, out);
    json_decref(body);
}
