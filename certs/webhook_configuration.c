/* The webhook configuration: the whole of it, as manifests/webhooks.yaml has it, and the part that
 * an object of others lacks, its caBundle. */
#include "certs/webhook_configuration.h"

#include "base/base64.h"
#include "base/json.h"
#include "certs/certs.h"

#define WEBHOOK_DOMAIN ".webhook.stowage.dev"

enum kind webhook_kind(enum webhook_object which)
{
    return which == WEBHOOK_VALIDATING ? KIND_VALIDATING_WEBHOOK : KIND_MUTATING_WEBHOOK;
}

const char *webhook_name(enum webhook_object which)
{
    return which == WEBHOOK_VALIDATING ? "stowage" : "stowage-shaping";
}

struct span webhook_told(struct arena *a, enum webhook_object which)
{
    return arena_printf(a, "%s %s", kind_info(webhook_kind(which))->name, webhook_name(which));
}

static void put_head(struct json *j, enum webhook_object which, struct span uid, struct span version)
{
    const struct kind_info *info = kind_info(webhook_kind(which));
    json_put_string(j, "apiVersion", span_of(info->api_version));
    json_put_string(j, "kind", span_of(info->name));
    json_put_object(j, "metadata");
    json_put_string(j, "name", span_of(webhook_name(which)));
    if (uid.len != 0)
        json_put_string(j, "uid", uid);
    if (version.len != 0)
        json_put_string(j, "resourceVersion", version);
    json_object_end(j);
}

static void put_words(struct json *j, const char *key, const char *const *words, size_t count)
{
    json_put_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_text(j, span_of(words[i]));
    json_array_end(j);
}

static void put_client(struct arena *a, struct json *j, struct span ns, struct span url,
                       struct span ca)
{
    json_put_object(j, "clientConfig");
    if (url.len != 0) {
        bool slash = span_has_suffix(url, SPAN("/"));
        json_put_string(j, "url",
                        arena_printf(a, "%.*s%sadmission/validate", SPAN_ARG(url),
                                     slash ? "" : "/"));
    } else {
        json_put_object(j, "service");
        json_put_string(j, "namespace", ns);
        json_put_string(j, "name", SPAN("stowage-webhook"));
        json_put_string(j, "path", SPAN("/admission/validate"));
        json_put_int(j, "port", 443);
        json_object_end(j);
    }
    if (ca.len != 0)
        json_put_string(j, "caBundle", base64_encode(a, ca));
    json_object_end(j);
}

/* As manifests/webhooks.yaml has them. */
static const struct registered {
    const char *name, *version, *resource;
    const char *operations[3];
    size_t operation_count;
} all_registered[] = {
    {"nodepools" WEBHOOK_DOMAIN, "v1", "nodepools", {"CREATE", "UPDATE", "DELETE"}, 3},
    {"nodeoverlays" WEBHOOK_DOMAIN, "v1alpha1", "nodeoverlays", {"CREATE", "UPDATE"}, 2},
};

static void put_rules(struct json *j, const struct registered *of)
{
    json_put_array(j, "rules");
    json_object_begin(j);
    put_words(j, "apiGroups", (const char *const[]){"karpenter.sh"}, 1);
    put_words(j, "apiVersions", &of->version, 1);
    put_words(j, "resources", &of->resource, 1);
    put_words(j, "operations", of->operations, of->operation_count);
    json_put_string(j, "scope", SPAN("Cluster"));
    json_object_end(j);
    json_array_end(j);
}

static void put_condition(struct json *j, const char *name, struct span expression)
{
    json_object_begin(j);
    json_put_string(j, "name", span_of(name));
    json_put_string(j, "expression", expression);
    json_object_end(j);
}

