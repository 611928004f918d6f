#include "certs/secrets.h"

#include "base/base64.h"
#include "base/json.h"

static struct span text_at(struct doc_value object, const char *outer, const char *key)
{
    struct doc_value in, v;
    if (!doc_find(object, span_of(outer), &in) || !doc_find(in, span_of(key), &v) ||
        doc_type(v) != DOC_STRING)
        return (struct span){NULL, 0};
    return doc_text(v);
}

struct span secret_get(struct arena *a, struct doc_value secret, const char *key)
{
    struct span value;
    if (!base64_decode(a, text_at(secret, "data", key), &value))
        return (struct span){NULL, 0};
    return value;
}

struct span secret_version(struct arena *a, struct doc_value object)
{
    return arena_dup(a, text_at(object, "metadata", "resourceVersion"));
}

struct span secret_body(struct arena *a, struct span ns, const char *name, struct span version,
                        const struct secret_entry *entries, size_t count)
{
    struct buf out = {0};
    struct json j = JSON_TO(&out);
    json_object_begin(&j);
    json_put_string(&j, "apiVersion", SPAN("v1"));
    json_put_string(&j, "kind", SPAN("Secret"));
    json_put_object(&j, "metadata");
    json_put_string(&j, "name", span_of(name));
    json_put_string(&j, "namespace", ns);
    if (version.len != 0)
        json_put_string(&j, "resourceVersion", version);
    json_object_end(&j);
    if (version.len == 0) /* cannot be changed later */
        json_put_string(&j, "type", SPAN("Opaque"));
    json_put_object(&j, "data");
    for (size_t i = 0; i < count; i++)
        json_put_string(&j, entries[i].key, base64_encode(a, entries[i].value));
    json_object_end(&j);
    json_object_end(&j);
    struct span body = arena_dup(a, buf_span(&out));
    buf_release(&out);
    return body;
}
