/* The webhook configuration: the whole of it, as manifests/webhooks.yaml has it, and the part that
 * an object of others lacks, its caBundle. */
#include "certs/webhook_configuration.h"

#include "base/base64.h"
#include "base/json.h"
#include "certs/certs.h"

#define WEBHOOK_NAME "nodepools.webhook.stowage.dev"

static void put_head(struct json *j, struct span uid, struct span version)
{
    json_put_string(j, "apiVersion", SPAN("admissionregistration.k8s.io/v1"));
    json_put_string(j, "kind", SPAN("ValidatingWebhookConfiguration"));
    json_put_object(j, "metadata");
    json_put_string(j, "name", SPAN(WEBHOOK_CONFIGURATION));
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

static void put_rules(struct json *j)
{
    json_put_array(j, "rules");
    json_object_begin(j);
    put_words(j, "apiGroups", (const char *const[]){"karpenter.sh"}, 1);
    put_words(j, "apiVersions", (const char *const[]){"v1"}, 1);
    put_words(j, "resources", (const char *const[]){"nodepools"}, 1);
    put_words(j, "operations", (const char *const[]){"CREATE", "UPDATE"}, 2);
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
    put_condition(j, "not-going", SPAN("!has(object.metadata.deletionTimestamp)"));
    put_condition(j, "changed",
                  SPAN("request.operation == 'CREATE' || object.spec != oldObject.spec || "
                       "object.metadata.?annotations != oldObject.metadata.?annotations"));
    json_array_end(j);
}

static struct span finish(struct arena *a, struct json *j)
{
    json_object_end(j); /* the webhook */
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
    put_head(&j, (struct span){NULL, 0}, (struct span){NULL, 0});
    json_put_array(&j, "webhooks");
    json_object_begin(&j);
    json_put_string(&j, "name", SPAN(WEBHOOK_NAME));
    put_client(a, &j, ns, webhook_url, ca);
    put_rules(&j);
    put_conditions(a, &j, ns);
    json_put_string(&j, "matchPolicy", SPAN("Equivalent"));
    json_put_string(&j, "failurePolicy", SPAN("Ignore"));
    json_put_int(&j, "timeoutSeconds", 1);
    json_put_string(&j, "sideEffects", SPAN("None"));
    put_words(&j, "admissionReviewVersions", (const char *const[]){"v1"}, 1);
    return finish(a, &j);
}

struct span webhook_bundle_patch(struct arena *a, const struct webhook_seen *seen, struct span ca)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    put_head(&j, seen->uid, seen->version);
    json_put_array(&j, "webhooks");
    json_object_begin(&j);
    json_put_string(&j, "name", SPAN(WEBHOOK_NAME));
    json_put_object(&j, "clientConfig");
    json_put_string(&j, "caBundle", base64_encode(a, ca));
    json_object_end(&j);
    return finish(a, &j);
}

static struct span text_of(struct doc_value object, const char *key)
{
    struct doc_value v;
    return doc_find(object, span_of(key), &v) && doc_type(v) == DOC_STRING
               ? doc_text(v)
               : (struct span){NULL, 0};
}

struct webhook_seen webhook_look(struct arena *a, struct doc_value object)
{
    struct doc_value meta, list, client;
    struct webhook_seen seen = {.there = false};
    if (doc_find(object, SPAN("metadata"), &meta)) {
        seen.uid = arena_dup(a, text_of(meta, "uid"));
        seen.version = arena_dup(a, text_of(meta, "resourceVersion"));
    }
    if (!doc_find(object, SPAN("webhooks"), &list))
        return seen;
    struct doc_iter it = doc_iter_of(list);
    while (!seen.there && doc_next(&it)) {
        seen.there = span_eq(text_of(it.value, "name"), SPAN(WEBHOOK_NAME));
        if (seen.there && doc_find(it.value, SPAN("clientConfig"), &client) &&
            !base64_decode(a, text_of(client, "caBundle"), &seen.bundle))
            seen.bundle = (struct span){NULL, 0};
    }
    return seen;
}
