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

/* manifests/webhooks.yaml, made a C array by the build. */
extern const char webhooks_yaml[];
extern const size_t webhooks_yaml_len;

#define WRITTEN_NAMESPACE "stowage-system" /* in manifests/ */

struct filling {
    struct arena *arena;
    struct json json;
    struct span ns, url, ca;
};

/* Our namespace stands in the Service's reference, and in the name of our own account. */
static struct span in_our_namespace(struct filling *f, struct span text)
{
    const char *at = text.len == 0 ? NULL : memmem(text.ptr, text.len, WRITTEN_NAMESPACE, strlen(WRITTEN_NAMESPACE));
    if (at == NULL)
        return text;
    struct span before = {text.ptr, (size_t)(at - text.ptr)};
    struct span after = {at + strlen(WRITTEN_NAMESPACE), text.len - before.len - strlen(WRITTEN_NAMESPACE)};
    return arena_printf(f->arena, "%.*s%.*s%.*s", SPAN_ARG(before), SPAN_ARG(f->ns), SPAN_ARG(in_our_namespace(f, after)));
}

static void put_value(struct filling *f, struct doc_value v);

/* What this place knows better: how the API server finds us, and whom it trusts. */
static void put_client(struct filling *f, struct doc_value client)
{
    struct doc_value service;
    if (!doc_find(client, SPAN("service"), &service)) {
        json_null_value(&f->json); /* no API server takes it */
        return;
    }
    json_object_begin(&f->json);
    if (f->url.len != 0) {
        struct span path = doc_text_at(service, SPAN("path")), base = f->url;
        if (span_has_suffix(base, SPAN("/")))
            base.len--;
        json_put_string(&f->json, "url", arena_printf(f->arena, "%.*s%.*s", SPAN_ARG(base), SPAN_ARG(path)));
    } else {
        json_key(&f->json, SPAN("service"));
        put_value(f, service);
    }
    if (f->ca.len != 0)
        json_put_string(&f->json, "caBundle", base64_encode(f->arena, f->ca));
    json_object_end(&f->json);
}

/* In lists and objects the file has texts and whole numbers, and nothing else: a test reads it. */
static void put_value(struct filling *f, struct doc_value v)
{
    bool is_list = doc_type(v) == DOC_ARRAY;
    if (!is_list && doc_type(v) != DOC_OBJECT) {
        if (doc_type(v) == DOC_NUMBER)
            json_raw(&f->json, doc_text(v));
        else
            json_text(&f->json, in_our_namespace(f, doc_text(v)));
        return;
    }
    (is_list ? json_array_begin : json_object_begin)(&f->json);
    struct doc_iter it = doc_iter_of(v);
    while (doc_next(&it)) {
        if (!is_list)
            json_key(&f->json, it.key);
        (span_eq(it.key, SPAN("clientConfig")) ? put_client : put_value)(f, it.value);
    }
    (is_list ? json_array_end : json_object_end)(&f->json);
}

struct span certs_webhook_configuration(struct arena *a, struct span ns, struct span webhook_url,
                                        struct span ca)
{
    struct buf out = {0};
    struct filling f = {.arena = a, .json = JSON_TO(&out), .ns = ns, .url = webhook_url, .ca = ca};
    struct doc_parser *parser = doc_parser_new();
    const struct doc *doc;
    struct err err;
    size_t at = 0;
    if (doc_parse_yaml(parser, (struct span){webhooks_yaml, webhooks_yaml_len}, &at, &doc, &err))
        put_value(&f, doc_root(doc));
    doc_parser_free(parser);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
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
    json_array_end(&j);
    json_object_end(&j);
    struct span text = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return text;
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
