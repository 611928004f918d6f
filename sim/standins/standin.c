#include "sim/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t newest_of(const struct pacer *p, const struct objects *o)
{
    uint64_t newest = 0;
    for (const enum kind *k = p->kinds; *k != KIND_NONE; k++) {
        if (o->kind_versions[*k] > newest)
            newest = o->kind_versions[*k];
    }
    return newest;
}

bool pacer_is_due(struct pacer *p, const struct objects *o)
{
    uint64_t newest = newest_of(p, o);
    if (newest != p->seen && !p->waiting) {
        p->waiting = true;
        p->due = o->now + p->delay;
    }
    p->seen = newest;
    if (!p->waiting || p->due > o->now)
        return false;
    p->waiting = false;
    return true;
}

wall_ms pacer_due(const struct pacer *p)
{
    return p->waiting ? p->due : INT64_MAX;
}

bool standin_delete(struct objects *o, enum kind k, const json_t *object, const json_t *options)
{
    struct reply reply = {0};
    bool ok = registry_delete(o, k, object, options, &reply);
    reply_release(&reply);
    return ok;
}

bool standin_create(struct objects *o, enum kind k, struct span ns, json_t *object)
{
    struct reply reply = {0};
    struct api_request r = {.verb = API_CREATE, .kind = k, .ns = ns};
    bool ok = registry_create(o, &r, object, &reply);
    reply_release(&reply);
    return ok;
}

bool standin_update(struct objects *o, enum kind k, const json_t *old, json_t *fresh)
{
    struct reply reply = {0};
    bool ok = registry_store(o, k, old, fresh, (struct span){NULL, 0}, &reply);
    reply_release(&reply);
    return ok;
}

bool standin_pod_is_active(const json_t *pod)
{
    return tree_get(pod, "metadata.deletionTimestamp") == NULL &&
           !tree_is(pod, "status.phase", "Succeeded") && !tree_is(pod, "status.phase", "Failed");
}

void standin_template_hash(const json_t *template, char out[STANDIN_HASH_MAX])
{
    char *text = json_dumps(template, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    snprintf(out, STANDIN_HASH_MAX, "%010llx", (unsigned long long)(span_hash(span_of(text)) & 0xffffffffff));
    free(text);
}

static void copy_member(const json_t *from, const char *path, json_t *to, const char *at)
{
    const json_t *v = tree_get(from, path);
    if (v != NULL)
        tree_set(to, at, json_deep_copy(v));
}

json_t *standin_pod_of(const json_t *owner, enum kind owner_kind)
{
    char prefix[OBJECTS_KEY_MAX];
    json_t *pod = json_object();
    snprintf(prefix, sizeof prefix, "%.*s-", SPAN_ARG(tree_string(owner, "metadata.name")));
    tree_set(pod, "apiVersion", json_string("v1"));
    tree_set(pod, "kind", json_string("Pod"));
    tree_set(pod, "metadata.generateName", json_string(prefix));
    copy_member(owner, "metadata.namespace", pod, "metadata.namespace");
    copy_member(owner, "spec.template.metadata.labels", pod, "metadata.labels");
    copy_member(owner, "spec.template.metadata.annotations", pod, "metadata.annotations");
    copy_member(owner, "spec.template.spec", pod, "spec");
    tree_set(pod, "metadata.ownerReferences",
             json_pack("[{s:s, s:s, s:O, s:O, s:b, s:b}]", "apiVersion",
                       kind_info(owner_kind)->api_version, "kind", kind_info(owner_kind)->name,
                       "name", tree_get(owner, "metadata.name"), "uid",
                       tree_get(owner, "metadata.uid"), "controller", 1, "blockOwnerDeletion", 1));
    return pod;
}