static void put_conditions(struct arena *a, struct json *j, struct span ns)
{
    json_put_array(j, "matchConditions");
    put_condition(j, "not-ourselves",
                  arena_printf(a,
                               "request.userInfo.username != "
                               "'system:serviceaccount:%.*s:stowage'",
                               SPAN_ARG(ns)));
    put_condition(j, "not-going",
                  SPAN("!has((request.operation == 'DELETE' ? oldObject : object).metadata.deletionTimestamp)"));
    put_condition(j, "changed",
                  SPAN("request.operation != 'UPDATE' || object.spec != oldObject.spec || "
                       "object.metadata.?annotations != oldObject.metadata.?annotations"));
    json_array_end(j);
}

static struct span finish(struct arena *a, struct json *j)
{
    json_array_end(j);
    json_object_end(j);
    struct span text = arena_dup(a, buf_span(j->out));
    buf_release(j->out);
    return text;
}

struct span certs_webhook_configuration(struct arena *a, struct span ns, struct span webhook_url,
                                        struct span ca)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    put_head(&j, WEBHOOK_VALIDATING, (struct span){NULL, 0}, (struct span){NULL, 0});
    json_put_array(&j, "webhooks");
    for (size_t i = 0; i < COUNT_OF(all_registered); i++) {
        json_object_begin(&j);
        json_put_string(&j, "name", span_of(all_registered[i].name));
        put_client(a, &j, ns, webhook_url, ca);
        put_rules(&j, &all_registered[i]);
        put_conditions(a, &j, ns);
        json_put_string(&j, "matchPolicy", SPAN("Equivalent"));
        json_put_string(&j, "failurePolicy", SPAN("Ignore"));
        json_put_int(&j, "timeoutSeconds", 1);
        json_put_string(&j, "sideEffects", SPAN("None"));
        put_words(&j, "admissionReviewVersions", (const char *const[]){"v1"}, 1);
        json_object_end(&j);
    }
    return finish(a, &j);
}

struct span webhook_bundle_patch(struct arena *a, enum webhook_object which, const struct webhook_seen *seen, struct span ca)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    struct span bundle = base64_encode(a, ca);
    json_object_begin(&j);
    put_head(&j, which, seen->uid, seen->version);
    json_put_array(&j, "webhooks");
    for (uint32_t i = 0; i < seen->count; i++) {
        json_object_begin(&j);
        json_put_string(&j, "name", seen->names[i]);
        json_put_object(&j, "clientConfig");
        json_put_string(&j, "caBundle", bundle);
        json_object_end(&j);
        json_object_end(&j);
    }
    return finish(a, &j);
}

static struct span bundle_of(struct arena *a, struct doc_value webhook)
{
    struct doc_value client;
    struct span bundle;
    return doc_find(webhook, SPAN("clientConfig"), &client) &&
                   base64_decode(a, doc_text_at(client, SPAN("caBundle")), &bundle)
               ? bundle
               : (struct span){NULL, 0};
}

struct webhook_seen webhook_look(struct arena *a, struct doc_value object)
{
    struct doc_value meta, list;
    struct webhook_seen seen = {.there = false};
    if (doc_find(object, SPAN("metadata"), &meta)) {
        seen.uid = arena_dup(a, doc_text_at(meta, SPAN("uid")));
        seen.version = arena_dup(a, doc_text_at(meta, SPAN("resourceVersion")));
    }
    if (!doc_find(object, SPAN("webhooks"), &list))
        return seen;
    struct span *names = ARENA_ARRAY(a, struct span, doc_count(list));
    struct doc_iter it = doc_iter_of(list);
    while (doc_next(&it)) {
        struct span name = doc_text_at(it.value, SPAN("name"));
        if (!span_has_suffix(name, SPAN(WEBHOOK_DOMAIN)))
            continue;
        struct span bundle = bundle_of(a, it.value);
        if (seen.count == 0)
            seen.bundle = bundle;
        else if (!span_eq(seen.bundle, bundle))
            seen.bundle = (struct span){NULL, 0};
        names[seen.count++] = arena_dup(a, name);
    }
    seen.names = names;
    seen.there = seen.count != 0;
    return seen;
}
